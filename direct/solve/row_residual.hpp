#pragma once
// How well x solves one row of a system, whatever the range of its numbers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ilux/base/types.hpp"
#include "ilux/direct/solve/compensated_sum.hpp"
#include "ilux/sptrsv/triangle.hpp"

namespace ilux {

/// The residual of one row, and what it is measured against.
template <class S = double>
struct RowResidual {
    S      r = 0;     ///< b − Σ a_j x_j
    double size = 0;  ///< |b| + Σ |a_j x_j|; may over- or underflow
    /// |r| / size as if no exponent were too large or too small for them; 0/0 counts as 0, and so does in rows near
    /// underflow what no neighbour of any one x_j would make smaller. NaN where r is not finite.
    double error = 0;
};

namespace detail {

/// The row's error as far as it needs no scaling; NaN where it does, or r is not finite.
template <class S>
double unscaled_error(S r, double size)
{
    constexpr double least_size = 0x1p-960;  // sums of smaller terms lose digits to underflow
    if (!is_finite(r) || !std::isfinite(size) || (size < least_size && size != 0)) return NAN;
    return r == S(0) ? 0 : std::abs(r) / size;
}

constexpr int no_exponent = -10'000;  // of 0; below that of any product

/// f with x = f 2^exponent, ½ ≤ |f| < 1, of a complex number in its larger part.
template <class S>
S fraction_of(S x, int& exponent)
{
    if constexpr (is_complex<S>) {
        static_cast<void>(std::frexp(std::max(std::abs(x.real()), std::abs(x.imag())), &exponent));
        return {std::ldexp(x.real(), -exponent), std::ldexp(x.imag(), -exponent)};
    } else return std::frexp(x, &exponent);
}

/// e with |a x| < 2^e, of complex numbers < 2^(e + 1); too large by at most 2.
template <class S>
int product_exponent(S a, S x)
{
    if (a == S(0) || x == S(0)) return no_exponent;
    int of_a = 0, of_x = 0;
    static_cast<void>(fraction_of(a, of_a));
    static_cast<void>(fraction_of(x, of_x));
    return of_a + of_x;
}

/// 2^−exponent a x
template <class S>
S scaled_product(S a, S x, int exponent)
{
    int     of_a = 0, of_x = 0;
    const S product = fraction_of(a, of_a) * fraction_of(x, of_x);
    return times_power(product, of_a + of_x - exponent);
}

/// From x to the next double away from 0.
inline double step_of(double x)
{
    constexpr double least = std::numeric_limits<double>::denorm_min();
    if (x == 0) return least;
    int exponent = 0;
    static_cast<void>(std::frexp(x, &exponent));
    return std::max(least, std::ldexp(1.0, exponent - 53));
}

/// The step in the part where that is less.
inline double step_of(std::complex<double> x) { return std::min(step_of(x.real()), step_of(x.imag())); }

/// Residual of a row summed with the scale 2^−exponent. `slack`, ½ min_j |a_j| step_of(x_j) over a_j ≠ 0, is not held
/// against it: up to that no other x_j, one at a time, would leave less. It is more than rounding errors only where x_j
/// are subnormal.
template <class S>
RowResidual<S> unscaled(S r, double size, double slack, int exponent)
{
    const double error = std::abs(r) <= slack ? 0 : std::abs(r) / size;
    const S      unscaled_r = times_power(r, exponent);
    return {unscaled_r, std::ldexp(size, exponent), is_finite(unscaled_r) ? error : NAN};
}

/// Whether any a_j x_j is other than 0, though perhaps too small for a number.
template <class S>
bool has_products(std::span<const Index> idx, std::span<const S> val, std::span<const S> x)
{
    for (std::size_t p = 0; p < idx.size(); ++p)
        if (val[p] != S(0) && x[idx[p]] != S(0)) return true;
    return false;
}

/// row_residual with every term scaled by the exponent of the largest.
template <Values values, class S>
RowResidual<S> scaled_row_residual(std::span<const Index> idx, std::span<const S> val, std::span<const S> x,
                                   NotDeduced<S> b);

}  // namespace detail

/// Residual of Σ a_j x_j = b, or of Σ ā_j x_j = b with values conjugated. The sum is compensated: the supply net of a
/// circuit has 10⁵ entries, and as many rounding errors would be taken for x's. Where size overflows, or is so small
/// that products underflow, the row is summed again, scaled: about ten times as slow.
/// @param idx, val  the row's entries, as many of one as of the other; duplicates count one by one
/// @param x         all of the solution: entry p belongs to x[idx[p]]
template <class S = double, Values values = Values::as_stored>
RowResidual<S> row_residual(std::span<const Index> idx, std::span<const NotDeduced<S>> val,
                            std::span<const NotDeduced<S>> x, NotDeduced<S> b)
{
    CompensatedSum<S> sum{b};
    double            size = std::abs(b);
    for (std::size_t p = 0; p < idx.size(); ++p) {
        const S product = detail::value_of<values, S>(val[p]) * x[idx[p]];
        sum.add(-product);
        size += std::abs(product);
    }
    if (size == 0 && detail::has_products(idx, val, x)) return detail::scaled_row_residual<values>(idx, val, x, b);
    const S      r = sum.value();
    const double error = detail::unscaled_error(r, size);
    return std::isnan(error) ? detail::scaled_row_residual<values>(idx, val, x, b) : RowResidual<S>{r, size, error};
}

}  // namespace ilux
