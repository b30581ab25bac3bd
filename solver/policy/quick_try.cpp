#include "ilux/solver/policy/quick_try.hpp"

#include <algorithm>
#include <cmath>

namespace ilux {

bool leaves_quick_try(const SolverOptions& options)
{
    return options.strategy() == SolverMode::automatic && options.retry && options.precond == PrecondOptions{} &&
           options.krylov.stop == StopTest::residual && options.krylov.precision == KrylovPrecision::in_double;
}

double worth_a_quick_try(const ChoiceFacts& facts, const Rates& rates)
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

}  // namespace ilux
