#pragma once
// Elimination of some columns of a front, a thread a row, with the largest of the pivot rows as pivots. Only .cu files
// include this.

#include <cooperative_groups.h>

#include "ilux/direct/supernodal_gpu/device_mail.hpp"
#include "ilux/direct/supernodal_gpu/device_pivot.hpp"

namespace ilux {

/// Where the best rows of warps, and of blocks of a cluster, meet. Two of each: by turns, so one barrier a column is
/// enough.
template <class V, int width, int warps, int blocks>
struct PanelMeeting {
    V               row[2][warps][width];
    Candidate       best[2][warps];
    V               far_row[2][blocks][width];
    Candidate       far_best[2][blocks];
    cuda::MailCount mail[2];                      // of what comes from the blocks of a cluster
    double          least[width];                 // sizes of pivots
    V               moved[2 * width][width + 1];  // rows that change places
};

/// Rows of a panel that a thread has. Rows change places by their numbers alone, and the first of the values is always
/// of the next column: so a step is a loop's body, and code is short.
template <class V, int width, int rows>
struct PanelRows {
    V     a[rows][width];  // of columns that are not eliminated; a pivot's from its own column on
    Index from[rows];      // row within the panel, or −1
    Index at[rows];        // where it is to go
};

/// A panel in memory, and how many blocks share it.
template <class V>
struct PanelPlace {
    V*     numbers;  // of its first row and column
    Offset stride;
    Index  columns, pivot_rows;
    int    blocks;

    __device__ void meet() const
    {
        if (blocks > 1) cooperative_groups::this_cluster().sync();
        else __syncthreads();
    }
};

/// Finds the best row, and leaves it in shared memory. @return that row's values, of the next column first
template <int wide, class V, int width, int rows, int warps, int most>
__device__ __forceinline__ const V* best_row(const PanelRows<V, width, rows>& mine, Index j, const PanelPlace<V>& place,
                                             PanelMeeting<V, width, warps, most>& m, Candidate& best)
{
    const int warp = threadIdx.x / 32, turn = j & 1;
    Candidate own{0, no_row};
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        if (mine.at[r] < j || mine.at[r] >= place.pivot_rows) continue;
        const Candidate one{magnitude_bits(mine.a[r][0]), mine.at[r]};
        if (one.better_than(own)) own = one;
    }
    const Candidate of_warp = best_of_warp(own);
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (mine.at[r] == of_warp.row) {
#pragma unroll
            for (int c = 0; c < wide; ++c) m.row[turn][warp][c] = mine.a[r][c];
        }
    if ((threadIdx.x & 31) == 0) m.best[turn][warp] = of_warp;
    __syncthreads();
    int where = 0;
    best = m.best[turn][0];
#pragma unroll
    for (int w = 1; w < warps; ++w)
        if (m.best[turn][w].better_than(best)) best = m.best[turn][w], where = w;
    if (most == 1 || place.blocks == 1) return m.row[turn][where];

    const int   rank = static_cast<int>(cooperative_groups::this_cluster().block_rank()), lane = threadIdx.x & 31;
    auto* const mail = &m.mail[turn];
    if (threadIdx.x == 0) cuda::expect_mail(mail, place.blocks * (wide * sizeof(V) + sizeof(Candidate)));
    for (int to = warp; to < place.blocks; to += warps) {
        const auto count = cuda::address_at(mail, to);
        if (lane < wide)
            cuda::send(cuda::address_at(&m.far_row[turn][rank][lane], to), m.row[turn][where][lane], count);
        if (lane > 1) continue;
        const auto      there = cuda::address_at(&m.far_best[turn][rank], to) + 8 * lane;
        const Magnitude bits = lane == 0 ? best.size : static_cast<Magnitude>(best.row);
        cuda::send_bits(there, bits, count);
    }
    cuda::wait_for_mail(mail, (j >> 1) & 1);  // a block sends the next but one only when it has had the next of all
    where = 0;
    best = m.far_best[turn][0];
#pragma unroll
    for (int b = 1; b < most; ++b)
        if (b < place.blocks && m.far_best[turn][b].better_than(best)) best = m.far_best[turn][b], where = b;
    return m.far_row[turn][where];
}

