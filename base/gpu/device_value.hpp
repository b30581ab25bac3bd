#pragma once
// Values in kernels. Only .cu files include this.

#include <bit>
#include <type_traits>

#include "ilux/base/gpu/value.hpp"

namespace ilux::cuda {

/// Doubles in a value of a sum.
template <class V>
constexpr int parts = sizeof(working_of<V>) / sizeof(double);

/// Values of the host's type in device memory, as kernels have them. Complex ones stand on multiples of their size.
template <class T>
__host__ __device__ auto as_values(T* data)
{
    using V = Value<std::remove_const_t<T>>;
    return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const V, V>*>(data);
}

/// One number of the host's type, as kernels have it.
template <class R>
Complex<R> as_value(std::complex<R> z)
{
    return {z.real(), z.imag()};
}
inline double as_value(double x) { return x; }
inline float  as_value(float x) { return x; }

__device__ inline double widened(double x) { return x; }
__device__ inline double widened(float x) { return x; }
template <class R>
__device__ Complex<double> widened(Complex<R> z)
{
    return {z.re, z.im};
}

/// In another precision.
template <class V>
__device__ V converted(double x)
{
    return static_cast<V>(x);
}
template <class V>
__device__ V converted(float x)
{
    return static_cast<V>(x);
}
template <class V, class R>
__device__ V converted(Complex<R> z)
{
    return {static_cast<real_of<V>>(z.re), static_cast<real_of<V>>(z.im)};
}

__device__ inline double conjugate(double x) { return x; }
__device__ inline float  conjugate(float x) { return x; }
template <class R>
__device__ Complex<R> conjugate(Complex<R> z)
{
    return {z.re, -z.im};
}

/// sum + a b, for complex numbers in four fused steps.
__device__ inline double plus_product(double sum, double a, double b) { return sum + a * b; }
__device__ inline float  plus_product(float sum, float a, float b) { return sum + a * b; }
template <class R>
__device__ Complex<R> plus_product(Complex<R> sum, Complex<R> a, Complex<R> b)
{
    return {sum.re + a.re * b.re - a.im * b.im, sum.im + a.re * b.im + a.im * b.re};
}

/// sum − a b
__device__ inline double minus_product(double sum, double a, double b) { return sum - a * b; }
__device__ inline float  minus_product(float sum, float a, float b) { return sum - a * b; }
template <class R>
__device__ Complex<R> minus_product(Complex<R> sum, Complex<R> a, Complex<R> b)
{
    return {sum.re - a.re * b.re + a.im * b.im, sum.im - a.re * b.im - a.im * b.re};
}

__device__ inline double          divided(double x, double by) { return x / by; }
__device__ inline Complex<double> divided(Complex<double> z, double by) { return {z.re / by, z.im / by}; }

/// A real number as a value.
template <class V>
__device__ V from_real(double x)
{
    if constexpr (std::is_floating_point_v<V>) return x;
    else return {x, 0};
}

__device__ inline double real_part(double x) { return x; }
__device__ inline double real_part(Complex<double> z) { return z.re; }

/// |z|²; may over- and underflow.
__device__ inline double squared(double x) { return x * x; }
__device__ inline double squared(Complex<double> z) { return z.re * z.re + z.im * z.im; }

__device__ inline double magnitude(double x) { return fabs(x); }
__device__ inline double magnitude(Complex<double> z) { return hypot(z.re, z.im); }

/// Neither NaN nor Inf, in either part.
template <class V>
__device__ bool is_finite(V z)
{
    if constexpr (is_complex<V>) return isfinite(z.re) && isfinite(z.im);
    else return isfinite(z);
}
template <class V>
__device__ bool is_nan(V z)
{
    if constexpr (is_complex<V>) return isnan(z.re) || isnan(z.im);
    else return isnan(z);
}

__device__ inline bool is_zero(double x) { return x == 0; }
__device__ inline bool is_zero(float x) { return x == 0; }
template <class R>
__device__ bool is_zero(Complex<R> z)
{
    return z.re == 0 && z.im == 0;
}

/// One load by the read-only path.
template <class V>
__device__ V load_constant(const V* at)
{
    if constexpr (std::is_floating_point_v<V>) return __ldg(at);
    else if constexpr (sizeof(V) == 16) {
        const double2 both = __ldg(reinterpret_cast<const double2*>(at));
        return {both.x, both.y};
    } else {
        const float2 both = __ldg(reinterpret_cast<const float2*>(at));
        return {both.x, both.y};
    }
}

__device__ inline double          shuffled_from(double x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ inline Complex<double> shuffled_from(Complex<double> z, int lane)
{
    return {shuffled_from(z.re, lane), shuffled_from(z.im, lane)};
}
__device__ inline double shuffled_down(double x, int step, int lanes) { return __shfl_down_sync(~0u, x, step, lanes); }
__device__ inline float  shuffled_down(float x, int step, int lanes) { return __shfl_down_sync(~0u, x, step, lanes); }
template <class R>
__device__ Complex<R> shuffled_down(Complex<R> z, int step, int lanes)
{
    return {shuffled_down(z.re, step, lanes), shuffled_down(z.im, step, lanes)};
}
__device__ inline double          shuffled_xor(double x, int step) { return __shfl_xor_sync(~0u, x, step); }
__device__ inline Complex<double> shuffled_xor(Complex<double> z, int step)
{
    return {shuffled_xor(z.re, step), shuffled_xor(z.im, step)};
}

}  // namespace ilux::cuda
