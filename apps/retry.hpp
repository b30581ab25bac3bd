#pragma once
// After a failure: what to try next, and when to stop trying.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/apps/attempt.hpp"

namespace ilux::app {

/// The first try. A is symmetric with positive diagonal → CG, otherwise GMRES, where the method is left to us.
Plan first_plan(const SolveOptions& options, bool symmetric, bool positive_diagonal,
                std::vector<std::string>& decisions);

/// The next try after all of `tried` failed, or nothing, and then `why_not` says why. In turn:
/// CG chosen by us gives way to GMRES; a simpler preconditioner to the multilevel ILU; then τ and τ_S are divided by
/// 10, three times, and from the second time on κ is doubled as well; last, where n ≤ 10⁴, nothing is dropped at all.
/// A direct solution whose backward error stayed too large is scaled by a matching (lu.scaling = matching); then, with the scaling
/// asked for, it takes the largest pivots (lu.pivot_tol = 1).
/// No further try after running out of memory or time, at a residual of rounding size, or when a try as long as the last one
/// would pass the time limit.
/// @param elapsed  seconds since the first try began
std::optional<Plan> next_plan(const SolveOptions& options, std::span<const Attempt> tried, double elapsed,
                              std::string& why_not);

/// The one whose x is handed out: converged, else the smallest finite residual.
std::size_t best_attempt(std::span<const Attempt> tried);

}  // namespace ilux::app
