#pragma once
// Values of Aᴴ from those of A, and conjugates, on a GPU.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// to_p ← the conjugate of from_{at_p}. Only enqueued.
/// @param at  of as many entries as `to`: positions in `from`, as TransposedPattern has them
template <Scalar S>
void gather_conjugates(Gpu& gpu, DeviceSpan<const S> from, DeviceSpan<const Offset> at, DeviceSpan<S> to);

/// x ← x̄; real numbers are as they were. Only enqueued.
template <Scalar S>
void conjugate(Gpu& gpu, DeviceSpan<S> x);

#define ILUX_ADJOINT_VALUES(S)                                                                           \
    template void gather_conjugates(Gpu&, DeviceSpan<const S>, DeviceSpan<const Offset>, DeviceSpan<S>); \
    template void conjugate(Gpu&, DeviceSpan<S>);

}  // namespace ilux
