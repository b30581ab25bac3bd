#include "ilux/solver/policy/planner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/analysis_limits.hpp"
#include "ilux/engine/machine/machine_rates.hpp"
#include "ilux/precond/coarse/near_null.hpp"

namespace ilux {

template <Scalar S>
AttemptFacts Planner<S>::facts(const CallState& call) const
{
    return {options_, machine_rates(), choice_, beyond_quick(call.tried), call.seconds_left};
}

template <Scalar S>
void Planner<S>::obey(bool null_space)
{
    choice_.direct = options_.strategy() == SolverMode::direct;
    null_space_ = null_space;
    if (null_space) choice_.direct_possible = false;
}

/// @param estimated  what was known before a quick try, or null
template <Scalar S>
void Planner<S>::choose(std::shared_ptr<const LuSymbolic> stored, const ChoiceFacts* estimated,
                        const StopToken& limited, std::vector<std::string>& decisions)
{
    const WallClock clock;
    choice_ = choose_strategy<S>(
        A_, options_, ahead_, [this] { return gpu_is_open(options_); }, machine_rates(), limited, std::move(stored),
        estimated);
    untold_ = choice_.facts;
    decisions.insert(decisions.end(), choice_.decisions.begin(), choice_.decisions.end());
    choosing_ = clock.seconds();
}

template <Scalar S>
void Planner<S>::choose(std::shared_ptr<const LuSymbolic> stored, const Ahead& ahead, const StopToken& limited,
                        std::vector<std::string>& decisions)
{
    ahead_ = {std::max(1.0, ahead.systems), std::max(1.0, ahead.columns)};
    choose(std::move(stored), nullptr, limited, decisions);
}

/// What a coarse space gains where one may be chosen. A choice has told of the first numbers.
template <Scalar S>
CoarseGain Planner<S>::gain_of_coarse(Cpu& threads) const
{
    if (null_space_ || !leaves_coarse(options_)) return CoarseGain::none;
    if (!untold_) return coarse_gain<S>(threads, A_, options_.precond.mlilu, gpu_is_likely(options_, A_.nnz()));
    const IterationFacts& known = untold_->iteration;
    return !known.coarse ? CoarseGain::none : known.dominant ? CoarseGain::steps : CoarseGain::rounds;
}

/// Takes a coarse space into the plan, where it gains for such a matrix.
template <Scalar S>
void Planner<S>::take_coarse(CoarseGain gain, const SymmetryFacts& facts, Plan& plan,
                             std::vector<std::string>& decisions) const
{
    const bool weak = gain == CoarseGain::rounds && facts.hermitian &&
                      (facts.positive_diagonal || options_.method != MethodChoice::cg);
    if (gain != CoarseGain::steps && !weak) return;
    plan.precond.coarse = CoarseChoice::on;
    plan.coarse_chosen = gain == CoarseGain::steps ? CoarseChosen::dominant
                         : facts.positive_diagonal ? CoarseChosen::positive_diagonal
                                                   : CoarseChosen::saddle_point;
    decisions.push_back(
        "precond.coarse=on: " +
        (gain == CoarseGain::steps
             ? "rows are dominant, and A's graph grows as a mesh in space; no further vectors are sought"
         : facts.positive_diagonal
             ? fmt::format("A is {} with a positive diagonal, and its rows are not dominant", facts.word())
             : fmt::format("A is {} and a saddle point, with zeros on its diagonal", facts.word())));
}

template <Scalar S>
Plan Planner<S>::first(bool direct, std::vector<std::string>& decisions) const
{
    const auto method = options_.method;
    Cpu        threads(options_.threads);
    const bool asks = !direct && !choice_.by_diagonal && choice_.quick == 0;
    const auto coarse = asks ? gain_of_coarse(threads) : CoarseGain::none;
    const bool ask_hermitian = coarse != CoarseGain::none || method == MethodChoice::automatic ||
                               method == MethodChoice::cg || method == MethodChoice::minres;
    const bool ask_symmetric = method == MethodChoice::sqmr || method == MethodChoice::cocg;
    const auto facts = symmetry_facts<S>(threads, A_, !direct && ask_hermitian, !direct && ask_symmetric);
    Plan       plan = first_plan(options_, direct, facts, decisions);
    if (direct && options_.precond.mlilu.near_null) decisions.emplace_back("near_null has no effect on an LU");
    if (direct) return plan;
    take_coarse(coarse, facts, plan, decisions);
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

template <Scalar S>
std::string Planner<S>::no_longer_symmetric(Plan& plan, const std::function<void()>& bring) const
{
    const MlIluOptions &now = plan.precond.mlilu, &asked = options_.precond.mlilu;
    const bool          needs_symmetry =
        plan.coarse_chosen != CoarseChosen::none && plan.coarse_chosen != CoarseChosen::dominant;
    const bool definite = now.definite && !asked.definite, absolute = now.absolute && !asked.absolute;
    plan.of_adjoint.reset();  // of former values
    if (plan.direct() || !(definite || absolute || needs_symmetry)) return "";
    bring();
    Cpu        threads(options_.threads);
    const auto facts = symmetry_facts<S>(threads, A_, true, false);
    plan.rounded_symmetry = facts.rounded;
    plan.of_adjoint = facts.of_adjoint;
    const bool positive = definite || plan.coarse_chosen == CoarseChosen::positive_diagonal;
    const bool saddle_point = plan.coarse_chosen == CoarseChosen::saddle_point;
    const bool kind_holds =
        (!positive || facts.positive_diagonal) && (!saddle_point || looks_like_saddle_point(threads, A_));
    if (facts.hermitian && kind_holds) return "";
    return fmt::format("A is no longer {}{}", is_complex<S> ? "Hermitian" : "symmetric",
                       positive       ? " with a positive diagonal"
                       : saddle_point ? " and a saddle point"
                                      : "");
}

/// What would have been chosen without that try.
template <Scalar S>
std::optional<Plan> Planner<S>::after_quick_attempt(const CallState& call, std::vector<std::string>& decisions,
                                                    std::string& why_not)
{
    const Attempt& quick = call.tried.back();
    if (quick.report.outcome == Outcome::cancelled) why_not = "the caller asked to stop";
    else if (quick.no_solution) why_not = "nothing that could be tried would find one";
    else if (!(call.seconds_left > 0))
        why_not = fmt::format("the time limit of {:g} s was reached", options_.time_limit);
    if (!why_not.empty()) return std::nullopt;
    const ChoiceFacts known = *choice_.facts;
    choose(nullptr, &known, analysis_within(call.stop, call.seconds_left / 2), decisions);
    std::vector<std::string> of_plan;
    Plan                     plan = first(choice_.direct, of_plan);
    plan.change = choice_.direct
                      ? "LU"
                      : fmt::format("method {}, precond {}", field_text(plan.method), field_text(plan.precond.kind));
    decisions.insert(decisions.end(), of_plan.begin(), of_plan.end());
    return plan;
}

template <Scalar S>
std::optional<Plan> Planner<S>::next(const CallState& call, std::vector<std::string>& decisions, std::string& why_not)
{
    if (call.tried.back().plan.quick > 0) return after_quick_attempt(call, decisions, why_not);
    if (!automatic()) return next_plan(options_, call.tried, call.elapsed, why_not);
    if (has_fewer_entries_than_rows(A_)) {
        why_not = "an iteration is tried only where it is asked for: method=gmres";
        return std::nullopt;
    }
    std::vector<std::string> of_plan;  // of use only where that plan is taken
    const OtherStrategies    others{.direct_possible = choice_.direct_possible,
                                    .lu = choice_.lu ? std::optional(seconds_of_lu(facts(call))) : std::nullopt,
                                    .first_iterative = first(false, of_plan)};
    auto plan = next_plan_of_either_strategy(options_, others, beyond_quick(call.tried), call.elapsed, why_not);
    if (plan && !plan->direct() && call.tried.back().plan.direct()) decisions = std::move(of_plan);
    return plan;
}

template <Scalar S>
void Planner<S>::tell_cost(SolverReport& report)
{
    report.choice = std::exchange(untold_, std::nullopt);
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

#define ILUX_INSTANTIATE(S) template class Planner<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
