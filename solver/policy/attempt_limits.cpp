#include "ilux/solver/policy/attempt_limits.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/units.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/solver/policy/retry.hpp"

namespace ilux {
namespace {

/// Whether an LU was tried whose pivots failed.
bool pivots_are_left(const AttemptFacts& facts)
{
    return facts.choice.facts && std::ranges::any_of(facts.tried, &Attempt::pivots_left);
}

/// How often an iteration may take what LU is expected to: twice where next to nothing speaks against it, as more than
/// was expected of it is the machine's doing then, and LU's forecast is no more certain. Rounds of a GPU may stall
/// where rows are not dominant, and the host's setup takes far longer.
double patience(const AttemptFacts& facts)
{
    constexpr double sure = 0.1;
    if (!facts.choice.facts) return 1;
    const IterationFacts& iteration = facts.choice.facts->iteration;
    return odds_of_failure(iteration) <= sure && (iteration.rounds || !iteration.gpu_rounds) ? 2 : 1;
}

/// Seconds of pivots among all rows by entries.
double seconds_of_other_pivots(const AttemptFacts& facts)
{
    LuWork by_entries = facts.choice.facts->lu;
    by_entries.matched = true;  // pivots leave the diagonal
    return seconds_by_entries(by_entries, facts.rates);
}

/// Steps expected with the diagonal, where that comes first; else 0.
double steps_of_the_diagonal(const AttemptFacts& facts)
{
    const auto& by_diagonal = facts.choice.by_diagonal;
    return by_diagonal && facts.tried.empty() ? steps_by_the_diagonal(*by_diagonal) : 0;
}

}  // namespace

double seconds_of_lu(const AttemptFacts& facts)
{
    return pivots_are_left(facts) ? seconds_of_other_pivots(facts) : facts.choice.lu->analyse + facts.choice.lu->factor;
}

bool other_strategy_open(const AttemptFacts& facts, bool direct)
{
    const auto other = [&](const Attempt& one) { return one.plan.direct() != direct && !one.pivots_left; };
    return facts.automatic() && facts.options.retry && facts.choice.lu && (direct || facts.choice.direct_possible) &&
           std::ranges::none_of(facts.tried, other);
}

double share_of_time(const AttemptFacts& facts, bool direct)
{
    constexpr double certain = 1.5;  // of what is expected of an LU, within which nearly all stay
    const double     left = facts.seconds_left;
    if (!other_strategy_open(facts, direct)) return left;
    const double other = direct ? facts.choice.iterative.of(1) : seconds_of_lu(facts);
    if (other > left / 2) return left;
    const double own = direct ? certain * seconds_of_lu(facts) : 0;
    return std::min(left, std::max(left / 2, own));
}

double seconds_to_factor(const AttemptFacts& facts, bool direct)
{
    constexpr double least = 0.1;  // of forecasts, below which they say little
    const double     share = share_of_time(facts, direct);
    if (!other_strategy_open(facts, direct)) return share;
    const double lu = seconds_of_lu(facts), iterative = facts.choice.iterative.of(1), times = patience(facts);
    const double mistaken = direct                   ? std::max(4 * lu, 3 * iterative)
                            : times > 1              ? times * std::max(lu, 2 * iterative)
                            : pivots_are_left(facts) ? std::max(lu, 2 * iterative)  // nothing else is as good
                                                     : std::max(std::min(lu, 2 * iterative), 0.5 * lu);
    const double most = std::max(least, mistaken);
    return most + (direct ? iterative : lu) <= facts.seconds_left ? most : share;
}

Index most_steps(const AttemptFacts& facts, double fill, Offset nnz, bool gpu)
{
    constexpr double mistaken = 2.5, likely = 1.5;  // of the steps that the diagonal is expected to need
    const double     by_diagonal = steps_of_the_diagonal(facts), all = facts.options.krylov.max_steps;
    const double     most = by_diagonal > 0 ? std::min(all, mistaken * by_diagonal) : all;
    if (!other_strategy_open(facts, false)) return static_cast<Index>(most);
    const double seconds = seconds_of_step((1 + fill) * double(nnz), {.gpu = gpu}, facts.rates);
    const double steps = patience(facts) * seconds_of_lu(facts) / seconds;
    return static_cast<Index>(
        std::min(most, std::max({steps, 2.0 * facts.options.krylov.restart, likely * by_diagonal})));
}

bool may_take_other_pivots(const AttemptFacts& facts)
{
    if (!other_strategy_open(facts, true) || !facts.choice.facts) return true;
    return seconds_of_other_pivots(facts) <= facts.choice.iterative.of(1);
}

void note_given_up(const AttemptFacts& facts, Attempt& tried)
{
    if (tried.report.outcome != Outcome::time_limit || !facts.choice.lu || facts.seconds_left <= 0) return;
    const double other = tried.plan.direct() ? facts.choice.iterative.of(1) : seconds_of_lu(facts);
    tried.given_up = true;
    tried.failure +=
        fmt::format(", as {} is expected to take {}", tried.plan.direct() ? "an iteration" : "LU", time_text(other));
}

std::string why_put_off(const AttemptFacts& facts, const Attempt& made)
{
    const auto by_lu = [](const Attempt& one) { return one.plan.direct(); };
    if (!facts.automatic() || !facts.options.retry || !facts.choice.direct_possible || !made.mlilu) return "";
    if (std::ranges::any_of(facts.tried, by_lu)) return "";
    const std::string why = why_hopeless(*made.mlilu);
    return why.empty() ? why : why + "; LU is tried before that iteration";
}

}  // namespace ilux
