#include "ilux/precond/coarse/sparse_product.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"
#include "ilux/precond/rounds/row_sums.hpp"

namespace ilux {

template <class T>
CsrMatrix<T> product(Cpu& be, const CsrView<T>& A, const CsrView<T>& B)
{
    RowCollector<T> rows(A.rows());
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        RowSums<T> row;
        auto&      to = rows.block(b);
        for (Index i = begin; i < end; ++i) {
            row.start();
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                const Index k = A.col()[p];
                for (Offset q = B.row_ptr()[k]; q < B.row_ptr()[k + 1]; ++q)
                    row.add(B.col()[q], A.val()[p] * B.val()[q]);
            }
            row.finish([](const auto&) { return false; });
            for (const auto& [j, value] : row.entries()) to.add(j, value);
            to.end_row();
        }
    });
    return rows.matrix(be, B.cols());
}

template <class T>
CsrMatrix<T> adjoint_of(Cpu& be, const CsrView<T>& A)
{
    CsrMatrix<T> Ah = transpose(be, A);
    if constexpr (is_complex<T>)
        for (T& value : Ah.val()) value = conj(value);
    return Ah;
}

#define ILUX_INSTANTIATE(T)                                                    \
    template CsrMatrix<T> product(Cpu&, const CsrView<T>&, const CsrView<T>&); \
    template CsrMatrix<T> adjoint_of(Cpu&, const CsrView<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
