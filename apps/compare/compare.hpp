#pragma once
// `ilux compare`: what is run, how one run of ours is measured, and how every answer is judged.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/measure/bench_measure.hpp"

namespace ilux::app {

/// A strategy or program that solves a system, where it runs, and CUSP's preconditioner.
struct Strategy {
    std::string name;     ///< direct, iterative or cusp
    std::string precond;  ///< of cusp: CUSP's name of it; else ""
    std::string device;   ///< cpu or gpu

    /// direct:cpu, cusp:gpu:diagonal.
    std::string step() const { return name + ":" + device + (precond.empty() ? "" : ":" + precond); }
};

/// Why it cannot take complex values, or "".
std::string why_no_complex(const Strategy& strategy);

inline constexpr Index default_repeats = 3;

/// Those of `ilux compare`: the right-hand side is what a series brings along, else A·1.
SolveOptions compare_defaults();

/// A system by its name, as load_any_problem; or the first system of a folder as `ilux sequence` takes it, whose values are real.
/// @param rhs  auto, A1, ones, random:SEED or a file  @throws as load_any_problem and SequenceInput
AnyProblem load_first_system(const std::string& path, const std::string& rhs);

/// Measures one strategy of ours and hands out, as it comes, objects of which later ones add to earlier ones: {"begin": step} once
/// all is read and the device is warm, {"seconds": {...}}, {"outcome", "relative_residual", ...}; or {"error": "..."}.
void measure_strategy(const Strategy& strategy, const std::string& path, const SolveOptions& options, Index repeats,
                      const TakeJson& take);

/// Whether x solves the system: the same question to every run. Sets relative_residual and backward_error, and outcome
/// converged where ‖b − A x‖₂ ≤ rtol·‖b‖₂; where the run itself said so and it does not hold, stagnated, with a detail.
template <Scalar S>
void judge(nlohmann::ordered_json& row, const Problem<S>& problem, const std::vector<NotDeduced<S>>& x, double rtol);

/// {"matrix", "n", "nnz", "complex", "symmetric", "hermitian", "rhs", "strategy", "method", "precond", "device"}, and null for all that a run may tell.
nlohmann::ordered_json row_head(const std::string& matrix, const ProblemFacts& problem, const Strategy& strategy);

/// Adds what was handed out; "seconds" part by part, and setup and total from them.
void add_finding(nlohmann::ordered_json& row, const nlohmann::ordered_json& finding);

/// Adds what a process hands out, an object a line. @param seconds  from its first line on, after which it is killed; 0: never
void run_for(nlohmann::ordered_json& row, const std::string& program, const std::vector<std::string>& arguments,
             double seconds);

/// Once the process has ended. A row that has its outcome keeps it. @param why  Ending::words  @param killed  by a signal
void conclude(nlohmann::ordered_json& row, const std::string& why, bool killed);

}  // namespace ilux::app
