#pragma once
// ‖B‖₁ of a matrix known by what it does to vectors.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux::detail {

template <class S>
double norm1(std::span<S> x)
{
    double sum = 0;
    for (const S x_i : x) sum += std::abs(x_i);
    return sum;
}

/// s sign(x), of complex numbers s x / |x|; s where x = 0
template <class S>
S scaled_sign(S x, double s)
{
    if constexpr (is_complex<S>) return x == S(0) ? S(s) : s * (x / std::abs(x));
    else return x < 0 ? -s : s;
}

/// ξ ← s sign(x). @return whether ξ changed
template <class S>
bool take_signs(std::span<S> x, double s, std::span<S> xi)
{
    bool changed = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const S sign = scaled_sign(x[i], s);
        changed |= sign != xi[i];
        xi[i] = sign;
    }
    return changed;
}

template <class S>
Index largest_entry(std::span<S> x)
{
    const auto at = std::ranges::max_element(x, {}, [](S x_i) { return std::abs(x_i); });
    return static_cast<Index>(at - x.begin());
}

/// s ‖B‖₁ from below, usually within a factor of 3: gradient ascent of ‖B x‖₁ over the unit ball, from corner to
/// corner; then one vector on which the ascent cannot be fooled. Algorithm 4.1 of [higham_88] [hager_84]. Inf where it
/// overflows. At most five products with each of B and Bᴴ, and one more with B.
/// @param x, xi            n ≥ 1, scratch; what they share with the workspace of the products is lost
/// @param apply            (x): x ← B x
/// @param apply_adjoint  (ξ, x): x ← Bᴴ ξ
template <class S = double, class Apply, class ApplyAdjoint>
double estimate_norm1(std::span<NotDeduced<S>> x, std::span<NotDeduced<S>> xi, double s, Apply&& apply,
                      ApplyAdjoint&& apply_adjoint)
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
        apply_adjoint(std::span<const S>(xi), x);  // the gradient
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
