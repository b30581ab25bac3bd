#pragma once
// Several right-hand sides of one matrix, told as one solve.

#include <span>
#include <vector>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

/// Column by column in their order, made one run: its report is that of the worst column, by exit code and then by
/// residual; its seconds are those of all columns, its decisions those of all, each told once.
void take_columns(std::vector<SolverReport> reports, Run& run);

/// NaN in the place of every column of X without a last iterate, which `decisions` names.
/// @param X  columns of n, as solved  @return false, and nothing is done, where no column has one
template <Scalar S>
bool mark_missing_columns(Run& run, Index n, std::span<S> X);

}  // namespace ilux::app
