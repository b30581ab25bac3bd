#pragma once
// One row of b − A x in about twice the working precision, whatever the range of its numbers.

#include <algorithm>
#include <cmath>
#include <span>

#include "ilux/base/types.hpp"

namespace ilux {

/// b − Σ a_j x_j and |b| + Σ |a_j x_j|, both in units of 2^exponent.
struct RowSum {
    double r = 0, size = 0;
    int    exponent = 0;

    /// |r| / size: the row's share in the backward error of [oettli_prager_64]. 0/0 counts as 0; NaN where r is not finite.
    double error() const { return std::isnan(r) || std::isinf(size) ? NAN : r == 0 ? 0 : std::abs(r) / size; }
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

/// Of a row whose products over- or underflow; about ten times as slow.
RowSum scaled_row_sum(std::span<const Index> col, std::span<const double> val, std::span<const double> x, double b);

}  // namespace detail

/// @param col, val  the row's entries, as many of one as of the other; duplicates count one by one
/// @param x         all of the solution: entry p belongs to x[col[p]]
/// The error of r is about ε² size: 10⁻³² for rows of a few entries.
inline RowSum row_sum(std::span<const Index> col, std::span<const double> val, std::span<const double> x, double b)
{
    constexpr double   least = 0x1p-900;  // of size; the errors of smaller products may underflow
    detail::TwofoldSum sum{.high = b, .low = 0, .size = std::abs(b)};
    for (std::size_t p = 0; p < col.size(); ++p) sum.add(-val[p], x[col[p]]);
    if (sum.size >= least && std::isfinite(sum.size)) return {sum.high + sum.low, sum.size, 0};
    return detail::scaled_row_sum(col, val, x, b);
}

}  // namespace ilux
