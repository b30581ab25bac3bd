#pragma once
// How x of an iteration is judged and corrected, wherever its vectors are. Of standard.cpp and gpu_standard.cpp alone.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ilux/engine/standard.hpp"

namespace ilux {

/// One iteration after another, each on what the former has left.
/// @tparam Side  holds x, b, r and d: measure(), which leaves r = b − A x; estimate_exactly(), d ← A⁻¹ r, and whether
/// that settled, where it can; precondition(), d ← M⁻¹ r; note_error(accuracy), of e = d; solve_for_correction(scaled,
/// krylov), D A d = D r from d = 0; d_is_zero(); add_correction(), x ← x + d; take_back(); size();
/// begin_known_answer(), and reduce_known_answer(scaled, krylov), an iteration on what is missed of it;
/// end_known_answer(), after which r is that of x; examine_known_answer(), whether it can look at that;
/// witness_warning(accuracy, etol)
template <class Side>
class Corrections {
public:
    Corrections(Side& side, const KrylovOptions& krylov, const StopToken& stop, Attempt& tried)
        : side_(side), krylov_(krylov), stop_(stop), tried_(tried)
    {}

    /// Accuracy of x. @param steps  that a better estimate of the error than by M alone may take
    void judge(Index steps)
    {
        tried_.accuracy = side_.measure();
        if (!tried_.accuracy.finite) return;
        if (const std::optional<bool> settled = side_.estimate_exactly()) settled_ = *settled;
        else if (steps > 0) settled_ = estimate_by(steps);
        else side_.precondition();
        tried_.accuracy.estimate_settled = tried_.accuracy.estimate_settled && settled_;
        side_.note_error(tried_.accuracy);
    }

    /// Solves a system whose answer is known, by one iteration after another on what the former has missed: M does not
    /// see that in x either. @return whether that is little in the end, or steps are over before that can be told
    template <class Asked>
    bool ask_known_answer(Asked& witness)
    {
        const bool   whole = side_.size() <= few_unknowns;
        const double rtol = whole ? 1e-2 : 1e-6;
        const Index  taken = tried_.report.steps;
        const double enough = witness.enough(side_.size());
        Missed       missed = side_.begin_known_answer();
        Index left = std::min(krylov_.max_steps, whole ? std::max<Index>(40, taken) : std::max<Index>(10, taken / 4));
        for (int k = 0; k < (whole ? 12 : 1) && missed.share > enough && missed.own > 2 * rounding_share && left > 0;
             ++k) {
            missed = side_.reduce_known_answer(scales(), options_of(rtol, left));
            left -= std::max<Index>(missed.steps, 1);
            witness.note(missed);
        }
        side_.end_known_answer();
        const bool cut = !whole || left <= 0;
        return missed.share <= enough || (cut && missed.own > doubtful);
    }

    void go_on(const Standard& standard)
    {
        constexpr int most = 12;
        for (int k = 0; k < most && excess(tried_.accuracy, standard) > 1; ++k)
            if (!correct(standard)) return;
    }

    StopReason stopped() const { return stopped_; }  // why it ended early
    /// What M says of the error is no more than a guess.
    void distrust() { settled_ = tried_.accuracy.estimate_settled = false; }

private:
    bool scales() const { return !needs_symmetry(tried_.plan.method); }

    /// d ≈ A⁻¹ r by so many steps; by M alone where they come to nothing. @return whether they settled it
    bool estimate_by(Index steps)
    {
        // Steps beyond which M hides errors from every estimate with it: those of mmc 18, 644 steps, were estimated as
        // 3e-5, and are 4.
        constexpr Index       most_trusted = 200;
        constexpr double      good = 0.1;                   // of its residual over that of x
        const Index           taken = tried_.report.steps;  // those to x
        const IterationReport done = side_.solve_for_correction(scales(), options_of(good, steps));
        add_seconds(done.seconds, tried_.report.seconds);
        const bool told = done.outcome == Outcome::converged || done.outcome == Outcome::max_steps;
        // at max_steps d may be where it began, and 0 would say that x has no error
        const bool begun = done.outcome != Outcome::max_steps || !side_.d_is_zero();
        if (!told || !begun) side_.precondition();
        return done.outcome == Outcome::converged && taken <= most_trusted;
    }

