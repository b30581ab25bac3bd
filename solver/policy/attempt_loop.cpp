#include "ilux/solver/policy/attempt_loop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/solver/policy/retry.hpp"

namespace ilux {

void AttemptLoop::analysed(bool single)
{
    single_ = single;
    state_ = next_state(state_, SolverEvent::analysis);
}

void AttemptLoop::begin_values()
{
    tries_.clear();
    stopped_.clear();
    singular_ = false;
    state_ = next_state(state_, SolverEvent::new_values);
}

void AttemptLoop::begin(const Plan& plan) { current_ = steps_.begin(plan); }

Attempt AttemptLoop::fresh() const
{
    Attempt tried = current_;
    tried.x = steps_.guess();
    return tried;
}

bool AttemptLoop::renewed(bool factored)
{
    state_ = next_state(state_, factored ? SolverEvent::attempt_factored : SolverEvent::attempt_failed);
    return factored;
}

bool AttemptLoop::factor(std::optional<Plan> plan)
{
    drop();
    for (; plan; plan = next()) {
        begin(*plan);
        if (renewed(steps_.factor(current_))) return true;
        end(fresh());
    }
    state_ = next_state(state_, SolverEvent::out_of_plans);
    return false;
}

void AttemptLoop::solve(const std::function<void(Attempt& tried)>& one)
{
    while (factored()) {
        Attempt tried = fresh();
        one(tried);
        const bool converged = tried.converged();
        end(std::move(tried));
        current_.forget_seconds();
        if (converged) return;
        const auto plan = next();
        if (!plan) return;  // what there is serves another b
        factor(plan);
    }
}

std::optional<Plan> AttemptLoop::next()
{
    const Attempt& last = tries_.back();
    stopped_.clear();
    std::optional<Plan> plan = steps_.next(tries_, stopped_);
    if (!plan) return plan;
    const bool             told = last.plan.direct() || last.plan.quick > 0 || !last.failure.empty();
    const std::string      why = told ? last.why() : "";
    const std::string_view ended = last.given_up ? "given up" : name(last.report.outcome);
    decisions_.push_back(why.empty()
                             ? fmt::format("{} after {} steps: trying {}", ended, last.report.steps, plan->change)
                             : fmt::format("{}: {}; trying {}", ended, why, plan->change));
    return plan;
}

void AttemptLoop::end(Attempt tried)
{
    if (ended_) ended_(tried);
    singular_ |= tried.report.outcome == Outcome::singular;
    note(tried.decisions);
    if (!tried.remark.empty() && single_) decisions_.push_back(tried.remark);
    tries_.push_back(std::move(tried));
}

void AttemptLoop::note(const std::vector<std::string>& decisions)
{
    for (const std::string& decision : decisions)
        if (std::ranges::count(decisions_, decision) == 0) decisions_.push_back(decision);
}

SolverReport AttemptLoop::tell(StopTest asked)
{
    SolverReport report;
    if (tries_.empty()) tries_.push_back(fresh());  // told again: there are no factors
    if (singular_) accept_what_can_be_known(asked, tries_);
    report.attempts = std::exchange(tries_, {});
    report.best = best_attempt(report.attempts);
    report.decisions = std::exchange(decisions_, {});
    report.stopped = std::exchange(stopped_, "");
    report.seconds = budget_.elapsed();
    return report;
}

/// Tries that have left factors, or a failure that was told, stay.
void AttemptLoop::roll_back(Input input, std::size_t tries_before) noexcept
{
    const bool of_values = input == Input::values, dropped = state_ == SolverState::dropped;
    const auto stay = of_values || dropped ? 0 : std::min(tries_before, tries_.size());
    tries_.erase(tries_.begin() + static_cast<std::ptrdiff_t>(stay), tries_.end());
    stopped_.clear();
    // A failure that was never told is none.
    if (of_values && state_ == SolverState::failed) state_ = next_state(state_, SolverEvent::new_values);
}

FactorReport factor_report(const AttemptLoop& loop)
{
    const Attempt& current = loop.current();
    return {.outcome = loop.factored() ? Outcome::converged : current.report.outcome,
            .method = current.plan.method,
            .action = current.action,
            .detail = loop.factored() ? "" : current.why(),
            .seconds = loop.budget().elapsed()};
}

void run_guarded(Attempt& tried, const std::function<void(Attempt&)>& work)
{
    const WallClock clock;
    try {
        if (const auto why = lack_of_memory([&] { work(tried); })) tried.fail(Outcome::out_of_memory, *why);
    } catch (const OutOfTime& late) {
        tried.fail(Outcome::time_limit, late.what());
    } catch (const Cancelled& told) {
        tried.fail(Outcome::cancelled, told.what());
    }
    tried.seconds += clock.seconds();
}

}  // namespace ilux
