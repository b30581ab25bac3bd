#pragma once
// Lanes of a warp, or threads of a block, that share a row of a matrix. Only .cu files include this.

#include <cooperative_groups.h>

#include "ilux/precond/gpu_rounds/device_number.hpp"

namespace ilux::rounds {

constexpr int tile_threads = 256;  // of a block of tiles

/// list ← list, k, in any order; one request for all threads of a warp that come here together.
__device__ inline void append(Index k, Index* list, Index* count)
{
    const auto together = cooperative_groups::coalesced_threads();
    Index      first = 0;
    if (together.thread_rank() == 0) first = atomicAdd(count, static_cast<Index>(together.size()));
    list[together.shfl(first, 0) + static_cast<Index>(together.thread_rank())] = k;
}

/// k goes to list `which` of `lists`; threads of a warp for one list go together.
template <int lists>
__device__ void append(Index k, int which, Index* const* list, Index* count)
{
#pragma unroll
    for (int each = 0; each < lists; ++each)
        if (each == which) append(k, list[each], count + each);
}

/// `lanes` neighbouring lanes, a power of two. All of a tile's lanes call each function together.
template <int lanes>
class Tile {
public:
    static constexpr int size = lanes, per_block = tile_threads / lanes;

    __device__ Tile()
        : lane_(threadIdx.x % lanes), mask_((0xffffffffU >> (32 - lanes)) << (threadIdx.x % 32 / lanes * lanes))
    {}

    __device__ int         lane() const { return lane_; }
    __device__ static int  in_block() { return threadIdx.x / lanes; }
    __device__ static long in_grid() { return static_cast<long>(blockIdx.x) * per_block + in_block(); }
    __device__ void        sync() const { __syncwarp(mask_); }

    __device__ double max(double value) const
    {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(mask_, value, step, lanes));
        return value;
    }
    template <class V>
    __device__ V min(V value) const
    {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) {
            const V other = __shfl_xor_sync(mask_, value, step, lanes);
            value = other < value ? other : value;
        }
        return value;
    }
    template <class V>
    __device__ V sum(V value) const
    {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(mask_, value, step, lanes);
        return value;
    }
    template <class R>
    __device__ cuda::Complex<R> sum(cuda::Complex<R> value) const
    {
        return {sum(value.re), sum(value.im)};
    }
    /// The value of one lane of the tile.
    template <class V>
    __device__ V of(V value, int lane) const
    {
        return __shfl_sync(mask_, value, lane, lanes);
    }
    /// The lanes of the tile with a value of true, a bit each.
    __device__ unsigned which(bool value) const
    {
        return (__ballot_sync(mask_, value) & mask_) >> (threadIdx.x % 32 / lanes * lanes);
    }
    __device__ bool any(bool value) const { return (__ballot_sync(mask_, value) & mask_) != 0; }

    /// The place of this lane's entry among those that stay, counted on in `count`.
    __device__ Index place(bool stays, Index& count) const
    {
        const unsigned who = __ballot_sync(mask_, stays) & mask_;
        const Index    place = count + __popc(who & ((1U << (threadIdx.x % 32)) - 1));
        count += __popc(who);
        return place;
    }

private:
    int      lane_;
    unsigned mask_;
};

/// Room for `count` entries of every tile of a block behind *cursor: one request a block. All threads of the block call
/// it; the entries of a tile are the same wherever they lie.
template <int tiles>
__device__ Offset room_for(Index count, int tile, bool leader, unsigned long long* cursor)
{
    static_assert(tiles <= 32);
    __shared__ Offset begin[tiles];
    if (leader) begin[tile] = count;
    __syncthreads();
    if (threadIdx.x < 32) {
        const int    lane = static_cast<int>(threadIdx.x);
        const Offset mine = lane < tiles ? begin[lane] : 0;
        Offset       sum = mine;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const Offset before = __shfl_up_sync(~0U, sum, step);
            if (lane >= step) sum += before;
        }
        Offset first = 0;
        if (lane == 31 && sum > 0) first = static_cast<Offset>(atomicAdd(cursor, static_cast<unsigned long long>(sum)));
        first = __shfl_sync(~0U, first, 31);
        if (lane < tiles) begin[lane] = first + sum - mine;
    }
    __syncthreads();
    return begin[tile];
}

}  // namespace ilux::rounds
