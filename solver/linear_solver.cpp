#include "ilux/solver/linear_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/pattern.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/engine/machine/lu_device.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
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

}  // namespace

template <Scalar S>
LinearSolver<S>::Impl::Impl(const SolverOptions& given)
    : options(resolved(given)),
      loop(
          {.begin =
               [this](const Plan& plan) {
                   Attempt tried;
                   tried.plan = plan;
                   tried.forget_solution();
                   tried.x = std::vector<S>();
                   return tried;
               },
           .guess = [this]() -> Solution { return guess_.empty() ? std::vector<S>(system.view().rows()) : guess_; },
           .factor = [this](Attempt& tried) { return factor_by(tried); },
           .next = [this](std::span<const Attempt> tried, std::string& why_not) { return next_plan(tried, why_not); }}),
      null_space(given.krylov.null_space),
      planner(options, system.view())
{
    validate(options);
    require_consistent(options);
    if (options.strategy() == SolverMode::direct) options.method = MethodChoice::lu;
}

template <Scalar S>
std::unique_ptr<typename LinearSolver<S>::Impl> LinearSolver<S>::Impl::anew() const
{
    SolverOptions same = options;
    same.lu.order_for = asked_order_for_;
    auto fresh = std::make_unique<Impl>(same);
    fresh->listener = listener;
    fresh->stop = stop;
    fresh->null_space = null_space;
    fresh->loop.listen(loop.listener());
    return fresh;
}

/// Where the call under way stands.
template <Scalar S>
CallState LinearSolver<S>::Impl::call() const
{
    const double elapsed = loop.budget().elapsed();
    return {loop.tried(), elapsed, options.time_limit > 0 ? options.time_limit - elapsed : INFINITY, stop};
}

template <Scalar S>
void LinearSolver<S>::Impl::analyse(const CsrView<S>& given, const Ahead& ahead)
{
    system.begin(Cpu(options.threads), given);
    const CsrView<S>& A = system.view();
    loop.budget().enter();
    gpu_start_ = start_gpu(options, A.nnz());
    series.promised = std::max(1.0, ahead.systems);
    std::vector<std::string> decisions, of_plan;
    std::optional<LuPlan>    stored = load_plan<S>(A, options, of_plan);
    options.lu.order_for = stored ? stored->symbolic->options.order_for : order_for(options, series.promised);
    planner.obey(null_space.asked());
    if (!null_space.asked() && planner.automatic())
        planner.choose(stored ? stored->symbolic : nullptr, ahead, analysis_within(stop, call().seconds_left / 2),
                       decisions);
    loop.note(decisions);
    for (const std::string& decision : of_plan) loop.decide(decision);
    const Choice& choice = planner.choice();
    if (choice.direct && !stored && options.lu.order_for != asked_order_for_ && options.lu.order_for == LuOrderFor::gpu)
        loop.decide(
            fmt::format("order for a GPU, which is to refactor {:.0f} systems (lu.order_for)", series.promised));
    if (!options.plan.empty() && !choice.direct) loop.decide(no_plan_needed(options.plan));
    require_device_for_lu(options);
    strategies.emplace(options, A, series.promised, choice.symbolic, std::move(stored), system.values());
    take_strategy(choice.begins_direct());
    const bool needed = strategies->takes_direct() && !strategies->lu_analysed() && !has_fewer_entries_than_rows(A);
    try {  // where that fails, factor() will say so
        const StopToken limited = analysis_within(stop, call().seconds_left);
        if (needed) (void)lack_of_memory([&] { strategies->direct().analyse(A, options.lu, limited); });
    } catch (const Stopped&) {
    }
    planner.note_seconds(loop.budget().elapsed());
    loop.budget().leave();
    loop.analysed(series.promised == 1);
}

/// Values for an iteration on a GPU stay there, and the host gets them when it has to look at them.
template <Scalar S>
void LinearSolver<S>::Impl::take_values(const Array<const S>& values)
{
    const bool iteration = strategies && !strategies->takes_direct() && !null_space.asked();
    if (values.gpu() && iteration && system.take_there(strategies->iterative(), values)) return;
    system.take(Cpu(options.threads), values);
    if (strategies) strategies->forget_values();
}

/// From now on this strategy. What the other holds of former values goes: the memory is this one's.
template <Scalar S>
void LinearSolver<S>::Impl::take_strategy(bool of_direct)
{
    const bool before = strategies->takes_direct();
    loop.note(strategies->take(of_direct));
    if (before != of_direct) series.of(before).set_up = false;
}

/// The first plan of the strategy taken.
/// @param again  the last values left no factors, or theirs did not solve the last b
template <Scalar S>
Plan LinearSolver<S>::Impl::first_plan(bool again)
{
    if (again && planner.automatic()) take_strategy(planner.choice().begins_direct());
    strategies->bring_values();
    std::vector<std::string> decisions;
    Plan                     plan = planner.first(strategies->takes_direct(), decisions);
    loop.note(decisions);
    return plan;
}

template <Scalar S>
std::optional<Plan> LinearSolver<S>::Impl::next_plan(std::span<const Attempt> tried, std::string& why_not)
{
    strategies->bring_values();
    std::vector<std::string> decisions;
    CallState                now = call();
    now.tried = tried;
    std::optional<Plan> plan = planner.next(now, decisions, why_not);
    if (tried.back().plan.quick > 0) strategies->know(planner.choice().symbolic);
    loop.note(decisions);
    return plan;
}

