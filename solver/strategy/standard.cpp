#include "ilux/solver/strategy/standard.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/machine/single_matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace ilux {
namespace {

// Steps beyond which M hides errors from every estimate with it: those of mmc 18, 644 steps, were estimated as 3e-5, and are 4.
constexpr Index  most_trusted = 200;
constexpr double good_estimate = 0.1;  // of its residual over that of x
constexpr double doubtful_row = 1e-4;  // row-wise backward error of a success that is told

/// M that leaves many steps to do knows little of the error: some of them, on the equation of the error, tell more.
Index steps_of_estimate(const Attempt& tried)
{
    constexpr Index crude = 16;
    return tried.report.steps < crude ? 0 : tried.report.steps / 4;
}

/// NaN counts as far off.
double share(double value, double limit)
{
    if (std::isinf(limit)) return 0;
    return value == 0 ? 0 : std::isnan(value) ? INFINITY : value / limit;
}

/// Powers of two D_i near 1 / (|A||x| + |b|)_i. A row whose terms are all small beside ‖x‖ need not be solved to digits that
/// no unknown above 1e-12 of the largest shows.
template <Scalar S>
void equilibrate(const CsrView<S>& A, std::span<const S> x, const Residual<S>& residual, std::span<double> D)
{
    const RowSizes<S> size_of(A, x, residual, least_unknown / 100);
    for (Index i = 0; i < A.rows(); ++i) {
        const auto size = size_of(i);
        const bool usable = std::isfinite(size) && size > 0;
        D[i] = usable ? std::ldexp(1.0, -std::clamp(std::ilogb(size), -500, 500)) : 1;
    }
}

/// One iteration after another, each on what the former has left.
template <Scalar S>
class Corrections {
public:
    Corrections(Cpu& cpu, const CsrView<S>& A, std::span<const S> b, const KrylovOptions& krylov,
                const Standard& standard, const IterationCalls<S>& iteration, const StopToken& stop, Attempt& tried)
        : cpu_(cpu),
          A_(A),
          b_(b),
          krylov_(krylov),
          standard_(standard),
          iteration_(iteration),
          stop_(stop),
          tried_(tried)
    {}

    /// Accuracy of tried.x. @param steps  that a better estimate of the error than by M alone may take
    void judge(Index steps)
    {
        tried_.accuracy = measure<S>(cpu_, A_, x(), b_, residual_);
        if (!tried_.accuracy.finite) return;
        note_counting_rows(A_, x(), residual_, tried_.accuracy);
        d_.assign(x().size(), 0);
        if (steps > 0) tried_.accuracy.estimate_settled = estimate_by(steps) && residual_.lost.empty();
        if (steps == 0) iteration_.precondition(residual_.r, d_);
        note_error(x(), d_, residual_, tried_.accuracy);
    }

    void go_on()
    {
        constexpr int most = 12;
        for (int k = 0; k < most && excess(tried_.accuracy, standard_) > 1; ++k)
            if (!correct()) return;
    }

    StopReason stopped() const { return stopped_; }  // why it ended early

private:
    std::vector<S>& x() { return tried_.x.of<S>(); }

    /// d_ ≈ A⁻¹ r by so many steps; by M alone where they come to nothing. @return whether they settled it
    bool estimate_by(Index steps)
    {
        const Index   taken = tried_.report.steps, cycles = tried_.report.restarts;  // those to x
        const Outcome outcome = solve_for_correction(options_of(good_estimate, steps));
        tried_.report.steps = taken;
        tried_.report.restarts = cycles;
        const bool told = outcome == Outcome::converged || outcome == Outcome::max_steps;
        // at max_steps d may be where it began, and 0 would say that x has no error
        const bool begun = outcome != Outcome::max_steps || std::ranges::any_of(d_, [](S d) { return d != S(0); });
        if (!told || !begun) iteration_.precondition(residual_.r, d_);
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
        former_ = x();
        for (std::size_t i = 0; i < former_.size(); ++i) x()[i] += times_power(d_[i], residual_.exponent);
        judge(0);
        const Standard of_residual{.residual = standard_.residual, .backward_error = standard_.backward_error};
        if (excess(tried_.accuracy, standard_) <= far / 2 && excess(tried_.accuracy, of_residual) <= 1) return true;
        x().swap(former_);
        tried_.accuracy = before;
        return false;
    }

    Outcome solve_for_correction(const KrylovOptions& krylov)
    {
        const std::size_t n = x().size();
        D_.assign(n, 1);
        if (!needs_symmetry(tried_.plan.method)) equilibrate<S>(A_, x(), residual_, D_);
        scaled_.resize(n);
        for (std::size_t i = 0; i < n; ++i) scaled_[i] = D_[i] * residual_.r[i];
        d_.assign(n, 0);
        const IterationReport done = iteration_.solve(D_, scaled_, d_, krylov);
        add_work(done, tried_.report);
        return done.outcome;
    }

