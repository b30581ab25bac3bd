#pragma once
// The operations of elimination_step.hpp on the device, with the bits of the host. Only .cu files include this.

#include "ilux/base/gpu/device_division.hpp"
#include "ilux/direct/factor/elimination_step.hpp"

namespace ilux {

/// c − l x: minus_product.
__device__ inline double                eliminated(double c, double l, double x) { return __fma_rn(-l, x, c); }
__device__ inline cuda::Complex<double> eliminated(cuda::Complex<double> c, cuda::Complex<double> l,
                                                   cuda::Complex<double> x)
{
    return {__fma_rn(-l.re, x.re, __fma_rn(l.im, x.im, c.re)), __fma_rn(-l.re, x.im, __fma_rn(-l.im, x.re, c.im))};
}

/// |z|, with the bits of the host's but where hypot may differ.
__device__ inline double size_of(double x) { return fabs(x); }
__device__ inline double size_of(cuda::Complex<double> z)
{
    const double square = __fma_rn(z.re, z.re, __dmul_rn(z.im, z.im));
    return square >= least_square && square <= largest_square ? sqrt(square) : hypot(z.re, z.im);
}

}  // namespace ilux
