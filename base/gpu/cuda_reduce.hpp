#pragma once
// Sums over a warp, a block and a grid, each in an order that does not depend on timing. Only .cu files include this.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"

namespace ilux::cuda {

struct Add {
    template <class V>
    static __device__ V combine(V a, V b)
    {
        return a + b;
    }
};

/// The largest of values ≥ 0; NaN wins.
struct Largest {
    static __device__ double combine(double a, double b) { return a > b || a != a ? a : b; }
};

/// Op over `lanes` neighbouring lanes, a power of 2; the first of them has the result. Called by whole warps.
template <class Op, int lanes = 32, class V>
__device__ V over_lanes(V value)
{
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) value = Op::combine(value, shuffled_down(value, step, lanes));
    return value;
}

/// Op over a block of `threads`; thread 0 has the result. Called by all threads of the block. 0 is neutral.
template <class Op, int threads, class V>
__device__ V over_block(V value)
{
    constexpr int warps = threads / 32;
    __shared__ V  of_warp[warps];
    value = over_lanes<Op>(value);
    __syncthreads();  // an earlier call may still be reading
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    return threadIdx.x < 32 ? over_lanes<Op>(threadIdx.x < warps ? of_warp[threadIdx.x] : V{}) : V{};
}

/// True, for all threads of one of `count` blocks: the last to get here, which then sees what the others wrote before.
/// The ticket is 0 again afterwards.
inline __device__ bool last_of(unsigned count, unsigned* ticket)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(ticket, count - 1) == count - 1;
    __syncthreads();
    __threadfence();
    return last;
}

}  // namespace ilux::cuda
