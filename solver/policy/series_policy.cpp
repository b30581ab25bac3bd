#include "ilux/solver/policy/series_policy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/units.hpp"

namespace ilux {

bool begins_anew(SolverState state, std::optional<Outcome> last)
{
    if (state == SolverState::empty || state == SolverState::analysed) return false;
    return state != SolverState::factored || (last && *last != Outcome::converged);
}

std::string reason_to_switch(const StrategyRecord& now, std::string_view name, const OtherStrategy& other, double left)
{
    constexpr double by_forecast = 0.5, by_measurement = 0.8;
    constexpr double least = 1e-3;  // s; below, measurements are noise, and there is nothing to gain
    const bool       measured = other.record->measured();
    if (!now.measured() || now.seconds < least || (!measured && !other.forecast)) return "";
    const double each = measured ? other.record->seconds : other.forecast->each();
    const double setup = other.forecast ? other.forecast->analyse + other.forecast->factor : 0;
    const double stay = left * now.seconds, change = left * each + setup;
    if (change >= (measured ? by_measurement : by_forecast) * stay) return "";
    return fmt::format(
        "{}: the {} strategy took {} a system as measured, this one {} {}{}, and about {:g} systems are to come",
        other.name, name, time_text(now.seconds), measured ? "took" : "is expected to take", time_text(each),
        setup > 0 ? fmt::format(" after {} of setup", time_text(setup)) : "", left);
}

double systems_left(double promised, double begun)
{
    const double before = begun - 1;
    return promised > 1 ? std::max(promised - before, 1.) : before;
}

Index steps_worth(const FormerLu& lu, Index restart)
{
    constexpr double most = 0.5;    // of a refactorization
    constexpr double least = 1e-3;  // s; below, there is nothing to gain
    if (!(lu.solve > 0) || lu.refactor < least) return 0;
    return static_cast<Index>(std::min<double>(restart, most * lu.refactor / lu.solve));
}

ValuesStep step_for_values(const ValuesFacts& facts)
{
    constexpr Index least = 5;  // steps: an LU of other values that needs fewer is rare
    if (!facts.direct)
        return facts.has_preconditioner && facts.why_refresh.empty() ? ValuesStep::keep_preconditioner
                                                                     : ValuesStep::refresh;
    return facts.lu_may_serve && steps_worth(facts.lu, facts.restart) >= least ? ValuesStep::keep_lu
                                                                               : ValuesStep::refactor;
}

Index most_kept_steps(Index first, const RefreshLimits& limits)
{
    constexpr double least = 5;  // steps more: 1 to 3 is no reason to factor
    const double     factor = limits.refresh_factor;
    // Infinity times 0 steps is never, too.
    const double most = std::max(std::isinf(factor) ? factor : factor * first, first + least);
    return static_cast<Index>(std::min<double>(most, limits.max_steps));
}

Index most_steps_with_kept(Index first, Index max_steps, const RefreshLimits& limits)
{
    constexpr double cheaper = 4;
    return static_cast<Index>(std::min<double>(max_steps, cheaper * most_kept_steps(first, limits)));
}

std::string reason_to_refresh(const PreconditionerUse& use, const RefreshLimits& limits)
{
    if (use.outcome != Outcome::converged) return fmt::format("the system before: {}", name(use.outcome));
    if (use.lacks_rank) return "the former one lacks rank";
    if (use.steps > most_kept_steps(use.first_steps, limits))
        return fmt::format("steps grew from {} to {}", use.first_steps, use.steps);
    return "";
}

bool needs_own_factors(const FormerUse& use)
{
    return use.former && use.outcome != Outcome::converged && use.outcome != Outcome::cancelled && !use.given_up &&
           use.seconds_left > 0;
}

}  // namespace ilux