/// @param anew  else by the former pivots, where they hold
template <Scalar S>
bool LinearSolver<S>::Impl::factor_by(Attempt& tried, bool anew)
{
    take_strategy(tried.plan.direct());
    if (strategies->takes_direct()) coming_.reset();  // its memory is the LU's
    const CsrView<S>& A = system.view();
    const StopToken   limited =
        analysis_within(stop, seconds_to_factor(planner.facts(call()), strategies->takes_direct()));
    bool factored = false;
    run_guarded(tried, [&](Attempt& one) {
        if (strategies->takes_direct()) {
            const WallClock clock;
            const bool      analysed = strategies->analyse_lu(limited, one);
            if (anew) one.seconds_analyse = clock.seconds();
            factored = analysed && strategies->direct().factor(A, anew, limited, one);
            return;
        }
        factored = strategies->iterative().factor(A, listener, limited, one, std::move(coming_));
        if (!factored) return;
        const std::string why = why_put_off(planner.facts(call()), one);
        if (why.empty()) return;
        one.fail(Outcome::breakdown, why);
        strategies->release_preconditioner();
    });
    note_given_up(planner.facts(call()), tried);
    if (anew) tried.seconds_analyse += planner.take_seconds();  // a choice is told with the try that follows
    else series.former_lu.refactor = tried.seconds_factor;
    return factored && tried.failure.empty();
}

template <Scalar S>
FactorReport LinearSolver<S>::Impl::factor()
{
    if (loop.tried_any()) loop.budget().restart();
    AttemptLoop::Call call(loop, AttemptLoop::Input::values);
    const bool        anew = begin_values();
    strategies->release_preconditioner();  // whose rounds would serve again
    strategies->bring_values();
    if (!strategies->takes_direct()) coming_ = sent_ahead(strategies->iterative().machine(), system.view());
    try {
        loop.factor(first_plan(anew));
    } catch (...) {
        coming_.reset();  // the caller may free A now
        throw;
    }
    coming_.reset();  // nobody has asked for it
    FactorReport report = factor_report(loop);
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
    fresh->analyse(fresh->system.hold(std::move(A)), ahead);
    impl_ = std::move(fresh);
}

template <Scalar S>
void LinearSolver<S>::set_null_space(std::span<const S> columns, Index count)
{
    auto          fresh = impl_->anew();
    SolverOptions with = fresh->options;
    with.krylov.null_space = "vectors";
    require_null_space_possible(with);
    fresh->null_space.give(columns, count);
    impl_ = std::move(fresh);
}

template <Scalar S>
FactorReport LinearSolver<S>::factor()
{
    require_allowed(impl_->loop.state(), SolverCall::factor);
    return impl_->factor();
}

template <Scalar S>
FactorReport LinearSolver<S>::factor(Array<const S> values)
{
    require_allowed(impl_->loop.state(), SolverCall::factor);
    impl_->take_values(values);
    return impl_->factor();
}

template <Scalar S>
FactorReport LinearSolver<S>::refactor(Array<const S> values)
{
    require_allowed(impl_->loop.state(), SolverCall::refactor);
    impl_->take_values(values);
    return impl_->refactor();
}

template <Scalar S>
FactorReport LinearSolver<S>::refactor(const CsrView<S>& A)
{
    require_allowed(impl_->loop.state(), SolverCall::refactor);
    require_same_pattern<S>(impl_->system.view(), A);
    return refactor(A.val());
}

template <Scalar S>
const Attempt& LinearSolver<S>::factored_by() const
{
    require_allowed(impl_->loop.state(), SolverCall::solve);
    return impl_->loop.current();
}

template <Scalar S>
SolverReport LinearSolver<S>::solve(Array<const S> b, Array<S> x, Transpose transpose, Guess guess)
{
    require_allowed(impl_->loop.state(), SolverCall::solve);
    require_system<S>(impl_->system.view().rows(), b, x);
    return impl_->solve(b, x, transpose, guess);
}

template <Scalar S>
void LinearSolver<S>::precondition(Array<const S> r, Array<S> z, Transpose transpose)
{
    require_allowed(impl_->loop.state(), SolverCall::solve);
    require(impl_->loop.factored(), [] { return "precondition: the last values have no factors"; });
    require_vectors<S>(impl_->system.view().rows(), r, z, "precondition: r", "z");
    const bool conjugated = is_complex<S> && transpose == Transpose::yes;  // A⁻ᵀ r is the conjugate of A⁻ᴴ r̄
    SystemVectors<S> given(r, z, false, conjugated);
    impl_->precondition(given, conjugated ? Transpose::adjoint : transpose);
}

template <Scalar S>
SolverReport LinearSolver<S>::refactor_and_solve(Array<const S> values, Array<const S> b, Array<S> x)
{
    require_allowed(impl_->loop.state(), SolverCall::refactor_and_solve);
    require_system<S>(impl_->system.view().rows(), b, x);
    return impl_->refactor_and_solve(values, b, x);
}

template <Scalar S>
void LinearSolver<S>::stop_by(StopToken stop)
{
    impl_->stop = std::move(stop);
}

template <Scalar S>
void LinearSolver<S>::listen(AttemptListener listener, std::function<void(const Attempt&)> after)
{
    impl_->listener = std::move(listener);
    impl_->loop.listen(std::move(after));
}

template <Scalar S>
const CsrView<S>& LinearSolver<S>::matrix() const
{
    if (impl_->strategies) impl_->strategies->bring_values();  // they may be on a GPU alone
    return impl_->system.view();
}

template <Scalar S>
SolverState LinearSolver<S>::state() const
{
    return impl_->loop.state();
}

template <Scalar S>
Device LinearSolver<S>::device() const
{
    require_allowed(impl_->loop.state(), SolverCall::device);
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
