#include "ilux/engine/standard.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/engine/machine/single_matrix.hpp"
#include "ilux/engine/corrections.hpp"
#include "ilux/engine/witness/known_answer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace ilux {
namespace {

constexpr double doubtful_row = 1e-4;  // row-wise backward error of a success that is told

/// NaN counts as far off.
double share(double value, double limit)
{
    if (std::isinf(limit)) return 0;
    return value == 0 ? 0 : std::isnan(value) ? INFINITY : value / limit;
}

/// Powers of two D_i near 1 / (|A||x| + |b|)_i. A row whose terms are all small beside `share` of ‖x‖ need not be
/// solved to digits that no unknown above 1e-12 of the largest shows.
template <Scalar S>
void equilibrate(const CsrView<S>& A, std::span<const S> x, const Residual<S>& residual, double share,
                 std::span<double> D)
{
    const RowSizes<S> size_of(A, x, residual, share);
    for (Index i = 0; i < A.rows(); ++i) {
        const auto size = size_of(i);
        const bool usable = std::isfinite(size) && size > 0;
        D[i] = usable ? std::ldexp(1.0, -std::clamp(std::ilogb(size), -500, 500)) : 1;
    }
}

/// What measures and corrects x on the host.
template <Scalar S>
class HostSide {
public:
    HostSide(Cpu& cpu, const CsrView<S>& A, std::span<const S> b, Correction<Cpu, S>& correction, Witness<S>* witness,
             const StopToken& stop, std::vector<S>& x)
        : cpu_(cpu), A_(A), b_(b), correction_(correction), witness_(witness), stop_(stop), x_(x), d_(x.size())
    {}

    Accuracy measure()
    {
        Accuracy accuracy = ilux::measure<S>(cpu_, A_, x_, b_, residual_);
        if (!accuracy.finite) return accuracy;
        note_counting_rows(A_, x_, residual_, accuracy);
        if (A_.rows() > few_unknowns) note_own_scales(A_, residual_, scale_);
        return accuracy;
    }
    void precondition()
    {
        correction_.apply(residual_.r, d_);
        if (witness_ != nullptr) witness_->add_lost_constants(residual_.r, d_);
    }
    /// d ← x* − x by an LU, and whether that settled; nothing where there is none. r as a double may have lost what a
    /// small unknown hangs on: x + d is looked at as well, and what it still lacks.
    std::optional<bool> estimate_exactly()
    {
        constexpr int most = 4;
        if (witness_ == nullptr || !witness_->estimate(residual_.r, d_)) return {};
        std::vector<S> better(x_.size()), lacking(x_.size());
        Residual<S>    of_better;
        for (int k = 0; k < most; ++k) {
            for (std::size_t i = 0; i < x_.size(); ++i) better[i] = x_[i] + times_power(d_[i], residual_.exponent);
            if (!ilux::measure<S>(cpu_, A_, better, b_, of_better).finite) return false;
            (void)witness_->estimate(of_better.r, lacking);
            const std::vector<S> former = d_;
            for (std::size_t i = 0; i < x_.size(); ++i)
                d_[i] = times_power(better[i] - x_[i], -residual_.exponent) + lacking[i];
            if (is_settled(former, better)) return true;
        }
        return false;
    }
    /// Whether d is no other than before, but for changes that are small beside it or beside an unknown.
    bool is_settled(std::span<const S> former, std::span<const S> better) const
    {
        constexpr double small = 1e-2 * uncertain_from;
        const double     least = least_unknown * largest_of<S>(better);
        for (std::size_t i = 0; i < d_.size(); ++i) {
            const double size = std::max(std::abs(better[i]), least);
            const double change = std::abs(d_[i] - former[i]);
            if (!(change <= uncertain_from * std::abs(d_[i])) &&
                !(std::ldexp(change, residual_.exponent) <= small * size))
                return false;
        }
        return true;
    }
    void note_error(Accuracy& accuracy) { ilux::note_error(x_, d_, residual_, accuracy, scale_); }
    bool d_is_zero() const
    {
        return std::ranges::all_of(d_, [](S d) { return d == S(0); });
    }
    Index size() const { return A_.rows(); }

    IterationReport solve_for_correction(bool scaled, const KrylovOptions& krylov)
    {
        const IterationReport done = solve_scaled(scaled, least_unknown / 100, x_, residual_, krylov);
        if (witness_ != nullptr) witness_->add_lost_constants(residual_.r, d_);
        return done;
    }