/// L of column j into memory, where the rows came from; the other values move up by one column.
/// @return the largest |l| of the warp
template <int wide, class V, int width, int rows>
__device__ __forceinline__ Magnitude eliminate(PanelRows<V, width, rows>& mine, Index j, Index pivot_row, V pivot,
                                               const V* u, const PanelPlace<V>& place)
{
    Magnitude largest = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        if (mine.at[r] == pivot_row) {
            mine.at[r] = j;
            mine.a[r][0] = pivot;
            continue;
        }
        if (mine.at[r] == j) mine.at[r] = pivot_row;
        if (mine.at[r] <= j) continue;
        const V l = divide(mine.a[r][0], pivot);
        largest = max(largest, magnitude_bits(l));
        place.numbers[j * place.stride + mine.from[r]] = l;
#pragma unroll
        for (int c = 1; c < wide; ++c) mine.a[r][c - 1] = eliminated(mine.a[r][c], l, u[c]);
    }
    return best_of_warp({largest, 0}).size;
}

/// Eight columns at a time: those that are left get fewer. @param report  called with column, row and size of each
/// pivot
template <int wide, class V, int width, int rows, int warps, int most, class Report>
__device__ __forceinline__ void eliminate_columns(PanelRows<V, width, rows>& mine, const PanelPlace<V>& place,
                                                  PanelMeeting<V, width, warps, most>& m, PanelSizes& sizes,
                                                  Report&& report)
{
    constexpr int each = 8;
#pragma unroll 1
    for (Index j = width - wide; j < min(place.columns, width - wide + each); ++j) {
        Candidate best;
        const V*  u = best_row<wide>(mine, j, place, m, best);
        bool      replaced;
        const V   pivot = held_pivot(u[0], m.least[j], replaced);
        const int column = static_cast<int>(threadIdx.x) - j;
        if (column >= 0 && static_cast<Index>(threadIdx.x) < place.columns)
            sizes.u = max(sizes.u, magnitude_bits(column == 0 ? pivot : u[column]));
        if (threadIdx.x == 0) report(j, best.row, replaced ? -size_of(pivot) : size_of(pivot));
        const Magnitude l = eliminate<wide>(mine, j, best.row, pivot, u, place);
        if (static_cast<Index>(threadIdx.x & 31) == j) sizes.l = l;
    }
    if constexpr (wide > each) eliminate_columns<wide - each>(mine, place, m, sizes, report);
}

/// Rows to where they are to go, and U of the panel. All threads of all blocks come here.
template <class V, int width, int rows, int warps, int most>
__device__ __forceinline__ void settle_rows(const PanelRows<V, width, rows>& mine, const PanelPlace<V>& place,
                                            PanelMeeting<V, width, warps, most>& m)
{
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Index at = mine.at[r], from = mine.from[r];
        if (at == from) continue;
        V* const to = m.moved[at < place.columns ? at : width + from];
        for (Index c = 0; c < min(at, place.columns); ++c) to[c] = place.numbers[c * place.stride + from];
    }
    place.meet();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Index at = mine.at[r], from = mine.from[r];
        if (from < 0) continue;
        if (at != from) {
            const V* const row = m.moved[at < place.columns ? at : width + from];
            for (Index c = 0; c < min(at, place.columns); ++c) place.numbers[c * place.stride + at] = row[c];
        }
        if (at >= place.columns) continue;
#pragma unroll
        for (int c = 0; c < width; ++c)
            if (at + c < place.columns) place.numbers[(at + c) * place.stride + at] = mine.a[r][c];
    }
}

}  // namespace ilux
