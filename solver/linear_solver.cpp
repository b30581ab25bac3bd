#include "ilux/solver/linear_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/pattern.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/solver/machine/lu_device.hpp"
#include "ilux/solver/machine/memory_guard.hpp"
#include "ilux/solver/policy/retry.hpp"
#include "ilux/solver/strategy/analysis_limits.hpp"

namespace ilux {
namespace {

/// ‖A‖_F as krylov.stop=backward_error takes it: a number above 0, also of zeros and where it overflows.
double usable_norm(const CsrView<double>& A)
{
    using Limits = std::numeric_limits<double>;
    return std::clamp(norm_frobenius(A), Limits::denorm_min(), Limits::max());
}

void require_same_pattern(const CsrView<double>& analysed, const CsrView<double>& A)
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

void check_vectors(const CsrView<double>& A, std::span<const double> b, std::span<const double> x)
{
    const auto n = static_cast<std::size_t>(A.rows());
    require(b.size() == n && x.size() == n,
            [&] { return fmt::format("solve: b has {} and x {} entries, A {} rows", b.size(), x.size(), n); });
    Cpu serial(1);
    require(is_finite(serial, b), [] { return "solve: b is not finite"; });
}

}  // namespace

LinearSolver::Impl::Impl(const SolverOptions& options) : loop(steps()), options_(resolved(options))
{
    validate(options_);
    require_consistent(options_);
    if (options_.strategy() == SolverMode::direct) options_.method = MethodChoice::lu;
}

TrySteps LinearSolver::Impl::steps()
{
    return {.begin =
                [this](const Plan& plan) {
                    Attempt tried;
                    tried.plan = plan;
                    tried.forget_solution();
                    tried.x = guess_.empty() ? std::vector<double>(static_cast<std::size_t>(A_.rows()), 0.0) : guess_;
                    return tried;
                },
            .factor = [this](Attempt& tried) { return factor_by(tried); },
            .next = [this](std::span<const Attempt> tried, std::string& why_not) { return next_plan(tried, why_not); }};
}

void LinearSolver::Impl::analyse(const CsrView<double>& given, double systems)
{
    require(given.rows() == given.cols(),
            [&] { return fmt::format("a {} x {} matrix: a system needs a square one", given.rows(), given.cols()); });
    require_finite_values(view(given));
    loop.budget().enter();
    A_ = given;
    norm_ = usable_norm(A_);
    series_.promised = std::max(1.0, systems);
    choice_.direct = options_.strategy() == SolverMode::direct;
    if (automatic()) {
        choice_ =
            choose_strategy(A_, options_, series_.promised, gpu_is_likely(options_, A_), within(seconds_left() / 2));
        for (const std::string& decision : choice_.decisions) loop.decide(decision);
    }
    if (options_.strategy() != SolverMode::iterative) require_device_of(options_.lu);
    strategies.emplace(options_, A_, series_.promised, choice_.symbolic);
    take_strategy(choice_.direct);
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

void LinearSolver::Impl::analyse(CsrMatrix<double>&& A, double systems)
{
    own_ = std::move(A);
    analyse(own_, systems);
}

void LinearSolver::Impl::take_values(std::span<const double> values)
{
    require(values.size() == A_.val().size(), [&] {
        return fmt::format("{} values for an analysed pattern of {} entries", values.size(), A_.val().size());
    });
    require_finite_values(view(A_.with_values(values)));
    values_.reserve(values.size());  // may lack memory, before anything has changed
    if (values.data() != values_.data()) values_.assign(values.begin(), values.end());
    A_ = A_.with_values(values_);
    norm_ = usable_norm(A_);
}

void LinearSolver::Impl::take_guess(std::span<const double> x)
{
    Cpu serial(1);
    guess_.clear();
    if (options_.sequence.reuse_x && is_finite(serial, x)) guess_.assign(x.begin(), x.end());
}

double LinearSolver::Impl::seconds_left() const
{
    return options_.time_limit > 0 ? options_.time_limit - loop.budget().elapsed() : INFINITY;
}

/// From now on this strategy. What the other holds of former values goes: the memory is this one's.
void LinearSolver::Impl::take_strategy(bool of_direct)
{
    const bool before = direct();
    for (const std::string& decision : strategies->take(of_direct)) loop.decide(decision);
    if (before != of_direct) series_.of(before).set_up = false;
}

Plan LinearSolver::Impl::plan_of(bool of_direct, std::vector<std::string>& decisions) const
{
    const bool ask = !of_direct && (options_.method == MethodChoice::automatic || options_.method == MethodChoice::cg);
    const bool symmetric = ask && is_symmetric(A_);
    return ilux::first_plan(options_, of_direct, symmetric, symmetric && has_positive_diagonal(A_), decisions);
}

/// Of the strategy taken.
Plan LinearSolver::Impl::first_plan()
{
    std::vector<std::string> decisions;
    Plan                     plan = plan_of(direct(), decisions);
    loop.note(decisions);
    return plan;
}

/// Where the last values left no factors, or theirs did not solve the last b.
Plan LinearSolver::Impl::first_plan_again()
{
    if (automatic()) take_strategy(choice_.direct);
    return first_plan();
}

std::optional<Plan> LinearSolver::Impl::next_plan(std::span<const Attempt> tried, std::string& why_not)
{
    if (!automatic()) return ilux::next_plan(options_, tried, loop.budget().elapsed(), why_not);
    if (has_fewer_entries_than_rows(A_)) {
        why_not = "an iteration is tried only where it is asked for: --method gmres";
        return std::nullopt;
    }
    std::vector<std::string> decisions;  // of use only where that plan is taken
    const OtherStrategies    others{.direct_possible = choice_.direct_possible,
                                    .lu = choice_.lu,
                                    .first_iterative = plan_of(false, decisions)};
    auto plan = next_plan_of_either_strategy(options_, others, tried, loop.budget().elapsed(), why_not);
    if (plan && !plan->direct() && tried.back().plan.direct()) loop.note(decisions);
    return plan;
}

bool LinearSolver::Impl::factor_by(Attempt& tried)
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
    note_given_up(choice_, seconds_left(), tried);
    if (!loop.tried_any()) tried.seconds_analyse += analysing_;  // the choice is told with the first try
    return factored && tried.failure.empty();
}

FactorReport LinearSolver::Impl::factor_report() const
{
    const Attempt& current = loop.current();
    return {.outcome = loop.factored() ? Outcome::converged : current.report.outcome,
            .method = current.plan.method,
            .action = current.action,
            .detail = loop.factored() ? "" : current.why(),
            .seconds = loop.budget().elapsed()};
}

FactorReport LinearSolver::Impl::factor()
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

LinearSolver::LinearSolver(const SolverOptions& options) : impl_(std::make_unique<Impl>(options)) {}
LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

std::unique_ptr<LinearSolver::Impl> LinearSolver::anew() const
{
    auto fresh = std::make_unique<Impl>(impl_->options());
    fresh->listener = impl_->listener;
    fresh->stop = impl_->stop;
    fresh->loop.listen(impl_->loop.listener());
    return fresh;
}

void LinearSolver::analyse(const CsrView<double>& A, double systems)
{
    auto fresh = anew();
    fresh->analyse(A, systems);
    impl_ = std::move(fresh);
}

void LinearSolver::analyse(CsrMatrix<double>&& A, double systems)
{
    auto fresh = anew();
    fresh->analyse(std::move(A), systems);
    impl_ = std::move(fresh);
}

FactorReport LinearSolver::factor()
{
    impl_->require_allowed(SolverCall::factor);
    return impl_->factor();
}

FactorReport LinearSolver::factor(std::span<const double> values)
{
    impl_->require_allowed(SolverCall::factor);
    impl_->take_values(values);
    return impl_->factor();
}

FactorReport LinearSolver::refactor(std::span<const double> values)
{
    impl_->require_allowed(SolverCall::refactor);
    impl_->take_values(values);
    return impl_->refactor();
}

FactorReport LinearSolver::refactor(const CsrView<double>& A)
{
    impl_->require_allowed(SolverCall::refactor);
    require_same_pattern(impl_->matrix(), A);
    return refactor(A.val());
}

SolverReport LinearSolver::solve(std::span<const double> b, std::span<double> x)
{
    impl_->require_allowed(SolverCall::solve);
    check_vectors(impl_->matrix(), b, x);
    return impl_->solve(b, x);
}

SolverReport LinearSolver::refactor_and_solve(std::span<const double> values, std::span<const double> b,
                                              std::span<double> x)
{
    impl_->require_allowed(SolverCall::refactor_and_solve);
    check_vectors(impl_->matrix(), b, x);
    impl_->take_guess(x);  // first: it may lack memory
    impl_->take_values(values);
    return impl_->refactor_and_solve(b, x);
}

void LinearSolver::heed(StopToken stop) { impl_->stop = std::move(stop); }

void LinearSolver::listen(TryListener listener, std::function<void(const Attempt&)> after)
{
    impl_->listener = std::move(listener);
    impl_->loop.listen(std::move(after));
}

const CsrView<double>& LinearSolver::matrix() const { return impl_->matrix(); }

SolverState LinearSolver::state() const { return impl_->loop.state(); }

Device LinearSolver::device() const
{
    impl_->require_allowed(SolverCall::device);
    return impl_->strategies->device();
}

const Lu* LinearSolver::lu() const { return impl_->strategies ? impl_->strategies->lu() : nullptr; }

const PrecondFactors* LinearSolver::preconditioner() const
{
    return impl_->strategies ? impl_->strategies->preconditioner() : nullptr;
}

}  // namespace ilux
