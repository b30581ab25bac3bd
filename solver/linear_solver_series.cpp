// What LinearSolver does with new values and right-hand sides; by which rules is in series_policy.hpp.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/policy/retry.hpp"
#include "ilux/engine/lu_preconditioner.hpp"

namespace ilux {
namespace {

/// Seconds of this system, or that a strategy was of no use to it: for the choice of later ones.
void remember(std::span<const Attempt> tried, bool direct, double seconds, SeriesRecord& series)
{
    if (tried.empty() || !tried.back().converged()) return;
    if (!series.last) series.of(direct).add(seconds);
    const auto by_other = [&](const Attempt& one) { return one.plan.direct() != direct; };
    if (std::ranges::any_of(tried, by_other)) series.of(!direct).pause.after_failure();
}

/// Whether M was made for this system by the rounds of an earlier one.
bool replayed(const Attempt& tried)
{
    return tried.action == SolverAction::refresh && tried.mlilu && tried.mlilu->replayed;
}

/// Why M was renewed, and by what. Nothing where nobody asked why.
std::string renewal(const std::string& why, const Attempt& renewed)
{
    return why.empty() || !replayed(renewed) ? why : why + "; its rounds serve again";
}

}  // namespace

/// @return whether the first plan is due again
template <Scalar S>
bool LinearSolver<S>::Impl::begin_values()
{
    ++series_.begun;
    const bool anew = begins_anew(loop.state(), series_.last);
    loop.begin_values();
    series_.last.reset();
    if (null_space.asked()) {
        if (std::string found = null_space.renew(A_); !found.empty()) loop.decide(std::move(found));
        strategies->iterative().set_null_space(null_space.space());
    }
    return anew;
}

/// The rest of the series goes by the other strategy, where what was measured speaks for it.
template <Scalar S>
void LinearSolver<S>::Impl::switch_strategy()
{
    const bool now = direct();
    if (!automatic() || (!now && !choice_.direct_possible)) return;
    if (!series_.of(!now).pause.try_next()) return;
    OtherStrategy other{.name = now ? "iterative" : "direct",
                        .record = &series_.of(!now),
                        .forecast = now ? std::optional(choice_.iterative) : choice_.lu};
    if (!now && other.forecast && (choice_.symbolic || strategies->lu_analysed())) other.forecast->analyse = 0;
    const std::string why = reason_to_switch(series_.of(now), now ? "direct" : "iterative", other,
                                             systems_left(series_.promised, series_.begun));
    if (why.empty()) return;
    loop.decide(fmt::format("from system {} on {}", series_.begun - 1, why));
    take_strategy(!now);
    loop.current().plan = first_plan();
}

/// CG, MINRES and definite factors were chosen for a symmetric A, most of them with a positive diagonal.
template <Scalar S>
void LinearSolver<S>::Impl::leave_symmetric_plan()
{
    Plan&               plan = loop.current().plan;
    const MlIluOptions &now = plan.precond.mlilu, &asked = options_.precond.mlilu;
    const bool          definite = now.definite && !asked.definite, absolute = now.absolute && !asked.absolute;
    if (direct() || !(definite || absolute)) return;
    bring_values();
    Cpu        threads = cpu();
    const auto facts = symmetry_facts<S>(threads, A_, true, false);
    if (facts.hermitian && (absolute || facts.positive_diagonal)) return;
    plan = first_plan();
    series_.why_refresh = fmt::format("A is no longer {}{}", is_complex<S> ? "Hermitian" : "symmetric",
                                      definite ? " with a positive diagonal" : "");
}

/// The next system, by the strategy taken last or by the other.
template <Scalar S>
void LinearSolver<S>::Impl::begin_system()
{
    loop.budget().restart();
    Plan& plan = loop.current().plan;
    if (begin_values()) {
        strategies->release_preconditioner();
        plan = first_plan_again();
        if (direct() && !(strategies->analysed_for(plan.lu) && strategies->direct().chooses_pivots_by(plan.lu)))
            strategies->direct().release();
    } else {
        switch_strategy();
        leave_symmetric_plan();
    }
    loop.begin(plan);
    plan.change.clear();
}

template <Scalar S>
ValuesStep LinearSolver<S>::Impl::step_for_values()
{
    ValuesFacts facts{.direct = direct(), .lu = series_.former_lu, .restart = options_.krylov.restart};
    if (direct()) {
        const DirectSolver<S>& lu = strategies->direct();
        facts.lu_may_serve = automatic() && lu.factored() && !lu.lu().on_gpu() && series_.former_lu_pause.try_next();
    } else {
        facts.has_preconditioner = strategies->has_preconditioner();
        facts.why_refresh = series_.why_refresh;
        if (facts.why_refresh.empty() && options_.sequence.refresh_always) facts.why_refresh = "it was asked for";
    }
    return ilux::step_for_values(facts);
}

/// By the former pivots, where they hold.
template <Scalar S>
bool LinearSolver<S>::Impl::factor_lu(Attempt& tried)
{
    bool factored = false;
    run_guarded(tried, [&](Attempt& one) {
        const StopToken limited = within(seconds_to_factor(facts(), true));
        factored = strategies->analyse_lu(limited, one) && strategies->direct().factor(A_, false, limited, one);
    });
    note_given_up(facts(), tried);
    series_.former_lu.refactor = tried.seconds_factor;
    return factored && tried.failure.empty();
}

/// The values of a system that has begun.
template <Scalar S>
void LinearSolver<S>::Impl::renew()
{
    Attempt& current = loop.current();
    switch (step_for_values()) {
        case ValuesStep::refactor:
            loop.renewed(factor_lu(current));
            break;
        case ValuesStep::keep_lu:
            current.action = SolverAction::stale;
            current.device = strategies->direct().machine().device();
            loop.renewed(true);
            break;
        case ValuesStep::keep_preconditioner:
            run_guarded(current, [&](Attempt& one) { strategies->iterative().keep(A_, one); });
            loop.renewed(current.failure.empty());
            break;
        case ValuesStep::refresh:
            loop.renewed(factor_by(current));
            current.reason = renewal(series_.why_refresh, current);
            break;
    }
    if (loop.factored()) return;
    loop.end(current);
    loop.factor(loop.next());
}

template <Scalar S>
FactorReport LinearSolver<S>::Impl::refactor()
{
    if (!loop.tried_any()) return factor();
    TryLoop::Call call(loop, TryLoop::Input::values);
    begin_system();
    renew();
    FactorReport report = factor_report();
    call.done();
    return report;
}

/// For as many steps as half a refactorization takes.
template <Scalar S>
void LinearSolver<S>::Impl::solve_by_kept_lu(SystemVectors<S>& given, Attempt& tried)
{
    DirectSolver<S>& lu = strategies->direct();
    KrylovOptions    krylov = options_.krylov;
    krylov.matrix_norm = norm_;
    krylov.restart = krylov.max_steps =
        std::max(1, std::min(steps_worth(series_.former_lu, krylov.restart), A_.rows()));
    given.read_guess(tried.x);
    Cpu threads = cpu();
    solve_by_former_lu<S>(threads, turned(), lu.lu().factors(), given.b(), krylov, standard_of(options_),
                          listener, within(seconds_left()), tried);
    tried.reason = fmt::format("an LU of earlier numbers as preconditioner, {} steps; new ones took {:.2g} s",
                               tried.report.steps, series_.former_lu.refactor);
    if (tried.converged()) series_.former_lu_pause.after_success();
    else series_.former_lu_pause.after_failure();
}

template <Scalar S>
RefreshLimits LinearSolver<S>::Impl::refresh_limits() const
{
    return {.refresh_factor = options_.sequence.refresh_factor, .max_steps = options_.krylov.max_steps};
}

/// By the M at hand, which may be of an earlier system.
template <Scalar S>
void LinearSolver<S>::Impl::solve_iteratively(SystemVectors<S>& given, Attempt& tried)
{
    const bool    kept = (tried.action == SolverAction::lagged || replayed(tried)) && series_.first_steps > 0;
    KrylovOptions krylov = options_.krylov;
    krylov.matrix_norm = norm_;
    krylov.max_steps = most_steps(facts(), tried.fill, A_.nnz(), tried.gpu.has_value());
    if (kept) krylov.max_steps = most_steps_with_kept(series_.first_steps, krylov.max_steps, refresh_limits());
    const StopToken limited = within(share_of_time(facts(), false));
    const auto      iterate = [&](const TryListener& heard, const StopToken& stop) {
        strategies->iterative().solve(turned(), given, krylov, heard, stop, tried);
    };
    if (tried.plan.quick > 0) return solve_quickly(iterate, limited, tried);
    iterate(listener, limited);
    tried.given_up = tried.report.outcome == Outcome::time_limit && seconds_left() > 0;
    if (tried.report.outcome == Outcome::max_steps && krylov.max_steps < options_.krylov.max_steps && !kept)
        tried.decisions.push_back(fmt::format("the iteration ended after {} steps, as LU is expected to take {:.2g} s",
                                              tried.report.steps, seconds_of_lu(facts())));
}

template <Scalar S>
TurnedMatrix<S> LinearSolver<S>::Impl::turned()
{
    if (transpose_ == Transpose::no) return A_;
    bring_values();
    if (!adjoint_) adjoint_ = adjoint(A_);
    return {A_, *adjoint_};
}

template <Scalar S>
void LinearSolver<S>::Impl::solve_by(SystemVectors<S>& given, Attempt& tried)
{
    run_guarded(tried, [&](Attempt& one) {
        if (one.action == SolverAction::stale) solve_by_kept_lu(given, one);
        else if (!one.plan.direct()) solve_iteratively(given, one);
        else {
            strategies->direct().solve(
                A_, transpose_, [this] { return turned(); }, given, options_.krylov.rtol, within(seconds_left()),
                may_take_other_pivots(facts()), one);
            series_.former_lu.solve = one.report.seconds.solve / (1 + one.report.steps);
        }
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
    loop.renewed(direct() ? factor_lu(current) : factor_by(current));
    current.reason = renewal(why, current);
    tried = current;
    tried.seconds += seconds;
    if (loop.factored()) solve_by(given, tried);
    tried.report.seconds.solve += solving;
}

/// Solves with what there is.
template <Scalar S>
void LinearSolver<S>::Impl::solve_with_current(SystemVectors<S>& given, Attempt& tried)
{
    if (!guess_.empty()) tried.x = guess_;
    solve_by(given, tried);
    Index      steps_before = 0;
    const auto needs_more = [&] {
        const bool former =
            tried.action == SolverAction::lagged || tried.action == SolverAction::stale || replayed(tried);
        return needs_own_factors({tried.report.outcome, former, tried.given_up, seconds_left()});
    };
    while (needs_more()) {  // a kept M, then kept rounds, then neither
        steps_before += tried.report.steps;
        solve_anew(given, tried);
        if (!loop.factored()) return;
    }
    if (direct()) return;
    const Index steps = tried.report.steps;
    const auto& M = strategies->iterative().factors().mlilu;
    const bool  former = tried.action == SolverAction::lagged || replayed(tried);
    if (!former || series_.first_steps == 0)
        series_.first_steps = steps;  // of the first b with that M, whatever it was made of
    series_.why_refresh =
        reason_to_refresh({tried.report.outcome, steps, series_.first_steps, M && M->report().deficiency > 0},
                          refresh_limits());
    if (replayed(tried) && !series_.why_refresh.empty()) strategies->iterative().forget_rounds();
    tried.report.steps += steps_before;
}

/// What the choice was expected to take, and what it took: once, for the first system.
template <Scalar S>
void LinearSolver<S>::Impl::tell_cost(SolverReport& report)
{
    report.choice = std::exchange(untold_choice_, std::nullopt);
    if (!report.choice || !report.converged()) return;
    const Expected expected = expect(*report.choice, machine_rates());
    ChoiceFacts    of_one = *report.choice;
    of_one.ahead = 1;
    const Expected one = expect(of_one, machine_rates());
    const auto     tries = report.attempts.size();
    report.decisions.push_back(
        fmt::format("{} was expected to take {}{}; the whole took {}{}", expected.take_lu ? "LU" : "the iteration",
                    time_text(expected.take_lu ? one.direct : one.iterative.of(1)),
                    expected.take_lu && report.choice->lu.analysis_seconds >= 0 ? " beyond its analysis" : "",
                    time_text(report.seconds), tries > 1 ? fmt::format(", in {} tries", tries) : ""));
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::report(TryLoop::Call& call, SystemVectors<S>& given)
{
    remember(loop.tried(), direct(), loop.budget().elapsed(), series_);
    SolverReport report = loop.tell(options_.krylov.stop);
    series_.last = report.result().report.outcome;
    tell_cost(report);
    given.deliver(report.result().x.of<S>());
    call.done();
    return report;
}

/// The shortest x, for what b has beside the null space: on the host.
template <Scalar S>
SolverReport LinearSolver<S>::Impl::solve_clear_of_null_space(SystemVectors<S>& given, Transpose transpose)
{
    require(transpose == Transpose::no || null_space.space()->left(),
            [] { return "null_space: it is not that of the transpose, which is not known"; });
    std::vector<S> b(given.b().begin(), given.b().end());
    Solution       guess = given.host_guess();
    if (guess.size() != b.size()) guess = std::vector<S>(b.size());
    given.read_guess(guess);
    null_space.project_x(guess.of<S>());
    const std::string taken_off = null_space.project_b(b);
    SystemVectors<S>  projected = vectors(std::span<const S>(b), std::span<S>(guess.of<S>()));
    SolverReport      report = solve_as_given(projected, transpose);
    if (!taken_off.empty()) report.decisions.push_back(taken_off);
    null_space.project_x(report.attempts[report.best].x.template of<S>());
    given.deliver(report.result().x.of<S>());
    return report;
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::solve(const Array<const S>& b, const Array<S>& x, Transpose transpose)
{
    const bool       conjugated = is_complex<S> && transpose == Transpose::yes;  // Aᵀ x = b is Aᴴ x̄ = b̄
    const Transpose  turn = conjugated ? Transpose::adjoint : transpose;
    SystemVectors<S> given = vectors(b, x, conjugated);
    SolverReport     report = null_space.asked() ? solve_clear_of_null_space(given, turn) : solve_as_given(given, turn);
    if (conjugated)
        for (Attempt& tried : report.attempts)
            for (S& one : tried.x.template of<S>()) one = conj(one);
    return report;
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::solve_as_given(SystemVectors<S>& given, Transpose transpose)
{
    transpose_ = transpose;
    if (series_.last && !further_column_) loop.budget().restart();
    if (loop.factored()) loop.budget().at_least(loop.current().seconds);  // one broken off has not told them
    TryLoop::Call call(loop, TryLoop::Input::rhs);
    if (loop.state() == SolverState::dropped) loop.factor(first_plan_again());
    guess_ = given.host_guess();
    loop.solve([&](Attempt& tried) {
        solve_with_current(given, tried);
        // Going on in double after mixed precision may end without factors.
        if (!direct() && !strategies->has_preconditioner()) loop.drop();
    });
    return report(call, given);
}

template <Scalar S>
void LinearSolver<S>::Impl::precondition(SystemVectors<S>& given, Transpose transpose)
{
    transpose_ = transpose;
    if (direct()) strategies->direct().apply(A_, given, transpose);
    else strategies->iterative().apply(turned(), loop.current().plan, given);
}

/// New values and x by one launch. @return whether that was all: enough, or nothing else is to be tried
template <Scalar S>
bool LinearSolver<S>::Impl::step_on_gpu(std::span<const S> b)
{
    DirectSolver<S>& lu = strategies->direct();
    Attempt          tried = loop.current();
    run_guarded(tried, [&](Attempt& one) {
        lu.step(A_, b, options_.krylov.rtol, within(seconds_to_factor(facts(), true)), one, loop.current());
    });
    note_given_up(facts(), tried);
    const bool factored = loop.renewed(lu.factored());
    if (!factored || !tried.failure.empty()) loop.current() = tried;
    if (factored) loop.current().forget_solution();
    const bool converged = tried.converged();
    loop.end(std::move(tried));
    loop.forget_seconds();
    if (converged) return true;
    const auto plan = loop.next();
    if (!plan && factored) return true;  // what there is serves another b
    return !loop.factor(plan);
}

template <Scalar S>
SolverReport LinearSolver<S>::Impl::refactor_and_solve(const Array<const S>& values, const Array<const S>& b,
                                                       const Array<S>& x)
{
    SystemVectors<S> given = vectors(b, x);
    guess_ = given.host_guess();  // first: it may lack memory
    take_values(values);
    if (!loop.tried_any() || values.gpu()) {
        (void)refactor();
        return solve(b, x, Transpose::no);
    }
    {
        TryLoop::Call call(loop, TryLoop::Input::values);
        begin_system();
        const bool step = direct() && strategies->direct().factored() && strategies->direct().lu().on_gpu();
        if (step && step_on_gpu(given.b())) return report(call, given);
        if (!step) renew();
        call.done();
    }
    return solve(b, x, Transpose::no);
}

#define ILUX_INSTANTIATE(S)                                                                                       \
    template bool         LinearSolver<S>::Impl::begin_values();                                                  \
    template FactorReport LinearSolver<S>::Impl::refactor();                                 \
    template SolverReport LinearSolver<S>::Impl::solve(const Array<const S>&, const Array<S>&, Transpose);        \
    template void         LinearSolver<S>::Impl::precondition(SystemVectors<S>&, Transpose);                      \
    template SolverReport LinearSolver<S>::Impl::refactor_and_solve(const Array<const S>&, const Array<const S>&, \
                                                                    const Array<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
