#pragma once
// How x of an iteration is judged and corrected, wherever its vectors are. Of standard.cpp and gpu_standard.cpp alone.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

/// M that leaves many steps to do knows little of the error: some of them, on the equation of the error, tell more.
inline Index steps_of_estimate(const Attempt& tried)
{
    constexpr Index crude = 16;
    return tried.report.steps < crude ? 0 : tried.report.steps / 4;
}

/// One iteration after another, each on what the former has left.
/// @tparam Side  holds x, b, r and d: measure(), which leaves r = b − A x; precondition(), d ← M⁻¹ r; note_error(accuracy), of e = d;
/// solve_for_correction(scaled, krylov), D A d = D r from d = 0; d_is_zero(); add_correction(), x ← x + d; take_back(); size()
template <class Side>
class Corrections {
public:
    Corrections(Side& side, const KrylovOptions& krylov, const Standard& standard, const StopToken& stop,
                Attempt& tried)
        : side_(side), krylov_(krylov), standard_(standard), stop_(stop), tried_(tried)
    {}

    /// Accuracy of x. @param steps  that a better estimate of the error than by M alone may take
    void judge(Index steps)
    {
        tried_.accuracy = side_.measure();
        if (!tried_.accuracy.finite) return;
        const bool trusted = tried_.accuracy.estimate_settled;
        if (steps > 0) tried_.accuracy.estimate_settled = estimate_by(steps) && trusted;
        else side_.precondition();
        side_.note_error(tried_.accuracy);
    }

    void go_on()
    {
        constexpr int most = 12;
        for (int k = 0; k < most && excess(tried_.accuracy, standard_) > 1; ++k)
            if (!correct()) return;
    }

    StopReason stopped() const { return stopped_; }  // why it ended early

private:
    /// d ≈ A⁻¹ r by so many steps; by M alone where they come to nothing. @return whether they settled it
    bool estimate_by(Index steps)
    {
        // Steps beyond which M hides errors from every estimate with it: those of mmc 18, 644 steps, were estimated as 3e-5, and are 4.
        constexpr Index  most_trusted = 200;
        constexpr double good = 0.1;  // of its residual over that of x
        const Index      taken = tried_.report.steps, cycles = tried_.report.restarts;  // those to x
        const Outcome    outcome = solve_for_correction(options_of(good, steps));
        tried_.report.steps = taken;
        tried_.report.restarts = cycles;
        const bool told = outcome == Outcome::converged || outcome == Outcome::max_steps;
        // at max_steps d may be where it began, and 0 would say that x has no error
        const bool begun = outcome != Outcome::max_steps || !side_.d_is_zero();
        if (!told || !begun) side_.precondition();
        return outcome == Outcome::converged && taken <= most_trusted;
    }

    /// Of an iteration on what x has left.
    KrylovOptions options_of(double rtol, Index steps) const
    {
        KrylovOptions krylov = krylov_;
        krylov.stop = StopTest::residual;
        krylov.rtol = rtol;
        krylov.max_steps = steps;
        return krylov;
    }

    /// x ← x + d. @return whether that halved the excess and left the residual below its own limit; if not x is as it was
    bool correct()
    {
        const Accuracy before = tried_.accuracy;
        const double   far = excess(before, standard_);
        const auto     krylov = options_of(std::clamp(0.5 / far, 1e-8, 1e-2), krylov_.max_steps - tried_.report.steps);
        stopped_ = stop_.reason();
        if (krylov.max_steps <= 0 || stopped_ != StopReason::none || !std::isfinite(far)) return false;
        (void)solve_for_correction(krylov);
        stopped_ = stop_.reason();
        side_.add_correction();
        judge(0);
        const Standard of_residual{.residual = standard_.residual, .backward_error = standard_.backward_error};
        if (excess(tried_.accuracy, standard_) <= far / 2 && excess(tried_.accuracy, of_residual) <= 1) return true;
        side_.take_back();
        tried_.accuracy = before;
        return false;
    }

    Outcome solve_for_correction(const KrylovOptions& krylov)
    {
        const IterationReport done = side_.solve_for_correction(!needs_symmetry(tried_.plan.method), krylov);
        add_work(done, tried_.report);
        return done.outcome;
    }

    Side&                side_;
    const KrylovOptions& krylov_;
    const Standard&      standard_;
    const StopToken&     stop_;
    Attempt&             tried_;
    StopReason           stopped_ = StopReason::none;
};

/// What finish_iteration does, by a Side as Corrections has it.
template <class Side>
void finish_by(Side& side, const KrylovOptions& krylov, const Standard& standard, const StopToken& stop, Attempt& tried)
{
    Corrections<Side> corrections(side, krylov, standard, stop, tried);
    corrections.judge(tried.converged() ? steps_of_estimate(tried) : 0);
    if (!tried.accuracy.finite) return;
    const bool   by_size = krylov.stop == StopTest::backward_error;
    const double measured = by_size ? tried.accuracy.backward_error : tried.accuracy.relative_residual;
    if (tried.converged() && measured > krylov.rtol) {
        tried.report.outcome = Outcome::stagnated;
        tried.report.detail = "b - A x met the tolerance by rounding only: in twice the precision it does not";
    }
    if (tried.converged()) corrections.go_on();
    tried.report.relative_residual = tried.accuracy.relative_residual;
    tried.report.backward_error = tried.accuracy.backward_error;
    tried.inaccurate = tried.converged() && excess(tried.accuracy, standard) > 1;
    if (tried.inaccurate) {
        tried.report.outcome =
            corrections.stopped() == StopReason::none ? Outcome::stagnated : outcome_of(corrections.stopped());
        tried.explanation = fmt::format("residual {:.2e}, but {}", tried.report.relative_residual,
                                        shortfall(tried.accuracy, standard, side.size()));
    } else if (tried.converged()) tried.warn(accuracy_warning(tried.accuracy, side.size()));
}

}  // namespace ilux