    Cpu&                     cpu_;
    const CsrView<S>&        A_;
    std::span<const S>       b_;
    const KrylovOptions&     krylov_;
    const Standard&          standard_;
    const IterationCalls<S>& iteration_;
    const StopToken&         stop_;
    Attempt&                 tried_;
    Residual<S>              residual_;
    std::vector<S>           d_, scaled_, former_;
    std::vector<double>      D_;
    StopReason               stopped_ = StopReason::none;
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
    return std::max({share(accuracy.relative_residual, standard.residual),
                     share(accuracy.backward_error, standard.backward_error),
                     share(accuracy.rowwise_counting, standard.rowwise), share(accuracy.worst_error, standard.error)});
}

std::string shortfall(const Accuracy& accuracy, const Standard& standard, Index n)
{
    if (share(accuracy.worst_error, standard.error) > 1) {
        if (accuracy.uncertain > 0) return uncertainty_text(accuracy, n);
        return fmt::format("unknown {} (counted from 1) is uncertain by {:.1e} of its size, not {:g}",
                           accuracy.worst + 1, accuracy.worst_error, standard.error);
    }
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
IterationCalls<S> host_iteration(Cpu& cpu, const LinearOperator<Cpu, S>& A, Preconditioner<Cpu, S>& M,
                                 KrylovWorkspace<Cpu, S>& workspace, const ProgressListener& on_progress,
                                 const StopToken& stop)
{
    const auto precondition = [&](std::span<const S> r, std::span<S> z) { M.apply(cpu, r, z); };
    const auto solve = [&](std::span<const double> D, std::span<const S> b, std::span<S> x,
                           const KrylovOptions& krylov) {
        const std::vector<double>       inverse = inverses_of(D);
        const auto                      rows = in_scalars<S>(D), columns = in_scalars<S>(inverse);
        const RowScaledOperator<Cpu, S> DA(A, rows);
        RowScaledPreconditioner<Cpu, S> DM(M, columns);
        return ilux::solve<Cpu, S>(cpu, workspace.method(), DA, DM, b, x, workspace, krylov, on_progress, stop);
    };
    return {precondition, solve};
}

template <Scalar S>
IterationCalls<S> gpu_iteration(GpuSystem<S>& system, const ProgressListener& on_progress, const StopToken& stop)
{
    const auto precondition = [&system](auto r, auto z) { system.precondition(r, z); };
    const auto solve = [&](std::span<const double> D, std::span<const S> b, std::span<S> x,
                           const KrylovOptions& krylov) {
        try {
            return system.solve_rows_scaled(D, b, x, krylov, on_progress, stop);
        } catch (const OutOfMemory&) {
            IterationReport nothing;
            nothing.outcome = Outcome::out_of_memory;
            return nothing;
        }
    };
    return {precondition, solve};
}

template <Scalar S>
void finish_iteration(Cpu& cpu, const CsrView<S>& A, std::span<const NotDeduced<S>> b, const KrylovOptions& krylov,
                      const Standard& standard, const IterationCalls<S>& iteration, const StopToken& stop,
                      Attempt& tried)
{
    Corrections<S> corrections(cpu, A, b, krylov, standard, iteration, stop, tried);
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
    const auto n = static_cast<Index>(tried.x.size());
    tried.inaccurate = tried.converged() && excess(tried.accuracy, standard) > 1;
    if (tried.inaccurate) {
        tried.report.outcome =
            corrections.stopped() == StopReason::none ? Outcome::stagnated : outcome_of(corrections.stopped());
        tried.explanation = fmt::format("residual {:.2e}, but {}", tried.report.relative_residual,
                                        shortfall(tried.accuracy, standard, n));
    } else if (tried.converged()) tried.warn(accuracy_warning(tried.accuracy, n));
}

#define ILUX_INSTANTIATE(S)                                                                                            \
    template IterationCalls<S> host_iteration(Cpu&, const LinearOperator<Cpu, S>&, Preconditioner<Cpu, S>&,            \
                                              KrylovWorkspace<Cpu, S>&, const ProgressListener&, const StopToken&);    \
    template IterationCalls<S> gpu_iteration(GpuSystem<S>&, const ProgressListener&, const StopToken&);                \
    template void finish_iteration(Cpu&, const CsrView<S>&, std::span<const S>, const KrylovOptions&, const Standard&, \
                                   const IterationCalls<S>&, const StopToken&, Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
