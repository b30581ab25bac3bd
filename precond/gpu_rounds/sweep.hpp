#pragma once
// The sweeps that turn rows that may be pivots into pivots. Only .cu files of gpu_rounds/ include this.

#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/rounds/round_set.hpp"

namespace ilux::rounds {

/// A round whose pivots are to be chosen.
template <class V>
struct Round : ActiveRows<V> {
    RoundBounds bounds;
    Index       few;  ///< waiting rows that are left for the next round
};

/// Turns rows that wait, in state.waiting[0], into pivots and such as are left for later, in `status`.
template <Scalar S>
void sweep(Gpu& gpu, const RoundsState<S>& state, const Round<cuda::Value<S>>& round);

}  // namespace ilux::rounds
