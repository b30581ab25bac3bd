#pragma once
// One row of b − A x in about twice the working precision, whatever the range of its numbers.

#include <algorithm>
#include <cmath>
#include <span>

#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// b − Σ a_j x_j and |b| + Σ |a_j x_j|, both in units of 2^exponent.
template <Scalar S = double>
struct RowSum {
    S      r = 0;
    double size = 0;
    int    exponent = 0;

    /// |r| / size: the row's share in the backward error of [oettli_prager_64]. 0/0 counts as 0; NaN where r is not
    /// finite.
    double error() const { return !is_finite(r) || std::isinf(size) ? NAN : r == S(0) ? 0 : std::abs(r) / size; }
};

namespace detail {

/// Sums with their rounding errors, and those of the products [ogita05, Dot2].
struct TwofoldSum {
    double high = 0, low = 0, size = 0;

    void add(double a, double x)
    {
        const double product = a * x, next = high + product, back = next - high;
        low += std::fma(a, x, -product) + ((high - (next - back)) + (product - back));
        high = next;
        size += std::abs(product);
    }
};

/// A TwofoldSum of complex numbers, a sum for each part; size is Σ |a x|.
struct ComplexTwofoldSum {
    TwofoldSum real, imaginary;
    double     size = 0;

    void add(std::complex<double> a, std::complex<double> x)
    {
        real.add(a.real(), x.real());
        real.add(-a.imag(), x.imag());
        imaginary.add(a.real(), x.imag());
        imaginary.add(a.imag(), x.real());
        size += std::hypot(a.real() * x.real() - a.imag() * x.imag(), a.real() * x.imag() + a.imag() * x.real());
    }
};

inline TwofoldSum        begun_with(double b) { return {.high = b, .low = 0, .size = std::abs(b)}; }
inline ComplexTwofoldSum begun_with(std::complex<double> b)
{
    return {begun_with(b.real()), begun_with(b.imag()), std::abs(b)};
}
inline double               value_of(const TwofoldSum& sum) { return sum.high + sum.low; }
inline std::complex<double> value_of(const ComplexTwofoldSum& sum)
{
    return {value_of(sum.real), value_of(sum.imaginary)};
}

/// Sums up a row whose products over- or underflow; about ten times as slow.
template <Scalar S>
RowSum<S> scaled_row_sum(std::span<const Index> col, std::span<const S> val, std::span<const S> x, S b);

}  // namespace detail

/// @param col, val  the row's entries, as many of one as of the other; duplicates count one by one
/// @param x         all of the solution: entry p belongs to x[col[p]]
/// The error of r is about ε² size: 10⁻³² for rows of a few entries.
template <Scalar S = double>
RowSum<S> row_sum(std::span<const Index> col, std::span<const NotDeduced<S>> val, std::span<const NotDeduced<S>> x,
                  NotDeduced<S> b)
{
    constexpr double least = 0x1p-900;  // of size; the errors of smaller products may underflow
    auto             sum = detail::begun_with(b);
    for (std::size_t p = 0; p < col.size(); ++p) sum.add(-val[p], x[col[p]]);
    if (sum.size >= least && std::isfinite(sum.size)) return {detail::value_of(sum), sum.size, 0};
    return detail::scaled_row_sum<S>(col, val, x, b);
}

}  // namespace ilux
