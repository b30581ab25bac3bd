// A large matrix transposed by threads.

#include <utility>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {

template <class T>
CsrMatrix<T> transpose(Cpu& be, const CsrView<T>& A)
{
    constexpr Offset worth_threads = 100'000;
    if (be.threads() == 1 || A.nnz() < worth_threads) return transpose(A);
    std::vector<Offset> row_ptr;
    std::vector<Index>  col(A.nnz());
    std::vector<T>      val(A.nnz());
    with_tasks(be, true, [&] {
        Grouping by_column(A.rows(), A.nnz(), A.cols(), [&](Index begin, Index end, auto&& take) {
            for (Index i = begin; i < end; ++i)
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) take(A.col()[p], i, p);
        });
        by_column.place([&](Offset q, Index i, Offset p) {
            col[q] = i;
            val[q] = A.val()[p];
        });
        row_ptr = by_column.take_ptr();
    });
    return CsrMatrix<T>::from_sorted(A.cols(), A.rows(), std::move(row_ptr), std::move(col), std::move(val));
}

template <class T>
CsrMatrix<T> adjoint(Cpu& be, const CsrView<T>& A)
{
    CsrMatrix<T> of_A = transpose(be, A);
    for (T& value : of_A.val()) value = conj(value);
    return of_A;
}

#define ILUX_INSTANTIATE(T)                                   \
    template CsrMatrix<T> transpose(Cpu&, const CsrView<T>&); \
    template CsrMatrix<T> adjoint(Cpu&, const CsrView<T>&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
