#include "ilux/solver/policy/quick_attempt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/wall_clock.hpp"

namespace ilux {

bool leaves_quick_attempt(const SolverOptions& options)
{
    return options.strategy() == SolverMode::automatic && options.retry && options.precond == PrecondOptions{} &&
           options.krylov.stop == StopTest::residual && options.krylov.precision == KrylovPrecision::in_double;
}

double worth_a_quick_attempt(const ChoiceFacts& facts, const Rates& rates)
{
    constexpr double      least = 0.5;  // seconds; below, there is little to gain
    constexpr double      a_row = 16;   // entries; ILU(0) of longer rows takes long, and mostly fails
    constexpr double      waves = 1.5;  // steps to cross the graph once
    constexpr double      share = 0.5;
    const IterationFacts& A = facts.iteration;
    const Expected        expected = expect(facts, rates);
    const double          chosen = std::min(expected.direct, expected.iteration);
    if (facts.place.gpu || facts.ahead.systems * facts.ahead.columns > 1 || chosen < least) return 0;
    if (!A.positive || A.hermitian || A.jacobi || A.entries > (a_row + 1) * A.rows || A.radius == 0) return 0;
    return seconds_of_ilu0(A, waves * A.radius, facts.place, rates) <= share * chosen ? chosen : 0;
}

bool QuickProgress::goes_on(Index step, double residual, double elapsed)
{
    if (given_up_ || converged_) return !given_up_;
    converged_ = residual <= rtol_;
    if (step != std::ssize(best_)) return true;  // an exact residual of a step that was told before
    const double now = std::log(std::max(residual, rtol_));
    if (best_.empty()) begun_ = elapsed;
    best_.push_back(best_.empty() ? now : std::min(best_.back(), now));
    given_up_ = !converged_ && !promises(elapsed);
    return !given_up_;
}

bool QuickProgress::promises(double elapsed) const
{
    constexpr double look = 0.1, early = 0.2, most = 0.6;
    constexpr int    least = 10;  // steps, of which the first ones say little
    const auto       step = std::ssize(best_) - 1, half = step / 2;
    if (elapsed <= look * seconds_ || step < least) return true;
    if (elapsed > most * seconds_) return false;
    const double gained = best_[half] - best_[step], missing = best_[step] - std::log(rtol_);
    if (!(gained > 0)) return false;
    const double to_come = missing * double(step - half) / gained;
    const double in_doubt = elapsed <= early * seconds_ ? 2 : 1;  // the first steps are slow to come by
    return elapsed + (elapsed - begun_) / double(step) * to_come <= in_doubt * most * seconds_;
}

void attempt_quickly(const AttemptFacts& facts, const AttemptListener& listener, const StopToken& stop,
                     const StopToken&                                                                limited,
                     const std::function<void(const AttemptListener& heard, const StopToken& stop)>& iterate,
                     Attempt&                                                                        tried)
{
    constexpr double most_slower = 5;
    const Choice&    choice = facts.choice;
    const double     forecast = seconds_of_ilu0(choice.facts->iteration, 0, choice.facts->place, facts.rates);
    const double     slower = std::clamp(tried.seconds_factor / forecast, 1.0, most_slower);
    const double     seconds = slower * tried.plan.quick;

    const WallClock clock;
    QuickProgress   progress(facts.options.krylov.rtol, seconds);
    AttemptListener heard = listener;
    heard.on_progress = [&](const Progress& now) {
        if (listener.on_progress) listener.on_progress(now);
        progress.goes_on(now.done, now.residual, tried.seconds_factor + clock.seconds());
    };
    iterate(heard, limited.within(seconds).asking([&] { return progress.given_up(); }));
    const Outcome outcome = tried.report.outcome;
    const bool    ended = outcome == Outcome::cancelled || outcome == Outcome::time_limit;
    if (!ended || stop.stopped() || !(facts.seconds_left > clock.seconds())) return;
    tried.report.outcome = Outcome::time_limit;
    tried.given_up = true;
    tried.explanation =
        fmt::format("{} steps of BiCGStab with ILU(0) did not promise to be worth it", tried.report.steps);
}

}  // namespace ilux