    Missed begin_known_answer()
    {
        known_.resize(x_.size());
        witness_->known_answer(x_, known_);
        missed_ = known_;
        (void)look_at_missed();
        size_known_ = of_missed_.size;
        return {};
    }
    /// A d = A t for what is missed, t, whose right-hand side is summed in twice the precision; t ← t − d.
    Missed reduce_known_answer(bool scaled, const KrylovOptions& krylov)
    {
        const int exponent = of_missed_.exponent;
        if (!is_finite<S>(cpu_, of_missed_.r)) return {.share = 0};
        const IterationReport done = solve_scaled(scaled, 0, missed_, of_missed_, krylov);
        for (std::size_t i = 0; i < missed_.size(); ++i) missed_[i] += times_power(d_[i], exponent);
        Missed now{.share = missed_share<S>(known_, missed_), .rows = 0, .steps = done.steps, .own = look_at_missed()};
        for (std::size_t i = 0; i < missed_.size(); ++i)
            if (const double r = std::abs(of_missed_.r[i]); r > 0) now.rows = std::max(now.rows, r / size_known_[i]);
        return now;
    }
    void end_known_answer() {}  // r of x is kept
    /// What that solve has not found goes to the witness. @return true: it can be looked at here
    bool examine_known_answer()
    {
        witness_->take(std::move(missed_), own_ > doubtful);
        return true;
    }
    std::string witness_warning(const Accuracy& accuracy, double etol)
    {
        return witness_ != nullptr ? witness_->warning(x_, residual_, accuracy, etol) : "";
    }

    void add_correction()
    {
        former_ = x_;
        for (std::size_t i = 0; i < former_.size(); ++i) x_[i] += times_power(d_[i], residual_.exponent);
    }
    void take_back() { x_.swap(former_); }

private:
    /// r ← −A t. @return max |r|_i / (|A||t|)_i
    double look_at_missed()
    {
        const std::vector<S> zero(missed_.size());
        return own_ = ilux::measure<S>(cpu_, A_, missed_, zero, of_missed_).rowwise;
    }

    /// D A d = D r from d = 0, where D makes the rows equal, as equilibrate has it.
    IterationReport solve_scaled(bool scaled, double share, std::span<const S> x, const Residual<S>& residual,
                                 const KrylovOptions& krylov)
    {
        const std::size_t n = x.size();
        D_.assign(n, 1);
        if (scaled) equilibrate<S>(A_, x, residual, share, D_);
        scaled_.resize(n);
        for (std::size_t i = 0; i < n; ++i) scaled_[i] = D_[i] * residual.r[i];
        d_.assign(n, 0);
        const std::vector<double> inverse = inverses_of(D_);
        return correction_.solve(in_scalars<S>(D_), in_scalars<S>(inverse), scaled_, d_, krylov, stop_);
    }

    Cpu&                cpu_;
    const CsrView<S>&   A_;
    std::span<const S>  b_;
    Correction<Cpu, S>& correction_;
    Witness<S>*         witness_;
    const StopToken&    stop_;
    std::vector<S>&     x_;
    Residual<S>         residual_;
    std::vector<S>      d_, scaled_, former_;
    std::vector<S>      known_, missed_;  // z of a known answer, and what is not found of it
    Residual<S>         of_missed_;
    std::vector<double> size_known_;  // |A||z|
    double              own_ = 1;     // max |A t|_i / (|A||t|)_i of what is missed
    std::vector<double> D_, scale_;   // of rows; of unknowns, their own
};

}  // namespace

Standard standard_of(const SolverOptions& options)
{
    const KrylovOptions& krylov = options.krylov;
    const bool           automatic = options.strategy() == SolverMode::automatic;
    Standard             standard;
    if (krylov.stop == StopTest::backward_error) standard.backward_error = krylov.rtol;
    else standard.residual = krylov.rtol;
    if (krylov.stop == StopTest::rowwise) standard.rowwise = krylov.rtol;
    if (automatic || krylov.stop == StopTest::error) {
        // An M that hides an error from its estimate does not hide it from the rows.
        standard.rowwise = std::min(standard.rowwise, lu_tolerance);
        standard.error = krylov.etol;
    }
    return standard;
}

double excess(const Accuracy& accuracy, const Standard& standard)
{
    if (!accuracy.finite) return INFINITY;
    if (std::isfinite(standard.error) && !accuracy.estimate_settled) return INFINITY;
    return std::max({share(accuracy.relative_residual, standard.residual),
                     share(accuracy.backward_error, standard.backward_error),
                     share(accuracy.rowwise_counting, standard.rowwise), share(accuracy.error, standard.error),
                     share(accuracy.worst_error, standard.error)});
}

