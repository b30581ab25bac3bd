#pragma once
// The operations of which every elimination consists, and the size of what they make. All factorizations on the host
// use these: equal bits.

#include <cmath>
#include <complex>

#include "ilux/base/scalar.hpp"

namespace ilux {

/// c − l x. Of complex numbers Re first adds the product of the imaginary parts, so that numbers without any give the
/// bits of the real ones: Re ← fma(−Re l, Re x, fma(Im l, Im x, Re c)), Im ← fma(−Re l, Im x, fma(−Im l, Re x, Im c)).
/// Always inlined, so that it is compiled for the processor that the caller is compiled for.
template <Scalar S>
[[gnu::always_inline]] inline S minus_product(S c, S l, S x)
{
    if constexpr (is_complex<S>)
        return {std::fma(-l.real(), x.real(), std::fma(l.imag(), x.imag(), c.real())),
                std::fma(-l.real(), x.imag(), std::fma(-l.imag(), x.real(), c.imag()))};
    else return std::fma(-l, x, c);
}

/// Re² + Im²; may over- and underflow.
[[gnu::always_inline]] inline double square_of(std::complex<double> z)
{
    return std::fma(z.real(), z.real(), z.imag() * z.imag());
}
/// Squares within these are as exact as any product, and so is what is compared with them.
constexpr double least_square = 0x1p-960, largest_square = 0x1p1020;

/// |z|, of complex numbers within an ulp or two. √ of square_of where that is between the limits, so that the largest
/// of many sizes costs one root; std::abs, a function call, elsewhere.
template <Scalar S>
[[gnu::always_inline]] inline double modulus(S z)
{
    if constexpr (is_complex<S>) {
        const double square = square_of(z);
        return square >= least_square && square <= largest_square ? std::sqrt(square) : std::abs(z);
    } else return std::abs(z);
}

/// x / u for one u and many x, u = 0 included. Of complex numbers [smith_62], with what depends on u alone done once:
/// for |Re u| ≥ |Im u|, r = Im u / Re u and d = Re u + r Im u, Re ← (Re x + r Im x) / d, Im ← (Im x − r Re x) / d;
/// otherwise with r = Re u / Im u likewise. All of it halved, so that no sum overflows before the quotient does. An Im
/// u of 0 gives the bits of two real quotients, unless u is subnormal.
template <Scalar S>
class DividedBy {
public:
    [[gnu::always_inline]] explicit DividedBy(S u) : d_(u) {}
    [[gnu::always_inline]] S operator()(S x) const { return x / d_; }

private:
    S d_;
};
template <>
class DividedBy<std::complex<double>> {
public:
    [[gnu::always_inline]] explicit DividedBy(std::complex<double> u)
    {
        const double re = 0.5 * u.real(), im = 0.5 * u.imag();
        const bool   by_real = std::abs(re) >= std::abs(im);
        const double r = by_real ? im / re : re / im;
        re_ = by_real ? 0.5 : 0.5 * r;
        im_ = by_real ? 0.5 * r : 0.5;
        d_ = by_real ? std::fma(im, r, re) : std::fma(re, r, im);
    }
    [[gnu::always_inline]] std::complex<double> operator()(std::complex<double> x) const
    {
        return {std::fma(x.imag(), im_, x.real() * re_) / d_, std::fma(-x.real(), im_, x.imag() * re_) / d_};
    }
    // x / u = x (re − i im) / d
    [[gnu::always_inline]] double re() const { return re_; }
    [[gnu::always_inline]] double im() const { return im_; }
    [[gnu::always_inline]] double d() const { return d_; }

private:
    double re_, im_, d_;
};

}  // namespace ilux
