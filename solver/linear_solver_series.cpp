// What LinearSolver does with new values and right-hand sides; by which rules is in series_policy.hpp.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/solver/policy/quick_attempt.hpp"
#include "ilux/engine/analysis_limits.hpp"
#include "ilux/engine/lu_preconditioner.hpp"

namespace ilux {
/// @return whether the first plan is due again
template <Scalar S>
bool LinearSolver<S>::Impl::begin_values()
{
    ++series.begun;
    const bool anew = begins_anew(loop.state(), series.last);
    loop.begin_values();
    series.last.reset();
    if (null_space.asked()) {
        if (std::string found = null_space.renew(system.view()); !found.empty()) loop.decide(std::move(found));
        strategies->iterative().set_null_space(null_space.space());
    }
    return anew;
}

/// The next system, by the strategy taken last, or by the other, where what was measured speaks for it.
template <Scalar S>
void LinearSolver<S>::Impl::begin_system()
{
    loop.budget().restart();
    Plan& plan = loop.current().plan;
    if (begin_values()) {
        strategies->release_preconditioner();
        plan = first_plan(true);
        if (strategies->takes_direct() &&
            !(strategies->analysed_for(plan.lu) && strategies->direct().chooses_pivots_by(plan.lu)))
            strategies->direct().release();
    } else {
        const Choice& choice = planner.choice();
        std::string   why;
        if (planner.automatic() && (strategies->takes_direct() || choice.direct_possible)) {
            auto forecast = strategies->takes_direct() ? std::optional(choice.iterative) : choice.lu;
            if (!strategies->takes_direct() && forecast && (choice.symbolic || strategies->lu_analysed()))
                forecast->analyse = 0;
            why = series.reason_to_switch(strategies->takes_direct(), forecast);
        }
        if (!why.empty()) {
            loop.decide(fmt::format("from system {} on {}", series.begun - 1, why));
            take_strategy(!strategies->takes_direct());
            plan = first_plan();
        }
        std::string no_longer = planner.no_longer_symmetric(plan, [&] { strategies->bring_values(); });
        if (!no_longer.empty()) {
            plan = first_plan();
            series.why_refresh = std::move(no_longer);
        }
    }
    loop.begin(plan);
    plan.change.clear();
}

/// The values of a system that has begun.
template <Scalar S>
void LinearSolver<S>::Impl::renew()
{
    Attempt&    current = loop.current();
    ValuesFacts facts{.direct = strategies->takes_direct(), .lu = series.former_lu, .restart = options.krylov.restart};
    if (strategies->takes_direct()) {
        const DirectSolver<S>& lu = strategies->direct();
        facts.lu_may_serve =
            planner.automatic() && lu.factored() && !lu.lu().on_gpu() && series.former_lu_pause.try_next();
    } else {
        facts.has_preconditioner = strategies->has_preconditioner();
        facts.why_refresh = series.why_refresh;
        if (facts.why_refresh.empty() && options.sequence.refresh_always) facts.why_refresh = "it was asked for";
    }
    switch (step_for_values(facts)) {
        case ValuesStep::refactor:
            loop.renewed(factor_by(current, false));
            break;
        case ValuesStep::keep_lu:
            current.action = SolverAction::stale;
            current.device = strategies->device();
            loop.renewed(true);
            break;
        case ValuesStep::keep_preconditioner:
            run_guarded(current, [&](Attempt& one) { strategies->iterative().keep(system.view(), one); });
            loop.renewed(current.failure.empty());
            break;
        case ValuesStep::refresh:
            loop.renewed(factor_by(current));
            current.reason = renewal(series.why_refresh, current);
            break;
    }
    if (loop.factored()) return;
    loop.end(loop.fresh());
    loop.factor(loop.next());
}

template <Scalar S>
FactorReport LinearSolver<S>::Impl::refactor()
{
    if (!loop.tried_any()) return factor();
    AttemptLoop::Call call(loop, AttemptLoop::Input::values);
    begin_system();
    renew();
    FactorReport report = factor_report(loop);
    call.done();
    return report;
}

/// For as many steps as half a refactorization takes.
template <Scalar S>
void LinearSolver<S>::Impl::solve_by_kept_lu(SystemVectors<S>& given, Attempt& tried)
{
    strategies->bring_values();
    KrylovOptions krylov = options.krylov;
    krylov.matrix_norm = system.norm();
    krylov.restart = krylov.max_steps =
        std::max(1, std::min(steps_worth(series.former_lu, krylov.restart), system.view().rows()));
    given.read_guess(tried.x);
    Cpu threads(options.threads);
    solve_by_former_lu<S>(threads, system.matrix_for(transpose_), strategies->direct().lu().factors(), given.b(),
                          krylov, standard_of(options), listener, analysis_within(stop, call().seconds_left), tried);
    tried.reason = fmt::format("an LU of earlier numbers as preconditioner, {} steps; new ones took {:.2g} s",
                               tried.report.steps, series.former_lu.refactor);
    if (tried.converged()) series.former_lu_pause.after_success();
    else series.former_lu_pause.after_failure();
}

/// By the M at hand, which may be of an earlier system.
template <Scalar S>
void LinearSolver<S>::Impl::solve_iteratively(SystemVectors<S>& given, Attempt& tried)
{
    const bool         kept = by_former(tried) && series.first_steps > 0;
    const AttemptFacts facts = planner.facts(call());
    KrylovOptions      krylov = options.krylov;
    krylov.matrix_norm = system.norm();
    krylov.max_steps = most_steps(facts, tried.fill, system.view().nnz(), tried.gpu.has_value());
    if (kept) krylov.max_steps = most_steps_with_kept(series.first_steps, krylov.max_steps, refresh_limits(options));
    const StopToken limited = analysis_within(stop, share_of_time(facts, false));
    if (transpose_ != Transpose::no) strategies->bring_values();
    const auto iterate = [&](const AttemptListener& heard, const StopToken& within) {
        strategies->iterative().solve(system.matrix_for(transpose_), given, krylov, heard, within, tried);
    };
    if (tried.plan.quick > 0) return attempt_quickly(facts, listener, stop, limited, iterate, tried);
    iterate(listener, limited);
    tried.given_up = tried.report.outcome == Outcome::time_limit && call().seconds_left > 0;
    if (tried.report.outcome == Outcome::max_steps && krylov.max_steps < options.krylov.max_steps && !kept)
        tried.decisions.push_back(fmt::format("the iteration ended after {} steps, as LU is expected to take {:.2g} s",
                                              tried.report.steps, seconds_of_lu(planner.facts(call()))));
}

template <Scalar S>
void LinearSolver<S>::Impl::solve_by(SystemVectors<S>& given, Attempt& tried)
{
    run_guarded(tried, [&](Attempt& one) {
        if (one.action == SolverAction::stale) return solve_by_kept_lu(given, one);
        if (!one.plan.direct()) return solve_iteratively(given, one);
        const AttemptFacts facts = planner.facts(call());
        strategies->direct().solve(
            system.view(), transpose_, [this] { return system.matrix_for(transpose_); }, given, options.krylov.rtol,
            analysis_within(stop, facts.seconds_left), may_take_other_pivots(facts), one);
        series.former_lu.solve = one.report.seconds.solve / (1 + one.report.steps);
    });
}

/// After what an earlier system has left was not enough: by factors of its own.
/// @param tried  in: the try that failed; out: the next
template <Scalar S>
void LinearSolver<S>::Impl::solve_anew(SystemVectors<S>& given, Attempt& tried)
{
    const bool        rounds = replayed(tried);
    const std::string why = fmt::format("{} after {} steps with the {}", name(tried.report.outcome), tried.report.steps,
                                        rounds ? "rounds of an earlier one" : "former one");
    if (rounds) strategies->release_preconditioner();
    const double seconds = tried.seconds, solving = tried.report.seconds.solve;
    Attempt&     current = loop.current();
    loop.drop();
    loop.begin(current.plan);
    loop.renewed(factor_by(current, !strategies->takes_direct()));
    current.reason = renewal(why, current);
    tried = loop.fresh();
    tried.seconds += seconds;
    if (loop.factored()) solve_by(given, tried);
    tried.report.seconds.solve += solving;
}

/// Solves with what there is.
template <Scalar S>
void LinearSolver<S>::Impl::solve_with_current(SystemVectors<S>& given, Attempt& tried)
{
    solve_by(given, tried);
    Index      steps_before = 0;
    const auto needs_more = [&] {
        return needs_own_factors({tried.report.outcome, by_former(tried), tried.given_up, call().seconds_left});
    };
    while (needs_more()) {  // a kept M, then kept rounds, then neither
        steps_before += tried.report.steps;
        solve_anew(given, tried);
        if (!loop.factored()) return;
    }
    if (strategies->takes_direct()) return;
    const auto& M = strategies->iterative().factors().mlilu;
    series.note_steps(tried, M && M->report().deficiency > 0, refresh_limits(options));
    if (replayed(tried) && !series.why_refresh.empty()) strategies->iterative().forget_rounds();
    tried.report.steps += steps_before;
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::report(AttemptLoop::Call& call, SystemVectors<S>& given)
{
    series.remember(loop.tried(), strategies->takes_direct(), loop.budget().elapsed());
    SolverReport report = loop.tell(options.krylov.stop);
    series.last = report.result().report.outcome;
    planner.tell_cost(report);
    given.deliver(report.result().x.of<S>());
    call.done();
    return report;
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::solve(const Array<const S>& b, const Array<S>& x, Transpose transpose, Guess guess,
                                          bool further)
{
    const bool       conjugated = is_complex<S> && transpose == Transpose::yes;  // Aᵀ x = b is Aᴴ x̄ = b̄
    const Transpose  op = conjugated ? Transpose::adjoint : transpose;
    const bool       guessed = guess == Guess::by_options ? options.sequence.reuse_x : guess == Guess::x;
    SystemVectors<S> given(b, x, guessed && is_finite(x), conjugated);
    const auto       solved = [&](SystemVectors<S>& one) { return solve_as_given(one, op, further); };
    SolverReport     report = null_space.asked() ? null_space.solve_clear_of(given, op, solved) : solved(given);
    if (conjugated)
        for (Attempt& tried : report.attempts)
            for (S& one : tried.x.template of<S>()) one = conj(one);
    return report;
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::solve_as_given(SystemVectors<S>& given, Transpose transpose, bool further)
{
    transpose_ = transpose;
    if (series.last && !further) loop.budget().restart();
    if (loop.factored()) loop.budget().at_least(loop.current().seconds);  // one broken off has not told them
    AttemptLoop::Call call(loop, AttemptLoop::Input::rhs);
    guess_ = given.host_guess();
    if (loop.state() == SolverState::dropped) loop.factor(first_plan(true));
    loop.solve([&](Attempt& tried) {
        solve_with_current(given, tried);
        // Going on in double after mixed precision may end without factors.
        if (!strategies->takes_direct() && !strategies->has_preconditioner()) loop.drop();
    });
    return report(call, given);
}

template <Scalar S>
void LinearSolver<S>::Impl::precondition(SystemVectors<S>& given, Transpose transpose)
{
    transpose_ = transpose;
    if (strategies->takes_direct()) return strategies->direct().apply(system.view(), given, transpose);
    if (transpose != Transpose::no) strategies->bring_values();
    strategies->iterative().apply(system.matrix_for(transpose), loop.current().plan, given);
}

/// New values and x by one launch. @return whether that was all: enough, or nothing else is to be tried
template <Scalar S>
bool LinearSolver<S>::Impl::step_on_gpu(std::span<const S> b)
{
    DirectSolver<S>& lu = strategies->direct();
    Attempt          tried = loop.fresh();
    run_guarded(tried, [&](Attempt& one) {
        lu.step(system.view(), b, options.krylov.rtol,
                analysis_within(stop, seconds_to_factor(planner.facts(call()), true)), one, loop.current());
    });
    note_given_up(planner.facts(call()), tried);
    const bool factored = loop.renewed(lu.factored());
    if (!factored || !tried.failure.empty()) loop.current() = tried;
    if (factored) loop.current().forget_solution();
    const bool converged = tried.converged();
    loop.end(std::move(tried));
    loop.current().forget_seconds();
    if (converged) return true;
    const auto plan = loop.next();
    if (!plan && factored) return true;  // what there is serves another b
    return !loop.factor(plan);
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::refactor_and_solve(const Array<const S>& values, const Array<const S>& b,
                                                       const Array<S>& x)
{
    SystemVectors<S> given(b, x, options.sequence.reuse_x && is_finite(x));
    guess_ = given.host_guess();  // first: it may lack memory
    take_values(values);
    if (!loop.tried_any() || values.gpu()) {
        (void)refactor();
        return solve(b, x, Transpose::no, Guess::by_options);
    }
    {
        AttemptLoop::Call call(loop, AttemptLoop::Input::values);
        begin_system();
        const bool step =
            strategies->takes_direct() && strategies->direct().factored() && strategies->direct().lu().on_gpu();
        if (step && step_on_gpu(given.b())) return report(call, given);
        if (!step) renew();
        call.done();
    }
    return solve(b, x, Transpose::no, Guess::by_options);
}

#define ILUX_INSTANTIATE(S)                                                                                       \
    template bool         LinearSolver<S>::Impl::begin_values();                                                  \
    template FactorReport LinearSolver<S>::Impl::refactor();                                                      \
    template SolverReport LinearSolver<S>::Impl::solve(const Array<const S>&, const Array<S>&, Transpose, Guess,  \
                                                       bool);                                                     \
    template void         LinearSolver<S>::Impl::precondition(SystemVectors<S>&, Transpose);                      \
    template SolverReport LinearSolver<S>::Impl::refactor_and_solve(const Array<const S>&, const Array<const S>&, \
                                                                    const Array<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
