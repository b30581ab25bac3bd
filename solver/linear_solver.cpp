#include "ilux/solver/linear_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/pattern.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/engine/machine/lu_device.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/solver/policy/retry.hpp"
#include "ilux/engine/analysis_limits.hpp"

namespace ilux {
namespace {

template <Scalar S>
void require_same_pattern(const CsrView<S>& analysed, const CsrView<S>& A)
{
    require(A.rows() == analysed.rows() && A.cols() == analysed.cols(), [&] {
        return fmt::format("a {} x {} matrix, but the analysed one is {} x {}", A.rows(), A.cols(), analysed.rows(),
                           analysed.cols());
    });
    const auto differs = first_difference(A.row_ptr(), A.col(), analysed.row_ptr(), analysed.col());
    require(!differs, [&] {
        return fmt::format("row {} (counted from 0) has another pattern than the analysed one", differs->line);
    });
}

template <Scalar S>
void require_vectors(Index n, const Array<const S>& b, const Array<S>& x, const char* name_b, const char* name_x)
{
    const auto rows = static_cast<std::size_t>(n);
    require(b.size() == rows && x.size() == rows, [&] {
        return fmt::format("{} has {} and {} {} entries, A {} rows", name_b, b.size(), name_x, x.size(), n);
    });
    require_one_memory(b, x, name_b, name_x);
}

template <Scalar S>
void require_system(Index n, const Array<const S>& b, const Array<S>& x)
{
    require_vectors<S>(n, b, x, "solve: b", "x");
    require(is_finite(b), [] { return "solve: b is not finite"; });
}

/// ‖A‖_F, as usable_norm() makes it. @throws InvalidInput where an entry is not finite
template <Scalar S>
double norm_of_finite(Cpu be, const CsrView<S>& A)
{
    const double norm = norm2<S>(be, A.val());
    if (!std::isfinite(norm)) require_finite_values<S>(view(A));  // else it overflowed
    return usable_norm(norm);
}

}  // namespace

template <Scalar S>
LinearSolver<S>::Impl::Impl(const SolverOptions& options)
    : loop(steps()), null_space(options.krylov.null_space), options_(resolved(options))
{
    validate(options_);
    require_consistent(options_);
    if (options_.strategy() == SolverMode::direct) options_.method = MethodChoice::lu;
}

template <Scalar S>
std::unique_ptr<typename LinearSolver<S>::Impl> LinearSolver<S>::Impl::anew() const
{
    auto fresh = std::make_unique<Impl>(options_);
    fresh->listener = listener;
    fresh->stop = stop;
    fresh->null_space = null_space;
    fresh->loop.listen(loop.listener());
    return fresh;
}

template <Scalar S>
TrySteps LinearSolver<S>::Impl::steps()
{
    return {.begin =
                [this](const Plan& plan) {
                    Attempt tried;
                    tried.plan = plan;
                    tried.forget_solution();
                    tried.x = guess_.empty() ? std::vector<S>(static_cast<std::size_t>(A_.rows())) : guess_;
                    return tried;
                },
            .factor = [this](Attempt& tried) { return factor_by(tried); },
            .next = [this](std::span<const Attempt> tried, std::string& why_not) { return next_plan(tried, why_not); }};
}

template <Scalar S>
void LinearSolver<S>::Impl::analyse(const CsrView<S>& given, const Ahead& ahead)
{
    require(given.rows() == given.cols(),
            [&] { return fmt::format("a {} x {} matrix: a system needs a square one", given.rows(), given.cols()); });
    const double norm = norm_of_finite(cpu(), given);
    loop.budget().enter();
    gpu_start_ = start_gpu(options_, given.nnz());
    A_ = given;
    norm_ = norm;
    series_.promised = std::max(1.0, ahead.systems);
    choice_.direct = options_.strategy() == SolverMode::direct;
    std::vector<std::string> decisions;
    options_.lu.order_for = asked_order_for_;
    std::optional<LuPlan> stored = load_plan<S>(A_, options_, decisions);
    options_.lu.order_for = stored ? stored->symbolic->options.order_for : order_for(options_, series_.promised);
    if (null_space.asked()) choice_.direct_possible = false;
    else if (automatic()) {
        for_ahead_ = {series_.promised, std::max(1.0, ahead.columns)};
        choose(stored ? stored->symbolic : nullptr, nullptr);
    }
    for (const std::string& decision : decisions) loop.decide(decision);
    if (choice_.direct && !stored && options_.lu.order_for != asked_order_for_ &&
        options_.lu.order_for == LuOrderFor::gpu)
        loop.decide(
            fmt::format("order for a GPU, which is to refactor {:.0f} systems (lu.order_for)", series_.promised));
    if (!options_.plan.empty() && !choice_.direct) loop.decide(no_plan_needed(options_.plan));
    require_device_for_lu(options_);
    values_ = std::make_shared<SystemValues<S>>(A_.val().size());
    strategies.emplace(options_, A_, series_.promised, choice_.symbolic, std::move(stored), values_);
    take_strategy(choice_.begins_direct());
    const bool needed = direct() && !strategies->lu_analysed() && !has_fewer_entries_than_rows(A_);
    try {  // where that fails, factor() will say so
        const StopToken limited = within(seconds_left());
        if (needed) (void)lack_of_memory([&] { strategies->direct().analyse(A_, options_.lu, limited); });
    } catch (const Stopped&) {
    }
    analysing_ = loop.budget().elapsed();
    loop.budget().leave();
    loop.analysed(series_.promised == 1);
}

template <Scalar S>
void LinearSolver<S>::Impl::analyse(CsrMatrix<S>&& A, const Ahead& ahead)
{
    own_ = std::move(A);
    analyse(own_, ahead);
}

template <Scalar S>
void LinearSolver<S>::Impl::take_on_host(std::span<const S> values)
{
    require(values.size() == A_.val().size(), [&] {
        return fmt::format("{} values for an analysed pattern of {} entries", values.size(), A_.val().size());
    });
    const double norm = norm_of_finite(cpu(), A_.with_values(values));
    values_->take(values);
    A_ = A_.with_values(values_->host());
    if (strategies) strategies->forget_values();
    adjoint_.reset();
    norm_ = norm;
}

/// Values for an iteration on that GPU stay there, and the host gets them when it has to look at them. @return whether
/// that is so
template <Scalar S>
bool LinearSolver<S>::Impl::take_on_gpu(const Array<const S>& values)
{
    if (null_space.asked() || direct() || values.size() != A_.val().size() || !is_finite(values)) return false;
    const std::span<S> next = values_->next();  // may lack memory, before anything has changed
    const auto         norm = strategies->iterative().take_values(*values.gpu(), values.there(), next);
    if (!norm) return false;
    values_->take(next);
    A_ = A_.with_values(values_->host());
    adjoint_.reset();
    norm_ = usable_norm(*norm);
    return true;
}

template <Scalar S>
void LinearSolver<S>::Impl::take_values(const Array<const S>& values)
{
    if (!values.gpu()) return take_on_host(values.host());
    if (take_on_gpu(values)) return;
    values_->bring_next(values);
    take_on_host(values_->next());
}

template <Scalar S>
double LinearSolver<S>::Impl::seconds_left() const
{
    return options_.time_limit > 0 ? options_.time_limit - loop.budget().elapsed() : INFINITY;
}

/// From now on this strategy. What the other holds of former values goes: the memory is this one's.
template <Scalar S>
void LinearSolver<S>::Impl::take_strategy(bool of_direct)
{
    const bool before = direct();
    loop.note(strategies->take(of_direct));
    if (before != of_direct) series_.of(before).set_up = false;
}

template <Scalar S>
bool LinearSolver<S>::Impl::factor_by(Attempt& tried)
{
    take_strategy(tried.plan.direct());
    const StopToken limited = within(seconds_to_factor(facts(), direct()));
    bool            factored = false;
    run_guarded(tried, [&](Attempt& one) {
        if (direct()) {
            const WallClock clock;
            const bool      analysed = strategies->analyse_lu(limited, one);
            one.seconds_analyse = clock.seconds();
            factored = analysed && strategies->direct().factor(A_, true, limited, one);
            return;
        }
        factored = strategies->iterative().factor(A_, listener, limited, one);
        if (!factored) return;
        const std::string why = why_put_off(facts(), one);
        if (why.empty()) return;
        one.fail(Outcome::breakdown, why);
        strategies->release_preconditioner();
    });
    note_given_up(facts(), tried);
    tried.seconds_analyse += std::exchange(analysing_, 0);  // a choice is told with the try that follows
    return factored && tried.failure.empty();
}

template <Scalar S>
FactorReport LinearSolver<S>::Impl::factor_report() const
{
    const Attempt& current = loop.current();
    return {.outcome = loop.factored() ? Outcome::converged : current.report.outcome,
            .method = current.plan.method,
            .action = current.action,
            .detail = loop.factored() ? "" : current.why(),
            .seconds = loop.budget().elapsed()};
}

template <Scalar S>
FactorReport LinearSolver<S>::Impl::factor()
{
    if (loop.tried_any()) loop.budget().restart();
    TryLoop::Call call(loop, TryLoop::Input::values);
    const bool    anew = begin_values();
    strategies->release_preconditioner();  // whose rounds would serve again
    loop.factor(anew ? first_plan_again() : first_plan());
    FactorReport report = factor_report();
    call.done();
    return report;
}

template <Scalar S>
LinearSolver<S>::LinearSolver(const SolverOptions& options) : impl_(std::make_unique<Impl>(options))
{}
template <Scalar S>
LinearSolver<S>::~LinearSolver() = default;
template <Scalar S>
LinearSolver<S>::LinearSolver(LinearSolver<S>&&) noexcept = default;
template <Scalar S>
LinearSolver<S>& LinearSolver<S>::operator=(LinearSolver<S>&&) noexcept = default;

template <Scalar S>
void LinearSolver<S>::analyse(const CsrView<S>& A, const Ahead& ahead)
{
    auto fresh = impl_->anew();
    fresh->analyse(A, ahead);
    impl_ = std::move(fresh);
}

template <Scalar S>
void LinearSolver<S>::analyse(CsrMatrix<S>&& A, const Ahead& ahead)
{
    auto fresh = impl_->anew();
    fresh->analyse(std::move(A), ahead);
    impl_ = std::move(fresh);
}

template <Scalar S>
FactorReport LinearSolver<S>::factor()
{
    impl_->require_allowed(SolverCall::factor);
    return impl_->factor();
}

template <Scalar S>
FactorReport LinearSolver<S>::factor(Array<const S> values)
{
    impl_->require_allowed(SolverCall::factor);
    impl_->take_values(values);
    return impl_->factor();
}

template <Scalar S>
FactorReport LinearSolver<S>::refactor(Array<const S> values)
{
    impl_->require_allowed(SolverCall::refactor);
    impl_->take_values(values);
    return impl_->refactor();
}

template <Scalar S>
FactorReport LinearSolver<S>::refactor(const CsrView<S>& A)
{
    impl_->require_allowed(SolverCall::refactor);
    require_same_pattern<S>(impl_->matrix(), A);
    return refactor(A.val());
}

template <Scalar S>
const Attempt& LinearSolver<S>::factored_by() const
{
    impl_->require_allowed(SolverCall::solve);
    return impl_->loop.current();
}

template <Scalar S>
SolverReport LinearSolver<S>::solve(Array<const S> b, Array<S> x, Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    require_system<S>(impl_->matrix().rows(), b, x);
    return impl_->solve(b, x, transpose);
}

template <Scalar S>
void LinearSolver<S>::precondition(Array<const S> r, Array<S> z, Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    require(impl_->loop.factored(), [] { return "precondition: the last values have no factors"; });
    require_vectors<S>(impl_->matrix().rows(), r, z, "precondition: r", "z");
    const bool conjugated = is_complex<S> && transpose == Transpose::yes;  // A⁻ᵀ r is the conjugate of A⁻ᴴ r̄
    SystemVectors<S> given(r, z, false, conjugated);
    impl_->precondition(given, conjugated ? Transpose::adjoint : transpose);
}

template <Scalar S>
SolverReport LinearSolver<S>::refactor_and_solve(Array<const S> values, Array<const S> b, Array<S> x)
{
    impl_->require_allowed(SolverCall::refactor_and_solve);
    require_system<S>(impl_->matrix().rows(), b, x);
    return impl_->refactor_and_solve(values, b, x);
}

template <Scalar S>
void LinearSolver<S>::heed(StopToken stop)
{
    impl_->stop = std::move(stop);
}

template <Scalar S>
void LinearSolver<S>::listen(TryListener listener, std::function<void(const Attempt&)> after)
{
    impl_->listener = std::move(listener);
    impl_->loop.listen(std::move(after));
}

template <Scalar S>
const CsrView<S>& LinearSolver<S>::matrix() const
{
    impl_->bring_values();
    return impl_->matrix();
}

template <Scalar S>
SolverState LinearSolver<S>::state() const
{
    return impl_->loop.state();
}

template <Scalar S>
Device LinearSolver<S>::device() const
{
    impl_->require_allowed(SolverCall::device);
    return impl_->strategies->device();
}

template <Scalar S>
const Lu<S>* LinearSolver<S>::lu() const
{
    return impl_->strategies ? impl_->strategies->lu() : nullptr;
}

template <Scalar S>
const PrecondFactors<S>* LinearSolver<S>::preconditioner() const
{
    return impl_->strategies ? impl_->strategies->preconditioner() : nullptr;
}

#define ILUX_INSTANTIATE(S) template class LinearSolver<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