    /// Options of an iteration on what x has left.
    KrylovOptions options_of(double rtol, Index steps) const
    {
        KrylovOptions krylov = krylov_;
        krylov.stop = StopTest::residual;
        krylov.rtol = rtol;
        krylov.max_steps = steps;
        return krylov;
    }

    /// x ← x + d. @return whether that halved the excess and left the residual below its own limit; if not x is as it
    /// was
    bool correct(const Standard& standard)
    {
        const Accuracy before = tried_.accuracy;
        const bool     settled = settled_;
        const double   far = excess(before, standard);
        const double   rtol = std::isfinite(far) ? std::clamp(0.5 / far, 1e-8, 1e-2) : 1e-2;
        const auto     krylov = options_of(rtol, krylov_.max_steps - tried_.report.steps);
        stopped_ = stop_.reason();
        if (krylov.max_steps <= 0 || stopped_ != StopReason::none || !before.finite) return false;
        const IterationReport done = side_.solve_for_correction(scales(), krylov);
        add_work(done, tried_.report);
        settled_ = settled_ || done.outcome == Outcome::converged;  // d is the error of the former x to a hundredth
        stopped_ = stop_.reason();
        side_.add_correction();
        judge(0);
        const Standard  of_residual{.residual = standard.residual, .backward_error = standard.backward_error};
        const Accuracy& now = tried_.accuracy;
        if (halves_excess(now, before, standard) && excess(now, of_residual) <= 1) return true;
        side_.take_back();
        tried_.accuracy = before;
        settled_ = settled;
        return false;
    }

    Side&                side_;
    const KrylovOptions& krylov_;
    const StopToken&     stop_;
    Attempt&             tried_;
    bool                 settled_ = true;  // the estimate of the error is more than a guess
    StopReason           stopped_ = StopReason::none;
};

/// What finish_iteration does, by a Side as Corrections has it.
/// @return false: only the host can look at x; what has been done may be done again
template <class Side, Scalar S>
bool finish_by(Side& side, const KrylovOptions& krylov, Standard standard, Witness<S>* witness, const StopToken& stop,
               Attempt& tried)
{
    Corrections<Side> corrections(side, krylov, stop, tried);
    corrections.judge(tried.converged() ? steps_of_estimate(tried) : 0);
    if (!tried.accuracy.finite) return false;
    const bool   by_size = krylov.stop == StopTest::backward_error;
    const double measured = by_size ? tried.accuracy.backward_error : tried.accuracy.relative_residual;
    if (tried.converged() && measured > krylov.rtol) {
        tried.report.outcome = Outcome::stagnated;
        tried.report.detail = "b - A x met the tolerance by rounding only: in twice the precision it does not";
    }
    const bool at_rounding = is_at_rounding(tried, krylov.etol);
    if (at_rounding) {
        tried.report.outcome = Outcome::converged;
        tried.remark = fmt::format(
            "converged by its rows: the residual, {:.1e}, is rounding, and rows that count are solved to {:.1e}",
            measured, tried.accuracy.rowwise_counting);
        standard.residual = standard.backward_error = std::numeric_limits<double>::infinity();
    }
    if (tried.converged() && witness != nullptr) {
        const bool held = std::isfinite(standard.error);
        if (witness->wants_known_answer() && stop.reason() == StopReason::none) {
            if (corrections.ask_known_answer(*witness)) witness->note_answered();
            else if (!side.examine_known_answer()) return false;
        }
        if (witness->is_unclear()) corrections.distrust();
        if (held && krylov.stop != StopTest::rowwise) standard.rowwise = witness->rowwise_limit(standard.error);
    }
    if (tried.converged()) corrections.go_on(standard);
    tried.report.relative_residual = tried.accuracy.relative_residual;
    tried.report.backward_error = tried.accuracy.backward_error;
    tried.inaccurate = tried.converged() && excess(tried.accuracy, standard) > 1;
    if (tried.inaccurate) {
        tried.report.outcome =
            corrections.stopped() == StopReason::none ? Outcome::stagnated : outcome_of(corrections.stopped());
        tried.explanation = fmt::format("residual {:.2e}, but {}", tried.report.relative_residual,
                                        shortfall(tried.accuracy, standard, side.size()));
    } else if (tried.converged()) {
        tried.warn(side.witness_warning(tried.accuracy, krylov.etol));
        if (at_rounding) tried.warn(lost_b_warning(tried.accuracy));
        tried.warn(accuracy_warning(tried.accuracy, side.size()));
    }
    return true;
}

}  // namespace ilux
