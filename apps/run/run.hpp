#pragma once
// A finished solve, as the reports see it.

#include <limits>
#include <optional>

#include "ilux/apps/draw/structure.hpp"
#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/solver/report/solver_report.hpp"

namespace ilux::app {

struct Run : SolverReport {
    SolveOptions             options;            ///< as given
    double                   forward_error = 0;  ///< NaN when unknown
    std::optional<Structure> structure;          ///< of the result's factors, where asked for
};

}  // namespace ilux::app
