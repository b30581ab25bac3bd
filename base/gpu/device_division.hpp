#pragma once
// Quotients in kernels, with the bits of the host's. Only .cu files include this.

#include "ilux/base/gpu/device_value.hpp"

namespace ilux {

/// 1/d by Newton's iteration; rounds correctly away from the ends of the exponent range.
__device__ inline double reciprocal(double d)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    double e = fma(-d, r, 1.0);
    e = fma(e, e, e);
    r = fma(r, e, r);
    e = fma(-d, r, 1.0);
    return fma(r, e, r);
}

/// x / d with r = reciprocal(d): one correction of the quotient rounds correctly too; x = 0 keeps its sign.
__device__ inline double quotient(double x, double d, double r)
{
    const double q = x * r, corrected = fma(fma(-d, q, x), r, q);
    return x == 0 ? q : corrected;
}

/// x / d by the IEEE, faster than the compiler's code where x = 0, which is common and would send the whole warp its
/// slow way.
__device__ inline double divide(double x, double d)
{
    constexpr double small = 0x1p-400, large = 0x1p400;
    const double     fast = quotient(x, d, reciprocal(d));
    const bool       plain = fabs(x) > small && fabs(x) < large;
    if (fabs(d) > small && fabs(d) < large && (x == 0 || plain)) return fast;
    return x / d;
}

/// x / u for one u and many x.
template <class V>
class Divisor {
public:
    __device__ explicit Divisor(V u) : u_(u) {}
    __device__ V operator()(V x) const { return x / u_; }

private:
    V u_;
};

/// Divides complex numbers by the steps of DividedBy (direct/factor/elimination_step.hpp) [smith_62].
template <>
class Divisor<cuda::Complex<double>> {
public:
    __device__ explicit Divisor(cuda::Complex<double> u)
    {
        const double re = 0.5 * u.re, im = 0.5 * u.im;
        const bool   by_real = fabs(re) >= fabs(im);
        const double large = by_real ? re : im, small = by_real ? im : re, r = divide(small, large);
        re_ = by_real ? 0.5 : 0.5 * r;
        im_ = by_real ? 0.5 * r : 0.5;
        d_ = fma(small, r, large);
    }
    __device__ cuda::Complex<double> operator()(cuda::Complex<double> x) const
    {
        return {divide(fma(x.im, im_, x.re * re_), d_), divide(fma(-x.re, im_, x.im * re_), d_)};
    }

private:
    double re_, im_, d_;
};

__device__ inline cuda::Complex<double> divide(cuda::Complex<double> x, cuda::Complex<double> d)
{
    return Divisor<cuda::Complex<double>>(d)(x);
}

}  // namespace ilux
