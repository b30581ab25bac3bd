#pragma once
// How well x solves one row of a system, whatever the range of its numbers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ilux/base/types.hpp"
#include "ilux/direct/solve/compensated_sum.hpp"

namespace ilux {

/// The residual of one row, and what it is measured against.
struct RowResidual {
    double r = 0;     ///< b − Σ a_j x_j
    double size = 0;  ///< |b| + Σ |a_j x_j|; may over- or underflow
    /// |r| / size as if no exponent were too large or too small for them; 0/0 counts as 0, and so does in rows near underflow
    /// what no neighbour of any one x_j would make smaller. NaN where r is not finite.
    double error = 0;
};

namespace detail {

/// The row's error as far as it needs no scaling; NaN where it does, or r is not finite.
inline double unscaled_error(double r, double size)
{
    constexpr double least_size = 0x1p-960;  // sums of smaller terms lose digits to underflow
    if (!std::isfinite(r) || !std::isfinite(size) || (size < least_size && size != 0)) return NAN;
    return r == 0 ? 0 : std::abs(r) / size;
}

constexpr int no_exponent = -10'000;  // of 0; below that of any product

/// e with |a x| < 2^e, too large by at most 2.
inline int product_exponent(double a, double x)
{
    if (a == 0 || x == 0) return no_exponent;
    int of_a = 0, of_x = 0;
    static_cast<void>(std::frexp(a, &of_a));
    static_cast<void>(std::frexp(x, &of_x));
    return of_a + of_x;
}

/// 2^−exponent a x
inline double scaled_product(double a, double x, int exponent)
{
    int          of_a = 0, of_x = 0;
    const double product = std::frexp(a, &of_a) * std::frexp(x, &of_x);
    return std::ldexp(product, of_a + of_x - exponent);
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

/// Of a row summed with the scale 2^−exponent. `slack`, ½ min_j |a_j| step_of(x_j) over a_j ≠ 0, is not held against it: up to
/// that no other x_j, one at a time, would leave less. It is more than rounding errors only where x_j are subnormal.
inline RowResidual unscaled(double r, double size, double slack, int exponent)
{
    const double error = std::abs(r) <= slack ? 0 : std::abs(r) / size, unscaled_r = std::ldexp(r, exponent);
    return {unscaled_r, std::ldexp(size, exponent), std::isfinite(unscaled_r) ? error : NAN};
}

/// Whether any a_j x_j is other than 0, though perhaps too small for a number.
inline bool has_products(std::span<const Index> idx, std::span<const double> val, std::span<const double> x)
{
    for (std::size_t p = 0; p < idx.size(); ++p)
        if (val[p] != 0 && x[idx[p]] != 0) return true;
    return false;
}

/// row_residual with every term scaled by the exponent of the largest.
RowResidual scaled_row_residual(std::span<const Index> idx, std::span<const double> val, std::span<const double> x,
                                double b);

}  // namespace detail

/// Of Σ a_j x_j = b. The sum is compensated: the supply net of a circuit has 10⁵ entries, and as many rounding errors would be
/// taken for x's. Where size overflows, or is so small that products underflow, the row is summed again, scaled: about ten
/// times as slow.
/// @param idx, val  the row's entries, as many of one as of the other; duplicates count one by one
/// @param x         all of the solution: entry p belongs to x[idx[p]]
inline RowResidual row_residual(std::span<const Index> idx, std::span<const double> val, std::span<const double> x,
                                double b)
{
    CompensatedSum sum{b};
    double         size = std::abs(b);
    for (std::size_t p = 0; p < idx.size(); ++p) {
        const double a = val[p], x_j = x[idx[p]];
        sum.add(-(a * x_j));
        size += std::abs(a * x_j);
    }
    if (size == 0 && detail::has_products(idx, val, x)) return detail::scaled_row_residual(idx, val, x, b);
    const double r = sum.value(), error = detail::unscaled_error(r, size);
    return std::isnan(error) ? detail::scaled_row_residual(idx, val, x, b) : RowResidual{r, size, error};
}

}  // namespace ilux
