#pragma once
// What an entry of a LuPattern starts from, on the device, with the bits of the host. Only .cu files include this.

#include "ilux/base/gpu/device_value.hpp"
#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

namespace ilux {

/// x + value · scale, each operation rounded.
__device__ inline double add_input(double x, double value, double scale)
{
    return __dadd_rn(x, __dmul_rn(value, scale));
}
__device__ inline cuda::Complex<double> add_input(cuda::Complex<double> x, cuda::Complex<double> value, double scale)
{
    return {add_input(x.re, value.re, scale), add_input(x.im, value.im, scale)};
}

/// The first input of entry e; 0 where there is none.
template <class V>
__device__ V first_input(const LuPatternView& P, Offset e, const V* values)
{
    const std::int32_t source = P.source[e];
    return source < 0 ? V{} : add_input(V{}, values[source], P.scale[e]);
}

/// All inputs of the r-th entry that has several.
template <class V>
__device__ V repeated_input(const LuPatternView& P, Index r, const V* values)
{
    V x = first_input(P, P.repeated_entry[r], values);
    for (Offset q = P.repeated_ptr[r]; q < P.repeated_ptr[r + 1]; ++q)
        x = add_input(x, values[P.repeated_source[q]], P.repeated_scale[q]);
    return x;
}

}  // namespace ilux
