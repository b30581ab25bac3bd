#pragma once
// The search for a pivot, and the largest numbers of columns, by whole warps. Only .cu files include this.

#include <limits>

#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"
#include "ilux/direct/supernodal_gpu/fronts_view.hpp"

namespace ilux {

constexpr unsigned whole_warp = ~0u;
constexpr Index    no_row = std::numeric_limits<Index>::max();

template <class V>
__device__ Magnitude magnitude_bits(V x)
{
    return static_cast<Magnitude>(__double_as_longlong(size_of(x))) & 0x7FFF'FFFF'FFFF'FFFFu;
}

/// A pivot as it stays: one that is nearly 0 becomes one of size `least`, with its sign.
template <class V>
__device__ V held_pivot(V pivot, double least, bool& replaced)
{
    const double size = size_of(pivot);
    replaced = size <= least;
    if (!replaced) return pivot;
    if constexpr (is_complex<V>) {
        if (size == 0) return {least, 0};
        return {least * (pivot.re / size), least * (pivot.im / size)};
    } else return copysign(least, pivot);
}

/// The largest, and the first row among equals.
struct Candidate {
    Magnitude size;
    Index     row;

    __device__ bool better_than(const Candidate& other) const
    {
        return size > other.size || (size == other.size && row < other.row);
    }
};

__device__ inline Candidate best_of_warp(Candidate mine)
{
    const unsigned high = static_cast<unsigned>(mine.size >> 32), low = static_cast<unsigned>(mine.size);
    const unsigned top = __reduce_max_sync(whole_warp, high);
    const unsigned next = __reduce_max_sync(whole_warp, high == top ? low : 0u);
    const bool     among = high == top && low == next;
    const unsigned row = __reduce_min_sync(whole_warp, among ? static_cast<unsigned>(mine.row) : unsigned(no_row));
    return {Magnitude{top} << 32 | next, static_cast<Index>(row)};
}

/// Each half of the lanes keeps the columns of one half.
template <int half, int width>
__device__ __forceinline__ void fold_columns(Magnitude (&of)[width])
{
    if constexpr (half > 0) {
        const bool upper = threadIdx.x & half;
#pragma unroll
        for (int c = 0; c < half; ++c) {
            const Magnitude kept = upper ? of[c + half] : of[c], sent = upper ? of[c] : of[c + half];
            of[c] = max(kept, __shfl_xor_sync(whole_warp, sent, half));
        }
        fold_columns<half / 2>(of);
    }
}

/// Column c of `of` over the warp ends in lane c, and in lane c + 16 where there are 16.
template <int width>
__device__ __forceinline__ Magnitude largest_by_column(Magnitude (&of)[width])
{
    if constexpr (width == 16) {
#pragma unroll
        for (int c = 0; c < 16; ++c) of[c] = max(of[c], __shfl_xor_sync(whole_warp, of[c], 16));
    }
    fold_columns<width / 2>(of);
    return of[0];
}

/// What a thread finds of columns: thread c of column c, but for L, where lane c of each warp does.
struct PanelSizes {
    Magnitude u = 0, l = 0;
};

/// Raises umax (by one block) and lmax of the panel's columns.
__device__ inline void raise_sizes(const PanelSizes& sizes, Index columns, Magnitude* umax, Magnitude* lmax)
{
    const Index lane = static_cast<Index>(threadIdx.x & 31);
    if (umax && static_cast<Index>(threadIdx.x) < columns && sizes.u > 0) atomicMax(umax + threadIdx.x, sizes.u);
    if (lane < columns && sizes.l > 0) atomicMax(lmax + lane, sizes.l);
}

}  // namespace ilux
