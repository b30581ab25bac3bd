#pragma once
// Rows of very many entries, as the supply nets of circuits have, as sums of partial sums: what no single warp shall
// work on alone, and the frame of a system whose rows come in another order. Host only; both layouts build on it.

#include <span>
#include <vector>

#include "ilux/sptrsv/gpu/forward_system.hpp"

namespace ilux {

/// A strictly lower matrix in which a long row reads its partial sums, rows that stand directly before it. A partial
/// sum has no right-hand side, so it is solved to 0 − Σ l x; its row reads it with the value −1.
template <class T>
struct SplitMatrix {
    CsrMatrix<T>       L;
    std::vector<Index> row;  ///< of each row of L: the row of the system; −1: a partial sum
};

/// Entries of the longest row. O(n), threaded
Index longest_row(std::span<const Offset> row_ptr);

/// Rows of more than `longest` entries become partial sums of `segment` entries, in the order of columns: where rows
/// are taken in their order, the first sums can be had early and only the last one waits for the last unknowns. O(n +
/// nnz), entries on all threads.
/// @param longest ≥ segment ≥ 1  @throws InvalidInput when rows and partial sums together pass 2³¹ − 1
template <class T>
SplitMatrix<T> split_long_rows(const CsrView<T>& L, Index longest, Index segment);

/// The frame and the inverse diagonal in the order of `row`: index −1, scale 1 and pivot 1 where that is −1. Never
/// without indices, unless there are no rows.
template <Scalar S>
SolveFrame<S> frame_by_position(const SolveFrame<S>& frame, std::span<const Index> row);
template <Scalar S>
std::vector<S> inv_diag_by_position(const std::vector<S>& inv_diag, std::span<const Index> row);

}  // namespace ilux
