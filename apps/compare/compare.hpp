#pragma once
// `ilux compare`: what is run, and how the runs of other processes become rows.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/compare/timings.hpp"
#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/solver/compare/measure_strategy.hpp"

namespace ilux::app {

/// Why it cannot take complex values, or "".
std::string why_no_complex(const Strategy& strategy);

/// Those of `ilux compare`: the right-hand side is what a series brings along, else A·1.
SolveOptions compare_defaults();

/// A system by its name, as load_any_problem; or the first system of a folder as `ilux sequence` takes it, whose values
/// are real.
/// @param rhs  auto, A1, ones, random:SEED or a file  @throws as load_any_problem and SequenceInput
AnyProblem load_first_system(const std::string& path, const std::string& rhs);

/// measure_strategy of a system by its name; {"error": "..."} where it fails.
void measure_named(const Strategy& strategy, const std::string& path, const SolveOptions& options, Index repeats,
                   const TakeJson& take);

/// {"matrix", "n", "nnz", "complex", "symmetric", "hermitian", "rhs"}, and what strategy_row has.
nlohmann::ordered_json row_head(const std::string& matrix, const ProblemFacts& problem, const Strategy& strategy);

/// Adds what a process hands out, an object a line. @param seconds  from its first line on, after which it is killed;
/// 0: never
void run_for(nlohmann::ordered_json& row, const std::string& program, const std::vector<std::string>& arguments,
             double seconds);

/// Once the process has ended. A row that has its outcome keeps it. @param why  Ending::words  @param killed  by a
/// signal
void conclude(nlohmann::ordered_json& row, const std::string& why, bool killed);

}  // namespace ilux::app
