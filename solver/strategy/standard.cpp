#include "ilux/solver/strategy/standard.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/machine/single_matrix.hpp"
#include "ilux/solver/strategy/corrections.hpp"

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

/// What measures and corrects x on the host.
template <Scalar S>
class HostSide {
public:
    HostSide(Cpu& cpu, const CsrView<S>& A, std::span<const S> b, const IterationCalls<S>& iteration, std::vector<S>& x)
        : cpu_(cpu), A_(A), b_(b), iteration_(iteration), x_(x), d_(x.size())
    {}

    Accuracy measure()
    {
        Accuracy accuracy = ilux::measure<S>(cpu_, A_, x_, b_, residual_);
        if (accuracy.finite) note_counting_rows(A_, x_, residual_, accuracy);
        return accuracy;
    }
    void precondition() { iteration_.precondition(residual_.r, d_); }
    void note_error(Accuracy& accuracy) { ilux::note_error(x_, d_, residual_, accuracy); }
    bool d_is_zero() const
    {
        return std::ranges::all_of(d_, [](S d) { return d == S(0); });
    }
    Index size() const { return A_.rows(); }

    IterationReport solve_for_correction(bool scaled, const KrylovOptions& krylov)
    {
        const std::size_t n = x_.size();
        D_.assign(n, 1);
        if (scaled) equilibrate<S>(A_, x_, residual_, D_);
        scaled_.resize(n);
        for (std::size_t i = 0; i < n; ++i) scaled_[i] = D_[i] * residual_.r[i];
        d_.assign(n, 0);
        return iteration_.solve(D_, scaled_, d_, krylov);
    }

    void add_correction()
    {
        former_ = x_;
        for (std::size_t i = 0; i < former_.size(); ++i) x_[i] += times_power(d_[i], residual_.exponent);
    }
    void take_back() { x_.swap(former_); }

private:
    Cpu&                     cpu_;
    const CsrView<S>&        A_;
    std::span<const S>       b_;
    const IterationCalls<S>& iteration_;
    std::vector<S>&          x_;
    Residual<S>              residual_;
    std::vector<S>           d_, scaled_, former_;
    std::vector<double>      D_;
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
    HostSide<S> host(cpu, A, b, iteration, tried.x.of<S>());
    finish_by(host, krylov, standard, stop, tried);
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
