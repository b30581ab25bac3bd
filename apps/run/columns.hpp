#pragma once
// Several right-hand sides of one matrix, told as one solve.

#include <vector>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

/// Column by column in their order, made one run: its report is that of the worst column, by exit code and then by residual; its
/// seconds are those of all columns, its decisions those of all, each told once.
void take_columns(std::vector<SolverReport> reports, Run& run);

/// X, k columns of n; NaN for a column without a last iterate, which `decisions` names. Empty where no column has one.
template <Scalar S>
std::vector<S> columns_of_x(Run& run, Index n);

}  // namespace ilux::app
