// What is tried, in which order.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/solver/policy/retry.hpp"

namespace ilux {

/// @param stored  an analysis that is there, or null  @param estimated  what was known before a quick try, or null
template <Scalar S>
void LinearSolver<S>::Impl::choose(std::shared_ptr<const LuSymbolic> stored, const ChoiceFacts* estimated)
{
    choice_ = choose_strategy<S>(
        A_, options_, for_ahead_, [this] { return gpu_is_open(options_); }, machine_rates(), within(seconds_left() / 2),
        std::move(stored), estimated);
    untold_choice_ = choice_.facts;
    loop.note(choice_.decisions);
}

/// What would have been chosen without that try.
template <Scalar S>
std::optional<Plan> LinearSolver<S>::Impl::plan_after_quick_try(const Attempt& quick, std::string& why_not)
{
    if (quick.report.outcome == Outcome::cancelled) why_not = "the caller asked to stop";
    else if (quick.no_solution) why_not = "nothing that could be tried would find one";
    else if (!(seconds_left() > 0)) why_not = fmt::format("the time limit of {:g} s was reached", options_.time_limit);
    if (!why_not.empty()) return std::nullopt;
    const WallClock   clock;
    const ChoiceFacts known = *choice_.facts;
    choose(nullptr, &known);
    strategies->know(choice_.symbolic);
    analysing_ = clock.seconds();
    std::vector<std::string> decisions;
    Plan                     plan = plan_of(choice_.direct, decisions);
    plan.change = choice_.direct
                      ? "LU"
                      : fmt::format("method {}, precond {}", field_text(plan.method), field_text(plan.precond.kind));
    loop.note(decisions);
    return plan;
}

template <Scalar S>
Plan LinearSolver<S>::Impl::plan_of(bool of_direct, std::vector<std::string>& decisions) const
{
    const auto method = options_.method;
    const bool ask_hermitian =
        method == MethodChoice::automatic || method == MethodChoice::cg || method == MethodChoice::minres;
    const bool ask_symmetric = method == MethodChoice::sqmr || method == MethodChoice::cocg;
    Cpu        threads = cpu();
    const auto facts = symmetry_facts<S>(threads, A_, !of_direct && ask_hermitian, !of_direct && ask_symmetric);
    Plan       plan = ilux::first_plan(options_, of_direct, facts, decisions);
    if (of_direct) return plan;
    if (choice_.by_diagonal) {
        plan.precond.kind = PrecondKind::jacobi;
        decisions.push_back(fmt::format("precond jacobi: rows are dominant, and about {:.0f} steps are expected",
                                        steps_by_the_diagonal(*choice_.by_diagonal)));
    }
    if (choice_.quick > 0) {
        decisions.clear();
        plan.method = MethodChoice::bicgstab;
        plan.precond.kind = PrecondKind::ilu0;
        plan.quick = choice_.quick;
    }
    return plan;
}

/// The first plan of the strategy taken.
template <Scalar S>
Plan LinearSolver<S>::Impl::first_plan()
{
    bring_values();
    std::vector<std::string> decisions;
    Plan                     plan = plan_of(direct(), decisions);
    loop.note(decisions);
    return plan;
}

/// Where the last values left no factors, or theirs did not solve the last b.
template <Scalar S>
Plan LinearSolver<S>::Impl::first_plan_again()
{
    if (automatic()) take_strategy(choice_.begins_direct());
    return first_plan();
}

template <Scalar S>
std::optional<Plan> LinearSolver<S>::Impl::next_plan(std::span<const Attempt> tried, std::string& why_not)
{
    bring_values();
    if (tried.back().plan.quick > 0) return plan_after_quick_try(tried.back(), why_not);
    if (!automatic()) return ilux::next_plan(options_, tried, loop.budget().elapsed(), why_not);
    if (has_fewer_entries_than_rows(A_)) {
        why_not = "an iteration is tried only where it is asked for: method=gmres";
        return std::nullopt;
    }
    std::vector<std::string> decisions;  // of use only where that plan is taken
    const OtherStrategies    others{.direct_possible = choice_.direct_possible,
                                    .lu = choice_.lu ? std::optional(seconds_of_lu(facts())) : std::nullopt,
                                    .first_iterative = plan_of(false, decisions)};
    auto plan = next_plan_of_either_strategy(options_, others, beyond_quick(tried), loop.budget().elapsed(), why_not);
    if (plan && !plan->direct() && tried.back().plan.direct()) loop.note(decisions);
    return plan;
}

/// Solves as long as the steps promise to be worth it. What ILU(0) took beyond its forecast is the machine's doing,
/// which makes all else slower, too.
template <Scalar S>
void LinearSolver<S>::Impl::solve_quickly(
    const std::function<void(const TryListener& heard, const StopToken& stop)>& iterate, const StopToken& limited,
    Attempt& tried)
{
    constexpr double most_slower = 5;
    const double     forecast = seconds_of_ilu0(choice_.facts->iteration, 0, choice_.facts->place, machine_rates());
    const double     slower = std::clamp(tried.seconds_factor / forecast, 1.0, most_slower);
    const double     seconds = slower * tried.plan.quick;

    const WallClock clock;
    QuickProgress   progress(options_.krylov.rtol, seconds);
    TryListener     heard = listener;
    heard.on_progress = [&](const Progress& now) {
        if (listener.on_progress) listener.on_progress(now);
        progress.goes_on(now.done, now.residual, tried.seconds_factor + clock.seconds());
    };
    iterate(heard, limited.within(seconds).asking([&] { return progress.given_up(); }));
    const Outcome outcome = tried.report.outcome;
    const bool    ended = outcome == Outcome::cancelled || outcome == Outcome::time_limit;
    if (!ended || stop.stopped() || !(seconds_left() > 0)) return;
    tried.report.outcome = Outcome::time_limit;
    tried.given_up = true;
    tried.explanation =
        fmt::format("{} steps of BiCGStab with ILU(0) did not promise to be worth it", tried.report.steps);
}

#define ILUX_INSTANTIATE(S)                                                                                            \
    template void                LinearSolver<S>::Impl::choose(std::shared_ptr<const LuSymbolic>, const ChoiceFacts*); \
    template Plan                LinearSolver<S>::Impl::plan_of(bool, std::vector<std::string>&) const;                \
    template Plan                LinearSolver<S>::Impl::first_plan();                                                  \
    template Plan                LinearSolver<S>::Impl::first_plan_again();                                            \
    template std::optional<Plan> LinearSolver<S>::Impl::next_plan(std::span<const Attempt>, std::string&);             \
    template void                LinearSolver<S>::Impl::solve_quickly(                                                 \
                       const std::function<void(const TryListener&, const StopToken&)>&, const StopToken&, Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
