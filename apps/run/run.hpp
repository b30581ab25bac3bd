#pragma once
// A finished solve, as the reports see it.

#include <limits>
#include <optional>
#include <vector>

#include "ilux/apps/draw/structure.hpp"
#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/engine/report/solver_report.hpp"

namespace ilux::app {

/// What became of one of several right-hand sides.
struct ColumnReport {
    Index        column = 0;  ///< counted from 0
    SolverReport report;
};

/// One solve; of several right-hand sides the report of the worst.
struct Run : SolverReport {
    SolveOptions              options;            ///< as given
    double                    forward_error = 0;  ///< NaN when unknown
    std::optional<Structure>  structure;          ///< of the result's factors, where asked for
    std::vector<ColumnReport> columns = {};       ///< of several right-hand sides: all, the worst first
};

}  // namespace ilux::app
