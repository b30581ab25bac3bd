#pragma once
// What a LinearSolver tries for a system, in which order: the choice of a strategy, first plans, and what follows a
// failure.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ilux/engine/report/solver_report.hpp"
#include "ilux/solver/policy/choice.hpp"
#include "ilux/solver/policy/coarse_choice.hpp"
#include "ilux/solver/policy/retry.hpp"
#include "ilux/solver/policy/attempt_limits.hpp"

namespace ilux {

/// What of a call bears on the next plan.
struct CallState {
    std::span<const Attempt> tried;             ///< for the same system
    double                   elapsed = 0;       ///< seconds of it
    double                   seconds_left = 0;  ///< of the time limit; infinite without one
    const StopToken&         stop;
};

/// Plans for the systems of one pattern.
template <Scalar S = double>
class Planner {
public:
    /// Both must outlive this.
    Planner(const SolverOptions& options, const CsrView<S>& A) : options_(options), A_(A) {}

    bool automatic() const { return options_.strategy() == SolverMode::automatic; }
    /// Takes the strategy that was asked for, or that a null space allows.
    void obey(bool null_space);
    /// Decides the strategy. @param stored  an analysis that is there, or null
    void          choose(std::shared_ptr<const LuSymbolic> stored, const Ahead& ahead, const StopToken& limited,
                         std::vector<std::string>& decisions);
    const Choice& choice() const { return choice_; }
    AttemptFacts  facts(const CallState& call) const;

    /// The first plan of a strategy.
    Plan first(bool direct, std::vector<std::string>& decisions) const;
    /// Why a plan was chosen for a symmetric A that A no longer is, or "". CG, MINRES and definite factors are, most of
    /// them for a positive diagonal.
    /// @param plan  out: whether A is symmetric but for rounding now  @param bring  called before A's values are looked
    /// at
    std::string no_longer_symmetric(Plan& plan, const std::function<void()>& bring) const;
    /// What follows the tries that failed, or nothing, and then `why_not` says why. After a quick try the choice is
    /// made again, with figures.
    std::optional<Plan> next(const CallState& call, std::vector<std::string>& decisions, std::string& why_not);
    /// Seconds spent on a choice, to be told with the try that follows: they are taken once.
    void   note_seconds(double seconds) { choosing_ = seconds; }
    double take_seconds() { return std::exchange(choosing_, 0); }
    /// Adds what the choice was expected to take, and what it took: once, for the first system.
    void tell_cost(SolverReport& report);

private:
    CoarseGain          gain_of_coarse(Cpu& threads) const;
    void                take_coarse(CoarseGain gain, const SymmetryFacts& facts, Plan& plan,
                                    std::vector<std::string>& decisions) const;
    std::optional<Plan> after_quick_attempt(const CallState& call, std::vector<std::string>& decisions,
                                            std::string& why_not);
    void choose(std::shared_ptr<const LuSymbolic> stored, const ChoiceFacts* estimated, const StopToken& limited,
                std::vector<std::string>& decisions);

    const SolverOptions&       options_;
    const CsrView<S>&          A_;
    Choice                     choice_;
    bool                       null_space_ = false;  // A has one, which was given
    Ahead                      ahead_ = 1;
    std::optional<ChoiceFacts> untold_;        // until the first report
    double                     choosing_ = 0;  // seconds
};

}  // namespace ilux
