#include "ilux/precond/coarse_steps/products.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse_steps/root_rules.hpp"
#include "ilux/precond/coarse_steps/smoothing.hpp"
#include "ilux/precond/coarse_steps/summed_rows.hpp"

namespace ilux {

template <class T>
CsrMatrix<double> magnitudes(Cpu& be, const CsrView<T>& A)
{
    return mapped_rows<double>(be, A.rows(), A.cols(), [&](Index i, auto& row) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i && A.val()[p] != T(0)) row.add(A.col()[p], roots::rounded_tie(std::abs(A.val()[p])));
    });
}

CsrMatrix<double> strong(Cpu& be, const CsrView<double>& F, double share)
{
    return mapped_rows<double>(be, F.rows(), F.cols(), [&](Index i, auto& row) {
        double largest = 0;
        for (Offset p = F.row_ptr()[i]; p < F.row_ptr()[i + 1]; ++p)
            if (F.col()[p] != i) largest = std::max(largest, roots::rounded_tie(F.val()[p]));
        for (Offset p = F.row_ptr()[i]; p < F.row_ptr()[i + 1]; ++p)
            if (const double tie = roots::rounded_tie(F.val()[p]); F.col()[p] != i && tie > share * largest)
                row.add(F.col()[p], tie);
    });
}

template <class T>
CsrMatrix<T> product(Cpu& be, const CsrView<NotDeduced<T>>& A, const CsrView<NotDeduced<T>>& B)
{
    return summed_rows<T>(be, A.rows(), B.cols(), [&](Index i, RowSums<T>& sums) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) add_row<T>(B, A.col()[p], A.val()[p], sums);
    });
}

template <class T>
CsrMatrix<T> smoothed(Cpu& be, const CsrView<NotDeduced<T>>& A, const CsrView<NotDeduced<T>>& P)
{
    return summed_rows<T>(be, A.rows(), P.cols(), [&](Index i, RowSums<T>& sums) {
        double total = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) total += std::abs(A.val()[p]);
        const T      d = A.at(i, i);
        const double size = std::abs(d), step = smoothing_step(size, total);
        const T      factor = size > 0 ? step * (size / d) : T(step);
        add_row<T>(P, i, 1, sums);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            add_row<T>(P, A.col()[p], -(factor * A.val()[p]), sums);
    });
}

#define ILUX_INSTANTIATE(T)                                                            \
    template CsrMatrix<double> magnitudes(Cpu&, const CsrView<T>&);                    \
    template CsrMatrix<T>      product<T>(Cpu&, const CsrView<T>&, const CsrView<T>&); \
    template CsrMatrix<T>      smoothed<T>(Cpu&, const CsrView<T>&, const CsrView<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