bool halves_excess(const Accuracy& now, const Accuracy& before, const Standard& standard)
{
    const double left = excess(now, standard);
    return std::isfinite(left) && left <= excess(before, standard) / 2;
}

std::string shortfall(const Accuracy& accuracy, const Standard& standard, Index n)
{
    if (share(std::max(accuracy.error, accuracy.worst_error), standard.error) > 1) {
        if (accuracy.uncertain > 0) return uncertainty_text(accuracy, n);
        if (share(accuracy.worst_error, standard.error) > 1)
            return fmt::format("unknown {} (counted from 1) is uncertain by {:.1e} of its size, not {:g}",
                               accuracy.worst + 1, accuracy.worst_error, standard.error);
        return fmt::format("the largest error is estimated as {:.1e} of the largest unknown, not {:g}", accuracy.error,
                           standard.error);
    }
    if (std::isfinite(standard.error) && !accuracy.estimate_settled)
        return "the preconditioner is too crude to estimate the error of x, or A nearly singular";
    if (share(accuracy.rowwise_counting, standard.rowwise) > 1)
        return fmt::format("the row-wise backward error is {:.1e}, not {:g}", accuracy.rowwise_counting,
                           standard.rowwise);
    return "";
}

std::string accuracy_warning(const Accuracy& accuracy, Index n)
{
    if (accuracy.uncertain > 0) return uncertainty_text(accuracy, n);
    if (!accuracy.estimate_settled && accuracy.rowwise_counting > lu_tolerance)
        return "the preconditioner is too crude to estimate the error of x: krylov.stop=error goes on until that is small";
    if (accuracy.rowwise_counting > doubtful_row)
        return fmt::format("a row is solved to {:.1e} of its own size only", accuracy.rowwise_counting);
    return "";
}

std::string lost_b_warning(const Accuracy& accuracy)
{
    if (accuracy.rowwise <= lu_tolerance || accuracy.relative_residual <= uncertain_from) return "";
    return fmt::format(
        "A is singular, or nearly so: the terms of A x are so large that b is lost in their rounding, and b - A x is {:.1e} times b",
        accuracy.relative_residual);
}

Index steps_of_estimate(const Attempt& tried)
{
    constexpr Index crude = 16;
    return tried.report.steps < crude ? 0 : tried.report.steps / 4;
}

bool is_at_rounding(const Attempt& tried, double etol)
{
    const Outcome outcome = tried.report.outcome;
    const bool ended = outcome == Outcome::stagnated || outcome == Outcome::max_steps || outcome == Outcome::breakdown;
    return ended && excess(tried.accuracy, {.rowwise = lu_tolerance, .error = etol}) <= 1;
}

void hold_to_etol(const SolverOptions& options, Index n, Attempt& tried)
{
    const bool asked = options.krylov.stop == StopTest::error;
    tried.inaccurate = asked && tried.converged() && tried.accuracy.worst_error > options.krylov.etol;
    if (tried.inaccurate) {
        tried.report.outcome = Outcome::stagnated;
        tried.explanation = shortfall(tried.accuracy, {.error = options.krylov.etol}, n);
    } else if (tried.converged()) {
        tried.warn(accuracy_warning(tried.accuracy, n));
        if (options.strategy() == SolverMode::automatic &&
            tried.accuracy.uncertain == 0)  // a smaller etol was asked for
            tried.warn(shortfall(tried.accuracy, {.error = options.krylov.etol}, n));
    }
}

template <Scalar S>
void finish_iteration(Cpu& cpu, const CsrView<S>& A, std::span<const NotDeduced<S>> b, const KrylovOptions& krylov,
                      const Standard& standard, Correction<Cpu, NotDeduced<S>>& correction,
                      Witness<NotDeduced<S>>* witness, const StopToken& stop, Attempt& tried)
{
    HostSide<S> host(cpu, A, b, correction, witness, stop, tried.x.of<S>());
    (void)finish_by(host, krylov, standard, witness, stop, tried);
}

#define ILUX_INSTANTIATE(S)                                                                                            \
    template void finish_iteration(Cpu&, const CsrView<S>&, std::span<const S>, const KrylovOptions&, const Standard&, \
                                   Correction<Cpu, S>&, Witness<S>*, const StopToken&, Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
