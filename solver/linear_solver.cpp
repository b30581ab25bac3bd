#include "ilux/solver/linear_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/solver/analysis_limits.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/solver/lu_device.hpp"
#include "ilux/solver/memory_guard.hpp"

namespace ilux {
namespace {

/// Whether an analysis by some options serves others.
bool same_analysis(const LuOptions& one, const LuOptions& two)
{
    return one.scaling == two.scaling && one.matching == two.matching && one.pivot_tol == two.pivot_tol;
}

/// ‖A‖_F as krylov.stop=backward_error takes it: a number above 0, also of zeros and where it overflows.
double usable_norm(const CsrMatrix<double>& A)
{
    using Limits = std::numeric_limits<double>;
    return std::clamp(norm_frobenius(A), Limits::denorm_min(), Limits::max());
}

void require_same_pattern(const CsrMatrix<double>& analysed, const CsrMatrix<double>& A)
{
    require(A.rows() == analysed.rows() && A.cols() == analysed.cols(), [&] {
        return fmt::format("a {} x {} matrix, but the analysed one is {} x {}", A.rows(), A.cols(), analysed.rows(),
                           analysed.cols());
    });
    for (Index i = 0; i < A.rows(); ++i) {
        const auto row = [i](const CsrMatrix<double>& B) {
            const auto first = static_cast<std::size_t>(B.row_ptr()[i]);
            return B.col().subspan(first, static_cast<std::size_t>(B.row_ptr()[i + 1]) - first);
        };
        require(std::ranges::equal(row(A), row(analysed)),
                [&] { return fmt::format("row {} (counted from 0) has another pattern than the analysed one", i); });
    }
}

}  // namespace

LinearSolver::Impl::Impl(const SolverOptions& options) : options_(resolved(options))
{
    validate(options_);
    require_consistent(options_);
    if (options_.way() == SolverMode::direct) options_.method = MethodChoice::lu;
}

void LinearSolver::Impl::analyse(const CsrMatrix<double>& given, double systems)
{
    require(given.rows() == given.cols(),
            [&] { return fmt::format("a {} x {} matrix: a system needs a square one", given.rows(), given.cols()); });
    require_finite_values(view(given));
    budget_.enter();
    A = given;
    norm_ = usable_norm(A);
    systems_ = std::max(1.0, systems);
    choice_.direct = options_.way() == SolverMode::direct;
    if (automatic()) {
        choice_ = choose_way(A, options_, systems_, gpu_is_likely(options_, A), seconds_left() / 2);
        decisions_ = choice_.decisions;
    }
    if (options_.way() != SolverMode::iterative) require_device_of(options_.lu);
    direct = choice_.direct;
    make_way(direct);
    const bool needed = direct && !lu_way->analysed() && !has_fewer_entries_than_rows(A);
    try {  // where that fails, factor() will say so
        const Checkpoint checkpoint = analysis_within(seconds_left());
        if (needed) (void)lack_of_memory([&] { lu_way->analyse(A, options_.lu, checkpoint); });
    } catch (const OutOfTime&) {
    }
    analysing_ = budget_.elapsed();
    budget_.leave();
    analysed = true;
}

void LinearSolver::Impl::take(std::span<const double> values)
{
    require(analysed, [] { return "factor: no matrix was analysed yet"; });
    require(values.size() == A.val().size(), [&] {
        return fmt::format("{} values for an analysed pattern of {} entries", values.size(), A.val().size());
    });
    MatrixView renewed = view(A);
    renewed.val = values;
    require_finite_values(renewed);
    std::ranges::copy(values, A.val().begin());
    norm_ = usable_norm(A);
}

void LinearSolver::Impl::check_vectors(std::span<const double> b, std::span<const double> x) const
{
    const auto n = static_cast<std::size_t>(A.rows());
    require(b.size() == n && x.size() == n,
            [&] { return fmt::format("solve: b has {} and x {} entries, A {} rows", b.size(), x.size(), n); });
    Cpu serial(1);
    require(is_finite(serial, b), [] { return "solve: b is not finite"; });
}

void LinearSolver::Impl::take_guess(std::span<const double> x)
{
    Cpu serial(1);
    guess_.clear();
    if (options_.sequence.reuse_x && is_finite(serial, x)) guess_.assign(x.begin(), x.end());
}

double LinearSolver::Impl::seconds_left() const
{
    return options_.time_limit > 0 ? options_.time_limit - budget_.elapsed() : INFINITY;
}

/// Whether what is to be tried now may give way to the other, of which something is known.
bool LinearSolver::Impl::other_way_open(bool for_direct) const
{
    const auto other = [&](const Attempt& one) { return one.plan.direct() != for_direct; };
    return automatic() && options_.retry && choice_.lu && (for_direct || choice_.direct_possible) &&
           std::ranges::none_of(tries_, other);
}

/// What a try may take of the time: all that is left, or half, where the other way is expected to fit into the other half.
double LinearSolver::Impl::share_of_time(bool for_direct) const
{
    const double left = seconds_left();
    if (!other_way_open(for_direct)) return left;
    const double other = for_direct ? choice_.iterative.of(1) : choice_.lu->analyse + choice_.lu->factor;
    return other <= left / 2 ? left / 2 : left;
}

/// What a factorization may take. While the other way is open and there would be time for it, no more than what makes
/// this one a mistake: then the other is tried.
double LinearSolver::Impl::seconds_for(bool for_direct) const
{
    constexpr double least = 0.5;  // of forecasts, below which they say little
    const double     share = share_of_time(for_direct);
    if (!other_way_open(for_direct)) return share;
    const double lu = choice_.lu->analyse + choice_.lu->factor, iterative = choice_.iterative.of(1);
    const double mistaken = for_direct ? std::max(10 * lu, 3 * iterative) : std::max(choice_.lu_at_best, 8 * iterative);
    const double most = std::max(least, mistaken);
    return most + (for_direct ? iterative : lu) <= seconds_left() ? most : share;
}

/// A factorization that ended before its time limit did so for the sake of the other way.
void LinearSolver::Impl::note_given_up(Attempt& tried) const
{
    if (tried.report.outcome != Outcome::time_limit || !choice_.lu || seconds_left() <= 0) return;
    const double other = tried.plan.direct() ? choice_.iterative.of(1) : choice_.lu->analyse + choice_.lu->factor;
    tried.given_up = true;
    tried.failure +=
        fmt::format(", as {} is expected to take {}", tried.plan.direct() ? "an iteration" : "LU", time_text(other));
}

/// Steps after which LU, where that is open, would have been the better choice by far.
Index LinearSolver::Impl::most_steps(const Attempt& tried) const
{
    constexpr double mistaken = 3;
    const Index      most = options_.krylov.max_steps;
    if (!other_way_open(false)) return most;
    const double seconds = forecast_rule::step_per_entry * (1 + tried.fill) * double(A.nnz());
    const double steps = mistaken * (choice_.lu->analyse + choice_.lu->factor) / seconds;
    return static_cast<Index>(std::min<double>(most, std::max<double>(steps, 2 * options_.krylov.restart)));
}

void LinearSolver::Impl::make_way(bool for_direct)
{
    if (for_direct ? lu_way != nullptr : iterative_way != nullptr) return;
    SolverOptions options = options_;
    options.method = for_direct ? MethodChoice::lu : MethodChoice::gmres;  // all iterations alike
    Machine machine = machine_for(options, A, systems_ > 1, decisions_);
    if (!for_direct) {
        iterative_way = std::make_unique<IterativeSolver>(std::move(machine), options_);
        return;
    }
    lu_way = std::make_unique<DirectSolver>(std::move(machine), options_, systems_);
    if (choice_.symbolic) lu_way->take(choice_.symbolic, options_.lu);
}

/// From now on this way. What the other holds of former numbers goes: the memory is this one's.
void LinearSolver::Impl::take_way(bool for_direct)
{
    make_way(for_direct);
    if (direct == for_direct) return;
    record_of(direct).set_up = false;
    direct = for_direct;
    if (direct && iterative_way) iterative_way->release();
    if (!direct && lu_way) lu_way->release();
}

Plan LinearSolver::Impl::plan_of(bool for_direct)
{
    const bool ask = !for_direct && (options_.method == MethodChoice::automatic || options_.method == MethodChoice::cg);
    const bool symmetric = ask && is_symmetric(A);
    std::vector<std::string> decisions;
    Plan plan = first_plan(options_, for_direct, symmetric, symmetric && has_positive_diagonal(A), decisions);
    note(decisions);
    return plan;
}

Attempt LinearSolver::Impl::begun(const Plan& plan) const
{
    Attempt tried;
    tried.plan = plan;
    tried.forget_solution();
    tried.x = guess_.empty() ? std::vector<double>(static_cast<std::size_t>(A.rows()), 0.0) : guess_;
    return tried;
}

/// Lack of memory or time is an outcome.
void LinearSolver::Impl::guarded(Attempt& tried, const Work& work) const
{
    WallClock clock;
    try {
        if (const auto why = lack_of_memory([&] { work(tried); })) tried.fail(Outcome::out_of_memory, *why);
    } catch (const OutOfTime& late) {
        tried.fail(Outcome::time_limit, late.what());
    }
    tried.seconds += clock.seconds();
}

/// What was decided, once each.
void LinearSolver::Impl::note(const std::vector<std::string>& decisions)
{
    for (const std::string& decision : decisions)
        if (std::ranges::count(decisions_, decision) == 0) decisions_.push_back(decision);
}

/// A try is over, well or not.
void LinearSolver::Impl::end(Attempt tried)
{
    if (after) after(tried);
    note(tried.decisions);
    if (!tried.remark.empty() && systems_ == 1) decisions_.push_back(tried.remark);
    tries_.push_back(std::move(tried));
}

bool LinearSolver::Impl::analysed_for(const Plan& plan) const
{
    return lu_way->analysed() && same_analysis(lu_way->symbolic().options, plan.lu);
}

/// @return whether numbers can be factored; where A has no LU, `tried` says so. @throws OutOfTime
bool LinearSolver::Impl::analyse_for(double seconds, Attempt& tried)
{
    if (has_fewer_entries_than_rows(A)) {
        tried.fail(Outcome::singular, why_singular(A));
        return false;
    }
    if (!analysed_for(tried.plan)) lu_way->analyse(A, tried.plan.lu, analysis_within(seconds));
    return true;
}

/// An iteration that is hopeless by the preconditioner's own estimates waits until LU was tried.
bool LinearSolver::Impl::put_off(Attempt& tried)
{
    const auto by_lu = [](const Attempt& one) { return one.plan.direct(); };
    if (!automatic() || !options_.retry || !choice_.direct_possible || !tried.mlilu) return false;
    if (std::ranges::any_of(tries_, by_lu)) return false;
    const std::string why = why_hopeless(*tried.mlilu);
    if (why.empty()) return false;
    tried.fail(Outcome::breakdown, why + "; LU is tried before that iteration");
    iterative_way->release();
    return true;
}

void LinearSolver::Impl::factor_by(Attempt& tried)
{
    take_way(tried.plan.direct());
    const double seconds = seconds_for(direct);
    guarded(tried, [&](Attempt& one) {
        if (!direct) {
            ready_ = iterative_way->factor(A, seconds, listener, one) && !put_off(one);
            return;
        }
        const WallClock clock;
        ready_ = analyse_for(seconds, one);
        one.seconds_analyse = clock.seconds();
        ready_ = ready_ && lu_way->factor(A, true, seconds - clock.seconds(), one);
    });
    note_given_up(tried);
    if (!tried.failure.empty()) ready_ = false;
    if (first_) tried.seconds_analyse += analysing_;  // the choice is told with the first try
    first_ = false;
}

std::optional<Plan> LinearSolver::Impl::next()
{
    const Attempt& last = tries_.back();
    stopped_.clear();
    std::optional<Plan> plan;
    if (automatic() && has_fewer_entries_than_rows(A)) {
        stopped_ = "an iteration is tried only where it is asked for: --method gmres";
        return plan;
    }
    if (!automatic()) plan = next_plan(options_, tries_, budget_.elapsed(), stopped_);
    else {
        OtherWays ways{.direct_possible = choice_.direct_possible, .lu = choice_.lu, .first_iterative = {}};
        std::vector<std::string> decisions;  // of use only where that plan is taken
        std::swap(decisions, decisions_);
        ways.first_iterative = plan_of(false);
        std::swap(decisions, decisions_);
        plan = next_plan_of_either_way(options_, ways, tries_, budget_.elapsed(), stopped_);
        if (plan && !plan->direct() && last.plan.direct()) note(decisions);
    }
    if (!plan) return plan;
    const std::string why = last.plan.direct() || !last.failure.empty() ? last.why() : "";
    decisions_.push_back(why.empty() ? fmt::format("{} after {} steps: trying {}", name(last.report.outcome),
                                                   last.report.steps, plan->change)
                                     : fmt::format("{}: {}; trying {}", name(last.report.outcome), why, plan->change));
    return plan;
}

/// Where the last numbers left no factors, or theirs did not solve the last b.
Plan LinearSolver::Impl::first_plan_again()
{
    if (automatic()) take_way(choice_.direct);
    return plan_of(direct);
}

/// Factors by this plan, or by the first of its followers that can.
bool LinearSolver::Impl::establish(std::optional<Plan> plan)
{
    ready_ = false;
    for (; plan; plan = next()) {
        current_ = begun(*plan);
        factor_by(current_);
        if (ready_) return true;
        end(current_);
    }
    return false;
}

FactorReport LinearSolver::Impl::factor_report() const
{
    return {.outcome = ready_ ? Outcome::converged : current_.report.outcome,
            .method = current_.plan.method,
            .action = current_.action,
            .detail = ready_ ? "" : current_.why(),
            .seconds = budget_.elapsed()};
}

/// @return whether the first plan is due again: the last numbers have no factors, or the last b was not solved
bool LinearSolver::Impl::begin_numbers()
{
    ++begun_;
    tries_.clear();
    stopped_.clear();
    const bool again = !first_ && (failed_ || !ready_);
    failed_ = ready_ = solved_ = served_ = false;
    return again;
}

FactorReport LinearSolver::Impl::factor()
{
    if (!first_) budget_.restart();
    Call       call(*this, Brings::numbers);
    const bool again = begin_numbers();
    establish(again ? first_plan_again() : plan_of(direct));
    FactorReport report = factor_report();
    call.done();
    return report;
}

/// After an exception. Tries that have left factors, or a failure that was told, stay.
void LinearSolver::Impl::broke_off(Brings brings, std::size_t tries_before) noexcept
{
    const bool of_numbers = brings == Brings::numbers, lost = served_ && !ready_;
    const auto stay = of_numbers || lost ? 0 : std::min(tries_before, tries_.size());
    tries_.erase(tries_.begin() + static_cast<std::ptrdiff_t>(stay), tries_.end());
    stopped_.clear();
    if (of_numbers && !ready_) current_.failure.clear();
}

LinearSolver::LinearSolver(const SolverOptions& options) : impl_(std::make_unique<Impl>(options)) {}
LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

void LinearSolver::analyse(const CsrMatrix<double>& A, double systems)
{
    auto anew = std::make_unique<Impl>(impl_->options());
    anew->listener = impl_->listener;
    anew->after = impl_->after;
    anew->analyse(A, systems);
    impl_ = std::move(anew);
}

FactorReport LinearSolver::factor()
{
    require(impl_->analysed, [] { return "factor: no matrix was analysed yet"; });
    return impl_->factor();
}

FactorReport LinearSolver::factor(std::span<const double> values)
{
    impl_->take(values);
    return impl_->factor();
}

FactorReport LinearSolver::refactor(std::span<const double> values)
{
    impl_->take(values);
    return impl_->refactor();
}

FactorReport LinearSolver::refactor(const CsrMatrix<double>& A)
{
    require(impl_->analysed, [] { return "refactor: no matrix was analysed yet"; });
    require_same_pattern(impl_->A, A);
    return refactor(A.val());
}

SolverReport LinearSolver::solve(std::span<const double> b, std::span<double> x)
{
    require(impl_->factored_once(), [] { return "solve: nothing was factored yet"; });
    impl_->check_vectors(b, x);
    return impl_->solve(b, x);
}

SolverReport LinearSolver::refactor_and_solve(std::span<const double> values, std::span<const double> b,
                                              std::span<double> x)
{
    require(impl_->analysed, [] { return "refactor_and_solve: no matrix was analysed yet"; });
    impl_->check_vectors(b, x);
    impl_->take_guess(x);  // first: it may lack memory
    impl_->take(values);
    return impl_->refactor_and_solve(b, x);
}

void LinearSolver::listen(TryListener listener, std::function<void(const Attempt&)> after)
{
    impl_->listener = std::move(listener);
    impl_->after = std::move(after);
}

const CsrMatrix<double>& LinearSolver::matrix() const { return impl_->A; }

Device LinearSolver::device() const
{
    require(impl_->analysed, [] { return "device: no matrix was analysed yet"; });
    return impl_->direct ? impl_->lu_way->machine().device() : impl_->iterative_way->machine().device();
}

const Lu* LinearSolver::lu() const
{
    const auto& way = impl_->lu_way;
    return impl_->direct && way && way->factored() ? &way->lu() : nullptr;
}

const HostFactors* LinearSolver::preconditioner() const
{
    const auto& way = impl_->iterative_way;
    return !impl_->direct && way && way->factored() ? &way->factors() : nullptr;
}

}  // namespace ilux
