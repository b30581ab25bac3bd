#pragma once
// ‖B‖₁ of a matrix known by what it does to vectors.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ilux/base/types.hpp"

namespace ilux::detail {

inline double norm1(std::span<const double> x)
{
    double sum = 0;
    for (const double x_i : x) sum += std::abs(x_i);
    return sum;
}

/// ξ ← s sign(x). @return whether ξ changed
inline bool take_signs(std::span<const double> x, double s, std::span<double> xi)
{
    bool changed = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double sign = x[i] < 0 ? -s : s;
        changed |= sign != xi[i];
        xi[i] = sign;
    }
    return changed;
}

inline Index largest_entry(std::span<const double> x)
{
    const auto at = std::ranges::max_element(x, {}, [](double x_i) { return std::abs(x_i); });
    return static_cast<Index>(at - x.begin());
}

/// s ‖B‖₁ from below, usually within a factor of 3: gradient ascent of ‖B x‖₁ over the unit ball, from corner to corner; then
/// one vector on which the ascent cannot be fooled. Algorithm 4.1 of [higham_88] [hager_84]. Inf where it overflows.
/// At most five products with each of B and Bᵀ, and one more with B.
/// @param x, xi            n ≥ 1, scratch; what they share with the workspace of the products is lost
/// @param apply            (x): x ← B x
/// @param apply_transpose  (ξ, x): x ← Bᵀ ξ
template <class Apply, class ApplyTranspose>
double estimate_norm1(std::span<double> x, std::span<double> xi, double s, Apply&& apply,
                      ApplyTranspose&& apply_transpose)
{
    constexpr int    most_pairs = 5;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto       n = static_cast<Index>(x.size());
    std::ranges::fill(x, s / n);
    std::ranges::fill(xi, 0);
    double estimate = 0;
    Index  corner = -1;
    for (int pair = 0; pair < most_pairs; ++pair) {
        apply(x);
        const double reached = norm1(x);
        if (!std::isfinite(reached)) return infinity;
        const bool higher = reached > estimate;
        estimate = std::max(estimate, reached);
        if (!take_signs(x, s, xi) || !higher) break;
        apply_transpose(std::span<const double>(xi), x);  // the gradient
        const Index next = largest_entry(x);
        if (corner >= 0 && std::abs(x[next]) <= std::abs(x[corner])) break;
        corner = next;
        std::ranges::fill(x, 0);
        x[corner] = s;
    }
    for (Index i = 0; i < n; ++i) x[i] = (i % 2 == 0 ? s : -s) * (1 + (n > 1 ? static_cast<double>(i) / (n - 1) : 0));
    apply(x);
    const double reached = 2 * norm1(x) / (3.0 * n);
    return std::isfinite(reached) ? std::max(estimate, reached) : infinity;
}

}  // namespace ilux::detail
