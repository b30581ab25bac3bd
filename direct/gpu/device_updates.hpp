#pragma once
// All updates of a factorization, each by a warp: U(i,k) ≠ 0 applies L(:,i) to column k. Only .cu files include this.

#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

namespace ilux {

constexpr int update_threads = 256;  ///< of a block whose warps take 32 entries of L + U each

__device__ inline int lane_of_warp() { return static_cast<int>(threadIdx.x % 32); }

/// The last of `count` ascending starts that is not above p; the first is not.
__device__ inline Index last_not_above(const Offset* start, Index count, Offset p)
{
    Index k = 0;
    for (Index end = count; end - k > 1;) {
        const Index middle = k + (end - k) / 2;
        if (start[middle] <= p) k = middle;
        else end = middle;
    }
    return k;
}

/// The column of entry p. None is empty.
__device__ inline Index column_of(const LuPatternView& P, Offset p) { return last_not_above(P.col_ptr, P.n, p); }

/// visit(k, p) for each entry p of U(:,k) among the warp's 32 entries, by the whole warp together.
template <class Visit>
__device__ void each_update(const LuPatternView& P, Visit visit)
{
    const Offset start = (Offset{blockIdx.x} * update_threads + threadIdx.x) / 32 * 32;
    if (start >= P.nnz) return;
    const Offset own = min(start + lane_of_warp(), P.nnz - 1);
    const Index  column = column_of(P, own);
    const bool   updates = start + lane_of_warp() < P.nnz && own < P.diag[column];
    for (unsigned left = __ballot_sync(~0u, updates); left != 0; left &= left - 1) {
        const int next = __ffs(static_cast<int>(left)) - 1;
        visit(__shfl_sync(~0u, column, next), start + next);
    }
}

/// Where `row` stands in ascending rows, which hold it between `least` and `most`.
__device__ inline Index find_row(const Index* rows, Index least, Index most, Index row)
{
    while (least < most) {
        const Index middle = least + (most - least) / 2;
        if (rows[middle] < row) least = middle + 1;
        else most = middle;
    }
    return least;
}

/// visit(t, position, live) by the whole warp for every 32 entries of L(:,i), U(i,k) being entry p; live lanes have
/// one. Positions ascend strictly: they lie behind those of row i and of the lane's last entry, and leave room for all
/// later ones.
template <class Visit>
__device__ void walk_segment(const LuPatternView& P, Index k, Offset p, Visit visit)
{
    const Index  i = P.row[p];
    const Offset lower = P.diag[i] + 1, begin = P.col_ptr[k];
    const Index  count = static_cast<Index>(P.col_ptr[i + 1] - lower);
    const Index  entries = static_cast<Index>(P.col_ptr[k + 1] - begin);
    Index        least = static_cast<Index>(p - begin) + 1 + lane_of_warp();
    for (Index base = 0; base < count; base += 32) {
        const Index t = base + lane_of_warp();
        const bool  live = t < count;
        Index       position = -1;
        if (live) position = find_row(P.row + begin, least, entries - (count - t), P.row[lower + t]);
        least = position + 32;
        visit(t, position, live);
    }
}

}  // namespace ilux
