#pragma once
// One try at a system by a direct solution.

#include "ilux/apps/attempt.hpp"

namespace ilux::app {

/// Analyses, factors, solves and refines. A singular matrix, lack of memory or time and a backward error that
/// stays too large are outcomes. @param rtol  see lu_verdict
/// @param time_left  seconds after which a factorization under way is given up
/// @param keep_structure  of the factors, which costs a pass or two over them
Attempt run_lu_attempt(Machine& machine, const Problem& problem, const Plan& plan, double rtol, double time_left,
                       bool keep_structure);

}  // namespace ilux::app
