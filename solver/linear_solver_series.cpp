// What LinearSolver does with new numbers and right-hand sides: keeps what serves, notices what does not.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ilux/solver/linear_solver_impl.hpp"

namespace ilux {

Index StaleLu::steps(Index restart) const
{
    constexpr double most = 0.5;    // of a refactorization
    constexpr double least = 1e-3;  // s; below, there is nothing to gain
    if (!(solve > 0) || refactor < least) return 0;
    return static_cast<Index>(std::min<double>(restart, most * refactor / solve));
}

/// Steps beyond which M is made anew for the next system.
Index LinearSolver::Impl::most_lagged_steps() const
{
    constexpr double least = 5;                                  // steps more: 1 to 3 is no reason to factor
    const double     factor = options_.sequence.refresh_factor;  // inf: never, be it of 0 steps
    const double     most = std::max(std::isinf(factor) ? factor : factor * first_steps_, first_steps_ + least);
    return static_cast<Index>(std::min<double>(most, options_.krylov.max_steps));
}

/// The rest of the series goes the other way, where what was measured speaks for it.
void LinearSolver::Impl::change_way()
{
    if (!automatic() || (!direct && !choice_.direct_possible)) return;
    if (!record_of(!direct).pause.try_next()) return;
    const double before = begun_ - 1;
    // This one counts. Where nobody said how many are to come: as many as there were.
    const double left = systems_ > 1 ? std::max(systems_ - before, 1.) : before;
    OtherWay     other{.name = direct ? "iterative" : "direct",
                       .record = &record_of(!direct),
                       .forecast = direct ? std::optional(choice_.iterative) : choice_.lu};
    if (!direct && other.forecast && (choice_.symbolic || (lu_way && lu_way->analysed()))) other.forecast->analyse = 0;
    const std::string why = reason_to_change(record_of(direct), direct ? "direct" : "iterative", other, left);
    if (why.empty()) return;
    decisions_.push_back(fmt::format("from system {} on {}", before, why));
    take_way(!direct);
    current_.plan = plan_of(direct);
}

/// CG and definite factors were chosen for a symmetric A with positive diagonal.
void LinearSolver::Impl::keep_plan()
{
    if (direct || !current_.plan.precond.mlilu.definite || options_.precond.mlilu.definite) return;
    if (is_symmetric(A) && has_positive_diagonal(A)) return;
    current_.plan = plan_of(false);
    stale_M_ = "A is no longer symmetric with a positive diagonal";
}

bool LinearSolver::Impl::stale_may_help()
{
    constexpr Index least = 5;  // steps: an LU of other numbers that needs fewer is rare
    if (!automatic() || !lu_way->factored() || lu_way->lu().on_gpu()) return false;
    return stale_.pause.try_next() && stale_.steps(options_.krylov.restart) >= least;
}

void LinearSolver::Impl::renew_direct()
{
    if (stale_may_help()) {
        current_.action = SolverAction::stale;
        current_.device = lu_way->machine().device();
        ready_ = true;
        return;
    }
    guarded(current_, [&](Attempt& one) {
        ready_ = analyse_for(seconds_for(true), one) && lu_way->factor(A, false, seconds_for(true), one);
    });
    note_given_up(current_);
    stale_.refactor = current_.seconds_factor;
}

void LinearSolver::Impl::renew_iterative()
{
    const bool        lagged = iterative_way && iterative_way->factored() && stale_M_.empty();
    const std::string why = stale_M_;
    if (lagged) {
        guarded(current_, [&](Attempt& one) { iterative_way->keep(A, one); });
        ready_ = current_.failure.empty();
    } else {
        factor_by(current_);
        current_.reason = why;
    }
}

/// The next system, by the way taken last or by the other.
void LinearSolver::Impl::begin_system()
{
    budget_.restart();
    if (begin_numbers()) {
        if (iterative_way) iterative_way->release();
        current_.plan = first_plan_again();
        if (direct && !analysed_for(current_.plan)) lu_way->release();
    } else {
        change_way();
        keep_plan();
    }
    current_ = begun(current_.plan);
    current_.plan.change.clear();
}

/// Its numbers.
void LinearSolver::Impl::renew()
{
    if (direct) renew_direct();
    else renew_iterative();
    if (ready_) return;
    end(current_);
    establish(next());
}

FactorReport LinearSolver::Impl::refactor()
{
    if (first_) return factor();
    Call call(*this, Brings::numbers);
    begin_system();
    renew();
    FactorReport report = factor_report();
    call.done();
    return report;
}

/// GMRES on the new A with an LU of other numbers, for as many steps as half a refactorization takes.
void LinearSolver::Impl::solve_stale(std::span<const double> b, Attempt& tried)
{
    KrylovOptions krylov = options_.krylov;
    krylov.matrix_norm = norm_;
    krylov.time_limit = seconds_left();
    krylov.restart = krylov.max_steps = std::max(1, std::min(stale_.steps(krylov.restart), A.rows()));
    Cpu                  cpu = lu_way->machine().cpu;
    const MatrixOperator op(A);
    LuPreconditioner     M(lu_way->lu().factors());
    KrylovWorkspace<Cpu> workspace(Method::gmres, A.rows(), krylov);
    const Monitor        monitor = history_of(tried, listener, krylov);
    tried.report = ilux::solve<Cpu>(cpu, Method::gmres, op, M, b, tried.x, workspace, krylov, monitor);
    finish_iteration(cpu, A, b, krylov, standard_of(options_), host_iteration(cpu, op, M, workspace, listener.monitor),
                     tried);
    tried.reason = fmt::format("an LU of earlier numbers as preconditioner, {} steps; new ones took {:.2g} s",
                               tried.report.steps, stale_.refactor);
    if (tried.converged()) stale_.pause.after_success();
    else stale_.pause.after_failure();
}

/// By M of an earlier system; where that fails, by one of its own.
void LinearSolver::Impl::solve_lagged(std::span<const double> b, Attempt& tried)
{
    KrylovOptions krylov = options_.krylov;
    krylov.matrix_norm = norm_;
    krylov.time_limit = share_of_time(false);
    krylov.max_steps = most_steps(tried);
    if (tried.action == SolverAction::lagged)
        krylov.max_steps = static_cast<Index>(
            std::min<double>(krylov.max_steps, 4. * most_lagged_steps()));  // beyond, a new one is cheaper
    iterative_way->solve(b, krylov, listener, tried);
    tried.given_up = tried.report.outcome == Outcome::time_limit && seconds_left() > 0;
    if (tried.report.outcome == Outcome::max_steps && krylov.max_steps < options_.krylov.max_steps &&
        tried.action != SolverAction::lagged)
        tried.decisions.push_back(fmt::format("the iteration ended after {} steps, as LU is expected to take {:.2g} s",
                                              tried.report.steps, choice_.lu->analyse + choice_.lu->factor));
}

void LinearSolver::Impl::solve_by(std::span<const double> b, Attempt& tried)
{
    guarded(tried, [&](Attempt& one) {
        if (one.action == SolverAction::stale) solve_stale(b, one);
        else if (!one.plan.direct()) solve_lagged(b, one);
        else {
            lu_way->solve(A, b, options_.krylov.rtol, seconds_left(), one);
            stale_.solve = one.report.seconds.solve / (1 + one.report.steps);
        }
    });
}

/// After what an earlier system has left was not enough: by numbers of its own.
/// @param tried  in: the try that failed; out: the next. @return whether there was one
bool LinearSolver::Impl::solve_anew(std::span<const double> b, Attempt& tried)
{
    const std::string why =
        fmt::format("{} after {} steps with the former one", name(tried.report.outcome), tried.report.steps);
    const double seconds = tried.seconds, solving = tried.report.seconds.solve;
    ready_ = false;
    current_ = begun(current_.plan);
    if (direct) {
        guarded(current_, [&](Attempt& one) { ready_ = lu_way->factor(A, false, seconds_for(true), one); });
        note_given_up(current_);
        ready_ = ready_ && current_.failure.empty();
        stale_.refactor = current_.seconds_factor;
    } else factor_by(current_);
    current_.reason = why;
    tried = current_;
    tried.seconds += seconds;
    if (ready_) solve_by(b, tried);
    tried.report.seconds.solve += solving;
    return ready_;
}

/// Whether M serves another system.
void LinearSolver::Impl::judge_preconditioner(const Attempt& tried)
{
    const Index steps = tried.report.steps;
    if (tried.action != SolverAction::lagged) first_steps_ = steps;
    const auto& M = iterative_way->factors().mlilu;
    stale_M_ = !tried.converged()            ? fmt::format("the system before: {}", name(tried.report.outcome))
               : M && M->report().deficiency ? "the former one lacks rank"
               : steps > most_lagged_steps() ? fmt::format("steps grew from {} to {}", first_steps_, steps)
                                             : "";
}

/// Those of the factors are told once, with the first b.
void LinearSolver::Impl::forget_seconds() { current_.seconds = current_.seconds_factor = current_.seconds_analyse = 0; }

/// Solves with what there is. @return whether that was enough
bool LinearSolver::Impl::solve_with_current(std::span<const double> b)
{
    Attempt tried = current_;
    if (!guess_.empty()) tried.x = guess_;
    served_ = true;
    solve_by(b, tried);
    const bool former = tried.action == SolverAction::lagged || tried.action == SolverAction::stale;
    Index      steps_before = 0;
    if (!tried.converged() && former && !tried.given_up && seconds_left() > 0) {
        steps_before = tried.report.steps;
        if (!solve_anew(b, tried)) {
            end(std::move(tried));
            return false;
        }
    }
    if (!direct) {
        judge_preconditioner(tried);
        tried.report.steps += steps_before;
    }
    const bool converged = tried.converged();
    end(std::move(tried));
    forget_seconds();
    return converged;
}

void LinearSolver::Impl::solve_until_it_is(std::span<const double> b)
{
    while (ready_ && !solve_with_current(b)) {
        const auto plan = next();
        if (!plan) return;  // what there is serves another b
        establish(plan);
    }
}

/// Seconds of this system, or that a way was of no use to it: for the choice of the way of later ones.
void LinearSolver::Impl::remember()
{
    if (tries_.empty() || !tries_.back().converged()) return;
    if (!solved_) record_of(direct).add(budget_.elapsed());
    const auto by_other = [&](const Attempt& one) { return one.plan.direct() != direct; };
    if (std::ranges::any_of(tries_, by_other)) record_of(!direct).pause.after_failure();
}

/// Where LU found A singular, no x is right beyond the residual: one that has converged as far as that goes is a solution, perhaps
/// one of many.
void LinearSolver::Impl::accept_what_can_be_known()
{
    const auto singular = [](const Attempt& one) { return one.report.outcome == Outcome::singular; };
    if (options_.krylov.stop == StopTest::error) return;  // more was asked for
    if (std::ranges::none_of(tries_, singular) || std::ranges::any_of(tries_, &Attempt::converged)) return;
    const auto best = std::ranges::find_if(tries_.rbegin(), tries_.rend(), &Attempt::inaccurate);
    if (best == tries_.rend()) return;
    best->report.outcome = Outcome::converged;
    best->inaccurate = false;
    best->warn(best->explanation);
    best->warn("A is singular in working precision, and x may be one of many");
    best->explanation.clear();
}

SolverReport LinearSolver::Impl::report(Call& call, std::span<double> x)
{
    remember();
    solved_ = true;
    SolverReport report;
    if (tries_.empty()) tries_.push_back(current_);  // told again: there are no factors
    accept_what_can_be_known();
    report.attempts = std::exchange(tries_, {});
    report.best = best_attempt(report.attempts);
    report.decisions = std::exchange(decisions_, {});
    report.stopped = std::exchange(stopped_, "");
    failed_ = !report.result().converged();
    report.seconds = budget_.elapsed();
    std::ranges::copy(report.result().x, x.begin());
    call.done();
    return report;
}

SolverReport LinearSolver::Impl::solve(std::span<const double> b, std::span<double> x)
{
    if (solved_) budget_.restart();
    if (ready_) budget_.at_least(current_.seconds);  // a b that an exception broke off has not told them
    Call call(*this, Brings::b);
    if (served_ && !ready_) establish(first_plan_again());  // tries for another b took the factors and found none
    require(ready_ || !tries_.empty() || !current_.failure.empty(), [] {
        return "solve: an exception broke the last factorization off, and there are no factors: factor() again";
    });
    take_guess(x);
    solve_until_it_is(b);
    return report(call, x);
}

/// New numbers and x by one launch. @return whether that was all: enough, or nothing else is to be tried
bool LinearSolver::Impl::step_on_gpu(std::span<const double> b)
{
    Attempt tried = current_;
    guarded(tried, [&](Attempt& one) { lu_way->step(A, b, options_.krylov.rtol, seconds_for(true), one, current_); });
    note_given_up(tried);
    ready_ = served_ = lu_way->factored();
    if (!ready_ || !tried.failure.empty()) current_ = tried;
    if (ready_) current_.forget_solution();
    const bool converged = tried.converged();
    end(std::move(tried));
    forget_seconds();
    if (converged) return true;
    const auto plan = next();
    return !plan || !establish(plan);
}

SolverReport LinearSolver::Impl::refactor_and_solve(std::span<const double> b, std::span<double> x)
{
    if (first_) {
        (void)factor();
        return solve(b, x);
    }
    {
        Call call(*this, Brings::numbers);
        begin_system();
        const bool step = direct && lu_way->factored() && lu_way->lu().on_gpu();
        if (step && step_on_gpu(b)) return report(call, x);
        if (!step) renew();
        call.done();
    }
    return solve(b, x);
}

}  // namespace ilux
