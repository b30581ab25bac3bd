#pragma once
// What a solution through LinearSolver reports.

#include <optional>
#include <string>
#include <vector>

#include "ilux/engine/machine/forecast.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux {

/// What became of new numbers.
struct FactorReport {
    Outcome      outcome = Outcome::converged;  ///< converged: A x = b can be solved
    MethodChoice method = MethodChoice::gmres;  ///< of the last try
    SolverAction action = SolverAction::none;
    std::string  detail;  ///< why there are no factors, or ""
    double       seconds = 0;

    bool ready() const { return outcome == Outcome::converged; }
};

/// What became of a solution: the outcome, all tries, every decision.
struct [[nodiscard]] SolverReport {
    std::vector<Attempt>       attempts;   ///< those that failed in factoring included
    std::size_t                best = 0;   ///< the one whose x is handed out
    std::vector<std::string>   decisions;  ///< since the last report
    std::string                stopped;    ///< after a failure: why there was no further attempt
    std::optional<ChoiceFacts> choice;     ///< mode auto, of the first report: by what it chose
    double taken_off = 0;  ///< share of ‖b‖₂ taken off b before the residuals, as no x can give it
    double seconds = 0;    ///< of all attempts
    bool   begun = true;   ///< false: one of several columns, after one that was cancelled or late

    const Attempt& result() const { return attempts[best]; }
    /// The outcome of the result; where it failed, `cancelled` if a try was, or `singular` if an LU found no pivots or
    /// the preconditioner lacks rank.
    Outcome outcome() const;
    bool    converged() const { return outcome() == Outcome::converged; }
    double  relative_residual() const { return result().report.relative_residual; }  ///< recomputed from A, b and x
    Index   steps() const { return result().report.steps; }
    /// Why that is the outcome, in the words of whoever knew; or "".
    std::string why() const;
};

/// Every choice made for the user: of the solver, then of the result's factors.
std::vector<std::string> all_decisions(const SolverReport& report);

}  // namespace ilux
