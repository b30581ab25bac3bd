#pragma once
// What a solution through LinearSolver reports, as JSON with the keys that other programs may rely on.

#include <nlohmann/json_fwd.hpp>

#include "ilux/engine/report/solver_report.hpp"

namespace ilux {

/// Keys as docs/design/apps.md lists them, but those that only the program knows. Numbers that are not finite become
/// null; times and sizes are those of the attempt whose x is handed out, except seconds.total.
/// @param report  with at least one attempt, as LinearSolver gives it
nlohmann::ordered_json to_json(const SolverReport& report);

/// The key `lu`, of one solution and of a series.
nlohmann::ordered_json lu_json(const LuFacts& lu);
/// The key `estimated_error`; null where nothing is estimated.
nlohmann::ordered_json error_json(const Accuracy& accuracy);

}  // namespace ilux
