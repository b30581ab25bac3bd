#pragma once
// The primitives of Backend on a Gpu for one S, to be compiled: the same list where there is a device and where there
// is none.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"

#define ILUX_GPU_VECTOR_PRIMITIVES(S)                                                \
    template S          dot<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>);      \
    template S          dotu<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>);     \
    template real_of<S> norm2<S>(Gpu&, DeviceSpan<const S>);                         \
    template DotNorm<S> dot_norm<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>); \
    template bool       is_finite<S>(Gpu&, DeviceSpan<const S>);                     \
    template void       copy<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>);           \
    template void       fill<S>(Gpu&, S, DeviceSpan<S>);                             \
    template void       scale<S>(Gpu&, S, DeviceSpan<S>);                            \
    template void       axpy<S>(Gpu&, S, DeviceSpan<const S>, DeviceSpan<S>);        \
    template void       axpby<S>(Gpu&, S, DeviceSpan<const S>, S, DeviceSpan<S>);    \
    template void       multiply<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>, DeviceSpan<S>);

#define ILUX_GPU_PRECISION_PRIMITIVES(S)                                                  \
    template void narrow<S>(Gpu&, double, DeviceSpan<const S>, DeviceSpan<single_of<S>>); \
    template void widen<S>(Gpu&, DeviceSpan<const single_of<S>>, DeviceSpan<S>);

#define ILUX_GPU_BLOCK_PRIMITIVES(S)                                                          \
    template void multi_dot<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>, std::span<S>); \
    template void multi_axpy<S>(Gpu&, std::span<const S>, DeviceSpan<const S>, DeviceSpan<S>);
