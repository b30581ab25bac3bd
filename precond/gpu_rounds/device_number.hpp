#pragma once
// Numbers of the rounds in kernels: real and complex ones in the same words. Only .cu files include this.
//
// Sums over a row are sums of integers (Fixed), so that neither the order of its entries nor that of the lanes shows.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_division.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"

namespace ilux::rounds {

/// |z|; the root alone where the squares neither over- nor underflow, as they hardly ever do where entries are about 1.
__device__ inline double modulus(double x) { return fabs(x); }
__device__ inline double modulus(cuda::Complex<double> z)
{
    const double square = cuda::squared(z);
    return square >= 0x1p-900 && square <= 0x1p1000 ? sqrt(square) : hypot(z.re, z.im);
}

/// x in units of 2^-bits, |x| ≤ most; NaN counts as most.
template <int bits>
__device__ Fixed fixed(double x, double most)
{
    return __double2ll_rn(fmax(fmin(x, most), -most) * static_cast<double>(1LL << bits));
}
template <int bits>
__device__ cuda::Complex<Fixed> fixed(cuda::Complex<double> z, double most)
{
    return {fixed<bits>(z.re, most), fixed<bits>(z.im, most)};
}
template <int bits>
__device__ double from_fixed(Fixed x)
{
    return static_cast<double>(x) / static_cast<double>(1LL << bits);
}
template <int bits>
__device__ cuda::Complex<double> from_fixed(cuda::Complex<Fixed> z)
{
    return {from_fixed<bits>(z.re), from_fixed<bits>(z.im)};
}

/// *to ← *to + x, each part by a request of its own.
__device__ inline void add_fixed(Fixed* to, Fixed x)
{
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
}
__device__ inline void add_fixed(cuda::Complex<Fixed>* to, cuda::Complex<Fixed> z)
{
    add_fixed(&to->re, z.re);
    add_fixed(&to->im, z.im);
}

// Products and sums without fused steps: that of a b is that of b a, and of conjugates the conjugate, to the last bit.
__device__ inline double                plain_product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline cuda::Complex<double> plain_product(cuda::Complex<double> a, cuda::Complex<double> b)
{
    return {__dsub_rn(__dmul_rn(a.re, b.re), __dmul_rn(a.im, b.im)),
            __dadd_rn(__dmul_rn(a.re, b.im), __dmul_rn(a.im, b.re))};
}
__device__ inline double                plain_sum(double a, double b) { return __dadd_rn(a, b); }
__device__ inline cuda::Complex<double> plain_sum(cuda::Complex<double> a, cuda::Complex<double> b)
{
    return {__dadd_rn(a.re, b.re), __dadd_rn(a.im, b.im)};
}
__device__ inline double                negated(double x) { return -x; }
__device__ inline cuda::Complex<double> negated(cuda::Complex<double> z) { return {-z.re, -z.im}; }

/// One load past the first-level cache, of what another block has written.
__device__ inline double                loaded_past_cache(const double* at) { return __ldcg(at); }
__device__ inline cuda::Complex<double> loaded_past_cache(const cuda::Complex<double>* at)
{
    const double2 both = __ldcg(reinterpret_cast<const double2*>(at));
    return {both.x, both.y};
}

/// A diagonal entry without what rounding adds to it: of a Hermitian matrix it is real.
__device__ inline double                on_diagonal(Mirror, double x) { return x; }
__device__ inline cuda::Complex<double> on_diagonal(Mirror mirror, cuda::Complex<double> z)
{
    return {z.re, mirror == Mirror::hermitian ? 0 : z.im};
}

}  // namespace ilux::rounds
