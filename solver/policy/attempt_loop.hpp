#pragma once
// Attempt after attempt, until one succeeds or no plan is left.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ilux/solver/policy/solver_state.hpp"
#include "ilux/solver/policy/time_budget.hpp"
#include "ilux/engine/report/attempt.hpp"
#include "ilux/engine/report/solver_report.hpp"

namespace ilux {

/// What an AttemptLoop asks of its owner. Lack of memory or time, or cancellation, is an outcome of a try; whatever
/// else they throw ends the call.
struct AttemptSteps {
    /// A try that is to begin: its plan, and an x of the right type without values.
    std::function<Attempt(const Plan&)> begin;
    /// The x that a solve starts from. It is made when a solve begins: for a large system making it takes as long as a
    /// pass over A.
    std::function<Solution()> guess;
    /// Makes factors by tried.plan. @return whether there are any; where not, `tried` says why
    std::function<bool(Attempt& tried)> factor;
    /// The plan after all these failed; or nothing, and then `why_not` says why.
    std::function<std::optional<Plan>(std::span<const Attempt> tried, std::string& why_not)> next;
};

/// Plans, tries, falls back to the next plan; and rolls itself back where an exception breaks a call off. Holds the
/// state that this leads to, and what is to be told of the tries.
class AttemptLoop {
public:
    /// What a call brings: values, as factor() and refactor() do, or a right-hand side, as solve() does.
    enum class Input { values, rhs };
    class Call;

    explicit AttemptLoop(AttemptSteps steps) : steps_(std::move(steps)) {}

    SolverState state() const { return state_; }
    bool        factored() const { return state_ == SolverState::factored; }
    /// A try has ended since the analysis, well or not.
    bool           tried_any() const { return state_ != SolverState::empty && state_ != SolverState::analysed; }
    Attempt&       current() { return current_; }  ///< as far as its factors; what a solve starts from
    const Attempt& current() const { return current_; }
    /// The current try with the x that a solve starts from.
    Attempt                  fresh() const;
    std::span<const Attempt> tried() const { return tries_; }
    TimeBudget&              budget() { return budget_; }
    const TimeBudget&        budget() const { return budget_; }

    /// Who hears of every try as soon as it has ended.
    void listen(std::function<void(const Attempt&)> ended) { ended_ = std::move(ended); }
    const std::function<void(const Attempt&)>& listener() const { return ended_; }

    /// @param single  no other system is to come, and remarks on a solution are decisions
    void analysed(bool single);
    /// The former values and their tries are over.
    void begin_values();
    /// From now on this plan; nothing was tried by it yet.
    void begin(const Plan& plan);
    /// The current try has made factors, or found that former ones serve; or it has failed. @return factored()
    bool renewed(bool factored);
    void drop() { state_ = next_state(state_, SolverEvent::drop); }

    /// Factors by this plan, or by the first of its followers that can. @return whether there are factors
    bool factor(std::optional<Plan> plan);
    /// Solves with what there is, and where that is not enough with other factors. Without any it tries nothing.
    /// @param one  solves with the factors at hand; may replace them through drop() and renewed()
    void solve(const std::function<void(Attempt& tried)>& one);
    /// What follows the tries that failed.
    std::optional<Plan> next();
    /// A try is over, well or not.
    void end(Attempt tried);
    void decide(std::string decision) { decisions_.push_back(std::move(decision)); }
    /// Adds the decisions that were not told yet.
    void note(const std::vector<std::string>& decisions);

    /// All tries since the last report, and what was decided; they are forgotten.
    SolverReport tell(StopTest asked);

private:
    void roll_back(Input input, std::size_t tries_before) noexcept;

    AttemptSteps                        steps_;
    std::function<void(const Attempt&)> ended_;
    SolverState                         state_ = SolverState::empty;
    bool                                single_ = true;
    Attempt                             current_;
    std::vector<Attempt>                tries_;  // since the last report
    std::vector<std::string>            decisions_;
    std::string                         stopped_;           // why there was no further try, or ""
    bool                                singular_ = false;  // so a try has found the values there are
    TimeBudget                          budget_;
};

/// A call of the user's. What it tried is forgotten unless it was done().
class AttemptLoop::Call {
public:
    Call(AttemptLoop& loop, Input input) : loop_(loop), input_(input), tries_(loop.tries_.size())
    {
        loop_.budget_.enter();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call()
    {
        if (!done_) loop_.roll_back(input_, tries_);
    }
    void done()
    {
        loop_.budget_.leave();
        done_ = true;
    }

private:
    AttemptLoop& loop_;
    Input        input_;
    std::size_t  tries_;  // that there were
    bool         done_ = false;
};

/// How the values that came last were factored.
FactorReport factor_report(const AttemptLoop& loop);

/// Does `work` on a try. Lack of memory or time, or cancellation, is the outcome; its seconds are the try's.
void run_guarded(Attempt& tried, const std::function<void(Attempt&)>& work);

}  // namespace ilux
