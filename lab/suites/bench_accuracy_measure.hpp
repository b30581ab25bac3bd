#pragma once
// Systems of the suite `accuracy`, solved by several methods one after another, and every x beside the truth.

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ilux/apps/compare/timings.hpp"
#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/lab/suites/truth.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux::app {

/// The systems of one path: a series, a file with the right-hand side NAME_b.mtx beside NAME.mtx, or a gallery problem.
class AccuracyInput {
public:
    /// @param rhs  auto (what is there, else A·1) or as SequenceInput and load_problem take it  @throws as these
    AccuracyInput(const std::string& path, const std::string& rhs);

    Index                   systems() const { return series_ ? series_->systems() : 1; }
    const std::string&      rhs() const { return series_ ? series_->rhs() : problem_.rhs; }
    void                    read(Index k);
    const CsrView<double>&  A() const { return series_ ? series_->A() : problem_.A; }
    std::span<const double> b() const { return series_ ? series_->b() : problem_.b; }

private:
    std::optional<SequenceInput<>> series_;
    Problem<>                      problem_;
};

/// A step is one system by one method: "7:gmres"; the truth is a step, too.
struct AccuracyStep {
    Index       system = 0;
    std::string what;           ///< truth, or a MethodChoice
    bool        judged = true;  ///< false: the truth is known not to be had

    std::string text() const;
};
/// @throws InvalidOption
AccuracyStep parse_accuracy_step(const std::string& text);
/// A truth that was ended by force is not sought again by the process that goes on with the steps left.
void leave_unjudged(const AccuracyStep& lost, std::vector<std::string>& left);

/// The truth of a system as reported: {known, counting, why_not, steps, correction, movement, seconds}.
nlohmann::ordered_json truth_json(const Truth& truth, double seconds);

/// What a method made of a system. @param truth  null: not known
nlohmann::ordered_json method_json(std::string_view method, const SolverReport& report, const Truth* truth);

/// Measures some systems of one path, step by step, one LinearSolver a method through all of them. Hands out {"matrix":
/// {n, nnz, rhs}} and the steps as run_steps does; {"error": "..."} before the first step.
void measure_accuracy(const SolveOptions& options, const std::string& path, Index systems,
                      const std::vector<std::string>& steps, const TakeJson& take);

}  // namespace ilux::app
