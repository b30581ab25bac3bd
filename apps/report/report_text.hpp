#pragma once
// A finished solve as a person reads it.

#include <string>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

/// "converged in 23 steps, residual 8.4e-09": the whole report under --quiet, and the heart of the long one. Of several
/// right-hand sides how many converged stands before that of the worst.
std::string outcome_line(const Run& run);
/// The outcome of one right-hand side in a line.
std::string outcome_line(const SolverReport& report);

/// @param colour  whether the outcome may be green or red
std::string text_report(const Run& run, const ProblemFacts& problem, bool colour);

}  // namespace ilux::app
