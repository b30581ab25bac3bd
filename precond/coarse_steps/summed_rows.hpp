#pragma once
// Sparse matrices whose rows are made one by one, by threads that share them: bits do not depend on their number.

#include "ilux/precond/rounds/row_blocks.hpp"
#include "ilux/precond/rounds/row_sums.hpp"

namespace ilux {

/// A matrix whose row i is what fill(i, row) adds with row.add(j, value), in ascending order of columns.
template <class T, class Fill>
CsrMatrix<T> mapped_rows(Cpu& be, Index n, Index cols, Fill&& fill)
{
    RowCollector<T> rows(n);
    for_row_blocks(be, n, [&](Index b, Index begin, Index end, int) {
        auto& to = rows.block(b);
        for (Index i = begin; i < end; ++i) {
            fill(i, to);
            to.end_row();
        }
    });
    return rows.matrix(be, cols);
}

/// A matrix whose row i is what fill(i, sums) has added up; sums.add(j, value), in any order.
template <class T, class Fill>
CsrMatrix<T> summed_rows(Cpu& be, Index n, Index cols, Fill&& fill)
{
    RowCollector<T> rows(n);
    for_row_blocks(be, n, [&](Index b, Index begin, Index end, int) {
        RowSums<T> sums;
        auto&      to = rows.block(b);
        for (Index i = begin; i < end; ++i) {
            sums.start();
            fill(i, sums);
            sums.finish([](const auto&) { return false; });
            for (const auto& [j, value] : sums.entries()) to.add(j, value);
            to.end_row();
        }
    });
    return rows.matrix(be, cols);
}

/// sums += factor times row i of A.
template <class T>
void add_row(const CsrView<T>& A, Index i, T factor, RowSums<T>& sums)
{
    for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) sums.add(A.col()[p], factor * A.val()[p]);
}

}  // namespace ilux
