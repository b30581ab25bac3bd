#pragma once
// The sweeps that turn rows that may be pivots into pivots. Only .cu files of gpu_rounds/ include this.

#include <cooperative_groups.h>

#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/rounds/round_set.hpp"

namespace ilux::rounds {

/// A round whose pivots are to be chosen.
template <class V>
struct Round : ActiveRows<V> {
    RoundBounds bounds;
    Index       few;  ///< waiting rows that are left for the next round
};

/// list ← list, k, in any order; one request for all threads of a warp that come here together.
__device__ inline void append(Index k, Index* list, Index* count)
{
    const auto together = cooperative_groups::coalesced_threads();
    Index      first = 0;
    if (together.thread_rank() == 0) first = atomicAdd(count, static_cast<Index>(together.size()));
    list[together.shfl(first, 0) + static_cast<Index>(together.thread_rank())] = k;
}

/// Turns rows that wait, in state.waiting[0], into pivots and such as are left for later, in `status`.
template <Scalar S>
void sweep(Gpu& gpu, const RoundsState<S>& state, const Round<cuda::Value<S>>& round);

}  // namespace ilux::rounds
