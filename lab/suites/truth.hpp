#pragma once
// The solution itself, as exact as it can be had, and how much of it can be known: what others' answers are judged by.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::app {

/// An LU's solution, refined with residuals in twice the precision [demmel_06] until the corrections no longer halve.
struct Truth {
    /// A correction above this share of a component leaves it unknown.
    static constexpr double least_correction = 1e-4;
    /// So does a rounding error of each entry of A and b that moves it by more than this share.
    static constexpr double least_movement = 1e-3;

    std::string         why_not;     ///< why there is none, or ""; then all below is empty
    std::vector<double> x, rest;     ///< n each; the solution is x + rest, unevaluated
    std::vector<double> correction;  ///< n; |last correction|, taken or not
    /// n; how far the component moves when A and b are rounded: the standard deviation, in a small sample
    /// [kenney_laub_reese_98]
    std::vector<double> movement;
    double              largest = 0;  ///< ‖x‖_∞
    Index               steps = 0;    ///< of refinement

    /// Whether component i is more than rounding errors of others as a rule.
    bool counts(Index i) const;
    /// Whether its leading digits can be known.
    bool  knows(Index i) const;
    bool  knows_norm() const;  ///< the same of the largest components
    Index counting() const;
    Index known() const;  ///< of those that count
};

/// By the library's own LU with its default options. @param seconds  for the factorization, but not its analysis; 0: no
/// limit
Truth find_truth(const CsrView<double>& A, std::span<const double> b, double seconds);

/// How wrong an x is beside the truth.
struct TrueError {
    static constexpr std::array<double, 3> bounds{1e-2, 1e-4, 1e-6};

    double               error = 0;        ///< ‖x − x*‖_∞ / ‖x*‖_∞
    double               worst_error = 0;  ///< max_i |x − x*|_i / |x*|_i over known components that count
    Index                worst = -1;       ///< the component where that is, from 0
    std::array<Index, 3> off{};            ///< how many of them are off by more than bounds[k] of themselves
};
/// @param x  n; NaN counts as infinitely wrong
TrueError true_error(const Truth& truth, std::span<const double> x);

}  // namespace ilux::app
