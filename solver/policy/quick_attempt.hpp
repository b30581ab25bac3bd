#pragma once
// A first try by ILU(0), before what was chosen: it takes next to nothing to begin, may be many times faster, and ends
// as soon as it does not promise to be.

#include <atomic>
#include <functional>
#include <vector>

#include "ilux/base/types.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/precond_maker.hpp"
#include "ilux/solver/policy/attempt_limits.hpp"

namespace ilux {

/// Whether these options leave such a try open: method and preconditioner are ours to choose, and another try may
/// follow.
bool leaves_quick_attempt(const SolverOptions& options);

/// Seconds of what was chosen, where ILU(0) and as many steps as it takes on meshes are expected to take at most half
/// of them: where A is not Hermitian, its diagonal positive, and half a second is to be had. Else 0.
double worth_a_quick_attempt(const ChoiceFacts& facts, const Rates& rates);

/// Whether an iteration that goes on is likely to have been worth it: it may look around for 10 % of the seconds of
/// what was chosen, or for ten steps, and take 60 % of them in all. Steps to come are those that the last half of the
/// steps, at its rate, leaves to rtol.
class QuickProgress {
public:
    /// @param seconds  of what was chosen
    QuickProgress(double rtol, double seconds) : rtol_(rtol), seconds_(seconds) {}
    /// @param step  since the start  @param residual  relative  @param elapsed  seconds since the start, M included
    /// @return whether to go on; once false, or converged, always the same
    bool goes_on(Index step, double residual, double elapsed);
    bool given_up() const { return given_up_; }

private:
    bool promises(double elapsed) const;

    double              rtol_, seconds_, begun_ = 0;
    std::vector<double> best_;              // log of the smallest residual so far, of each step
    std::atomic<bool>   given_up_ = false;  // asked by several threads
    bool                converged_ = false;
};

/// Iterates as long as the steps promise to be worth it. What ILU(0) took beyond its forecast is the machine's doing,
/// which makes all else slower, too.
/// @param iterate  the iteration, which tells `heard` of its progress
/// @param stop  the caller's  @param limited  ends the iteration in any case
/// @param tried    in: a try with plan.quick and factors; out: where it did not promise to be worth it, given up
void attempt_quickly(const AttemptFacts& facts, const AttemptListener& listener, const StopToken& stop,
                     const StopToken&                                                                limited,
                     const std::function<void(const AttemptListener& heard, const StopToken& stop)>& iterate,
                     Attempt&                                                                        tried);

}  // namespace ilux
