#include "ilux/engine/report/solver_report.hpp"

#include <algorithm>

namespace ilux {
namespace {

/// The first try that ended so, if one did.
const Attempt* one_that_is(Outcome outcome, const std::vector<Attempt>& attempts)
{
    const auto one = std::ranges::find(attempts, outcome, [](const Attempt& a) { return a.report.outcome; });
    return one == attempts.end() ? nullptr : &*one;
}

}  // namespace

Outcome SolverReport::outcome() const
{
    const Attempt& tried = result();
    const auto     n = static_cast<Index>(tried.x.size());
    const bool lost_rank = tried.mlilu && (tried.mlilu->deficiency > 0 || tried.mlilu->structural_rank.value_or(n) < n);
    const Outcome outcome = tried.report.outcome;
    if (outcome == Outcome::converged) return outcome;
    if (one_that_is(Outcome::cancelled, attempts)) return Outcome::cancelled;
    if (outcome == Outcome::out_of_memory || outcome == Outcome::time_limit) return outcome;
    return lost_rank || one_that_is(Outcome::singular, attempts) ? Outcome::singular : outcome;
}

std::string SolverReport::why() const
{
    const Outcome  outcome = this->outcome();
    const bool     of_another = outcome == Outcome::singular || outcome == Outcome::cancelled;
    const Attempt* one = of_another ? one_that_is(outcome, attempts) : nullptr;
    return (one ? *one : result()).why();
}

std::vector<std::string> all_decisions(const SolverReport& report)
{
    const Attempt&           result = report.result();
    std::vector<std::string> all = report.decisions;
    if (result.mlilu) all.insert(all.end(), result.mlilu->decisions.begin(), result.mlilu->decisions.end());
    if (result.lu) all.insert(all.end(), result.lu->symbolic.decisions.begin(), result.lu->symbolic.decisions.end());
    return all;
}

}  // namespace ilux
