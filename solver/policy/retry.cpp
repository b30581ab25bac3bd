#include "ilux/solver/policy/retry.hpp"

#include "ilux/krylov/cg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"

namespace ilux {
namespace {

constexpr Index  most_tightenings = 3;
constexpr Index  most_rows_complete = 10'000;  // complete factors of that order fit most machines even when dense
constexpr double rounded_away = 4 * std::numeric_limits<double>::epsilon();

/// What the method needs of M, as the plan before had it.
void keep_form(const PrecondOptions& before, PrecondOptions& precond)
{
    precond.mlilu.definite = before.mlilu.definite;
    precond.mlilu.absolute = before.mlilu.absolute;
    precond.mlilu.matching = before.mlilu.matching;
    precond.mlilu.damping = before.mlilu.damping;
}

/// τ = τ_S = 0 and the κ first asked for.
std::optional<Plan> complete(const Plan& last, const PrecondOptions& first, Index n, std::string& why_not)
{
    if (n > most_rows_complete) {
        why_not = fmt::format("precond.drop_tol was tightened {} times, and complete factors of {} rows may not fit",
                              most_tightenings, n);
        return std::nullopt;
    }
    Plan plan = last;
    plan.precond = first;
    keep_form(last.precond, plan.precond);
    plan.precond.kind = PrecondKind::mlilu;
    plan.precond.mlilu.setup = last.precond.mlilu.setup;  // not again what was left for Crout's sweep
    plan.precond.mlilu.drop_tol = 0;
    plan.precond.mlilu.schur_drop_tol = {};
    plan.change = "precond.drop_tol 0, precond.schur_drop_tol 0";
    return plan;
}

/// Rounds that were chosen for the user gave no solution: the same by Crout's sweep, which also makes more of a memory
/// limit.
std::optional<Plan> by_crout(const Attempt& last, const PrecondOptions& first)
{
    const bool rounds = last.mlilu && std::ranges::any_of(last.mlilu->levels, [](const MlIluLevelReport& level) {
                            return level.rounds > 0;
                        });
    if (!rounds || first.mlilu.setup != MlIluSetup::automatic) return std::nullopt;
    Plan plan = last.plan;
    plan.precond.mlilu.setup = MlIluSetup::crout;
    plan.change = "precond.setup crout";
    return plan;
}

/// CG met p'Ap ≤ 0.
bool proves_indefinite(const Attempt& tried)
{
    return tried.report.outcome == Outcome::breakdown && tried.report.detail == std::string_view(not_positive_definite);
}

/// A coarse space that was chosen for the user gave no solution: M without one, and made as it is then.
std::optional<Plan> without_coarse(const Attempt& last)
{
    if (last.plan.coarse_chosen == CoarseChosen::none || proves_indefinite(last)) return std::nullopt;
    Plan plan = last.plan;
    plan.leave_coarse();
    plan.change = "precond.coarse off";
    return plan;
}

/// M was of waves that decay, which was chosen for the user: the same of A itself.
std::optional<Plan> undamped(const Attempt& last)
{
    if (!last.mlilu || last.mlilu->damping == 0 || last.plan.precond.mlilu.damping != Damping{}) return std::nullopt;
    Plan plan = last.plan;
    plan.precond.mlilu.damping = {0};
    plan.change = "precond.damping off";
    return plan;
}

std::optional<Plan> tightened(const Plan& last, const PrecondOptions& first, Index n, std::string& why_not)
{
    if (last.precond.mlilu.drop_tol == 0) {
        why_not = "nothing was dropped from the factors already";
        return std::nullopt;
    }
    const auto times = static_cast<Index>(std::lround(std::log10(first.mlilu.drop_tol / last.precond.mlilu.drop_tol)));
    if (times >= most_tightenings) return complete(last, first, n, why_not);
    Plan          plan = last;
    MlIluOptions& mlilu = plan.precond.mlilu;
    mlilu.drop_tol /= 10;
    if (auto& tau_S = mlilu.schur_drop_tol.given) *tau_S /= 10;
    plan.change = fmt::format("precond.drop_tol {:g}, precond.schur_drop_tol {:g}", mlilu.drop_tol, mlilu.tau_S());
    if (times >= 1) {
        mlilu.inverse_bound *= 2;
        plan.change += fmt::format(", precond.inverse_bound {:g}", mlilu.inverse_bound);
    }
    return plan;
}

/// A direct solution has two things to give: large entries scaled to 1, and row interchanges wherever another pivot is
/// larger. Not both at once: where the scaling is what helps, the largest pivots may undo it.
std::optional<Plan> with_other_pivots(const SolverOptions& options, std::span<const Attempt> tried,
                                      std::string& why_not)
{
    const Outcome outcome = tried.back().report.outcome;
    const auto    any = [&](auto&& used) {
        return std::ranges::any_of(tried, [&](const Attempt& one) { return used(one.plan.lu); });
    };
    Plan plan = tried.back().plan;
    plan.lu = options.lu;
    if (outcome != Outcome::stagnated && outcome != Outcome::not_finite) {
        why_not = "other pivots would find A singular as well";
    } else if (!any([](const LuOptions& lu) { return lu.scaling == LuScaling::matching; })) {
        plan.lu.scaling = LuScaling::matching;
        plan.change = "lu.scaling matching";
        return plan;
    } else if (!any([](const LuOptions& lu) { return lu.pivot_tol >= 1; })) {
        plan.lu.pivot_tol = 1;
        plan.change = "lu.pivot_tol 1";
        if (options.lu.scaling != LuScaling::matching)
            plan.change += fmt::format(", lu.scaling {}", field_text(options.lu.scaling));
        return plan;
    } else {
        why_not = "other scales and the largest pivots were tried already";
    }
    return std::nullopt;
}

/// It has its preconditioner, and was not even begun.
bool put_off(const Attempt& tried)
{
    return tried.mlilu && tried.report.outcome == Outcome::breakdown && !tried.failure.empty();
}

/// LU found A singular, and an iteration has an x as good as its residual can tell.
bool last_word_spoken(std::span<const Attempt> tried)
{
    const auto singular = [](const Attempt& one) { return one.report.outcome == Outcome::singular; };
    return std::ranges::any_of(tried, singular) && std::ranges::any_of(tried, &Attempt::inaccurate);
}

/// M as the plan's method needs it of this A, or that A is not what it needs.
void keep_symmetric(const SymmetryFacts& A, Plan& plan, std::vector<std::string>& decisions)
{
    const bool cg = plan.method == MethodChoice::cg, minres = plan.method == MethodChoice::minres;
    const bool transposed = plan.method == MethodChoice::sqmr || plan.method == MethodChoice::cocg;
    if (!cg && !minres && !transposed) return;
    if (!(transposed ? A.symmetric : A.hermitian)) {
        decisions.push_back(fmt::format("method {} as asked, although A is not {}", field_text(plan.method),
                                        A.complex && !transposed ? "Hermitian" : "symmetric"));
        return;
    }
    MlIluOptions& mlilu = plan.precond.mlilu;
    if (!transposed && A.complex && plan.precond.kind == PrecondKind::mlilu && mlilu.damping.beta > 0)
        throw InvalidOption(fmt::format("precond.damping={} makes M not Hermitian, and method {} needs that",
                                        field_text(mlilu.damping), field_text(plan.method)));
    if (!transposed && A.positive_diagonal) mlilu.definite = true;
    else if (minres) mlilu.absolute = true;
    else if (transposed && mlilu.matching == MatchingChoice::automatic) {
        mlilu.matching = MatchingChoice::off;
        if (plan.precond.kind == PrecondKind::mlilu)
            decisions.push_back(fmt::format("matching=off: method {} needs M symmetric", field_text(plan.method)));
    }
    if ((mlilu.matching == MatchingChoice::on || mlilu.matching == MatchingChoice::wait) &&
        plan.precond.kind == PrecondKind::mlilu) {
        const std::string needs = fmt::format("method {} needs M symmetric", field_text(plan.method));
        const bool        without = mlilu.definite || mlilu.absolute;
        decisions.push_back(fmt::format("matching={} {}", field_text(mlilu.matching),
                                        (without ? "has no effect: " : "as asked, although ") + needs));
    }
}

}  // namespace

template <Scalar S>
SymmetryFacts symmetry_facts(Cpu& cpu, const CsrView<S>& A, bool hermitian, bool symmetric)
{
    SymmetryFacts facts{.complex = is_complex<S>};
    const auto    holds = [&](Mirror mirror) {
        const Asymmetry found = asymmetry_of(cpu, A, mirror);
        if (mirror == Mirror::hermitian) facts.of_adjoint = found;
        facts.rounded = facts.rounded || (found.within_rounding && !found.exact);
        return found.within_rounding;
    };
    facts.hermitian = hermitian && holds(Mirror::hermitian);
    facts.symmetric = symmetric && holds(is_complex<S> ? Mirror::symmetric : Mirror::hermitian);
    facts.positive_diagonal = facts.hermitian && has_positive_diagonal(cpu, A);
    return facts;
}
#define ILUX_INSTANTIATE(S) template SymmetryFacts symmetry_facts(Cpu&, const CsrView<S>&, bool, bool);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

Plan first_plan(const SolverOptions& options, bool direct, const SymmetryFacts& A, std::vector<std::string>& decisions)
{
    Plan plan{.method = options.method, .precond = options.precond, .change = "", .lu = options.lu};
    if (direct) {
        plan.method = MethodChoice::lu;
        return plan;
    }
    plan.rounded_symmetry = A.rounded;
    plan.of_adjoint = A.of_adjoint;
    const char* const word = A.word();
    if (options.method == MethodChoice::automatic) {
        const bool cg = A.hermitian && A.positive_diagonal;
        plan.method = cg ? MethodChoice::cg : MethodChoice::gmres;
        decisions.push_back(cg ? fmt::format("method cg: A is {}{} and its diagonal positive", word,
                                             A.rounded ? " but for rounding" : "")
                            : !A.hermitian
                                ? fmt::format("method gmres: A is not {}", word)
                                : fmt::format("method gmres: A is {}, but its diagonal is not positive", word));
    }
    keep_symmetric(A, plan, decisions);
    return plan;
}

std::optional<Plan> next_plan(const SolverOptions& options, std::span<const Attempt> tried, double elapsed,
                              std::string& why_not)
{
    const Attempt& last = tried.back();
    const bool     direct = last.plan.direct();
    if (last.report.outcome == Outcome::cancelled) why_not = "the caller asked to stop";
    else if (last.no_solution) why_not = "nothing that could be tried would find one";
    else if (!options.retry) why_not = "retry is off";
    else if (last.plan.method == MethodChoice::cg && options.method == MethodChoice::cg && proves_indefinite(last))
        why_not = "A is not positive definite, which no preconditioner changes: method minres, or auto";
    else if (options.krylov.max_steps == 0 && !direct) why_not = "krylov.max_steps=0 allows no step";
    else if (last.report.outcome == Outcome::out_of_memory && !without_coarse(last))
        why_not =
            direct ? "other pivots would not need less memory" : "a tighter preconditioner needs more memory still";
    else if (last.report.outcome == Outcome::time_limit)
        why_not =
            fmt::format("the time limit of {:g} s was reached, and {}", options.time_limit,
                        direct ? "other pivots would take no less" : "a tighter preconditioner takes longer still");
    else if (last.mlilu && last.mlilu->limited && last.plan.method != MethodChoice::cg &&
             !by_crout(last, options.precond) && !without_coarse(last))
        why_not = "the factors fill their memory limit already";
    else if (!direct && last.failure.empty() && last.report.relative_residual <= rounded_away)
        why_not = "the residual is at rounding level";
    else if (options.time_limit > 0 && elapsed + last.seconds > options.time_limit)
        why_not = fmt::format("another {:.3g} s would pass the time limit of {:g} s", last.seconds, options.time_limit);
    if (!why_not.empty()) return std::nullopt;
    if (direct) return with_other_pivots(options, tried, why_not);
    if (auto plan = without_coarse(last)) return plan;
    if (last.plan.method == MethodChoice::cg && options.method == MethodChoice::automatic)
        return Plan{.method = MethodChoice::gmres, .precond = options.precond, .change = "method gmres"};
    if (last.plan.precond.kind != PrecondKind::mlilu) {
        Plan plan{.method = last.plan.method, .precond = options.precond, .change = "precond mlilu"};
        keep_form(last.plan.precond, plan.precond);
        plan.precond.kind = PrecondKind::mlilu;
        plan.rounded_symmetry = last.plan.rounded_symmetry;
        return plan;
    }
    if (auto plan = undamped(last)) return plan;
    if (auto plan = by_crout(last, options.precond)) return plan;
    return tightened(last.plan, options.precond, static_cast<Index>(last.x.size()), why_not);
}

std::optional<Plan> next_plan_of_either_strategy(const SolverOptions& options, const OtherStrategies& strategies,
                                                 std::span<const Attempt> tried, double elapsed, std::string& why_not)
{
    const Attempt& last = tried.back();
    auto           same_strategy = next_plan(options, tried, elapsed, why_not);
    if (!options.retry || last.report.outcome == Outcome::cancelled || last.no_solution) return std::nullopt;
    if (options.time_limit > 0 && elapsed >= options.time_limit) return same_strategy;
    const auto strategy = [](bool direct) {
        return [direct](const Attempt& one) { return one.plan.direct() == direct; };
    };
    const auto taken = [&](Plan plan, std::string change) {
        why_not.clear();
        plan.change = std::move(change);
        return plan;
    };
    if (last_word_spoken(tried)) {
        why_not = "A is singular in working precision: no other try would know x better";
        return std::nullopt;
    }
    if (last.plan.direct()) {
        const auto iterative = std::ranges::find_if(tried.rbegin(), tried.rend(), strategy(false));
        if (last.pivots_left && iterative == tried.rend())
            return taken(strategies.first_iterative, "an iteration before pivots among all rows");
        if (same_strategy) return same_strategy;
        if (iterative == tried.rend()) return taken(strategies.first_iterative, "an iteration");
        if (put_off(*iterative)) return taken(iterative->plan, "the iteration that was put off");
        if (iterative->given_up) return taken(iterative->plan, "the iteration that was given up, to its end");
        why_not.clear();
        return next_plan(options, tried.first(static_cast<std::size_t>(tried.rend() - iterative)), elapsed, why_not);
    }
    const auto directs = std::ranges::count_if(tried, strategy(true));
    const auto direct_try = std::ranges::find_if(tried, strategy(true));
    const bool given_up = directs == 1 && direct_try->given_up;
    const bool pivots_left = directs == 1 && direct_try->pivots_left;
    if (!strategies.direct_possible || (directs > 0 && !given_up && !pivots_left)) return same_strategy;
    constexpr double tighter = 3;  // seconds of a tighter preconditioner, or Crout's after rounds, over the last try's
    const double     lu = strategies.lu.value_or(0);
    if (same_strategy && !put_off(last) && (given_up || lu > tighter * last.seconds)) return same_strategy;
    Plan direct{.method = MethodChoice::lu, .precond = options.precond, .change = "", .lu = options.lu};
    return taken(std::move(direct), same_strategy && !put_off(last)
                                        ? fmt::format("LU, about {:.2g} s; {}, about {:.2g} s", lu,
                                                      same_strategy->change, tighter * last.seconds)
                                        : "LU");
}

std::string why_hopeless(const MlIluReport& report)
{
    constexpr double too_large = 1e6;  // ‖L⁻¹‖ ‖U⁻¹‖ ε then reaches 1e-4: what M⁻¹ says of a residual is rounding
    double inverse = 0;
    Index  postponed = 0;
    for (const MlIluLevelReport& level : report.levels) {
        inverse = std::max({inverse, level.inverse_L, level.inverse_U});
        postponed += level.postponed;
    }
    if (report.deficiency == 0 && inverse < too_large) return "";
    return fmt::format("the preconditioner {}, inverse factors as large as {:.1e} ({} pivots postponed)",
                       report.deficiency > 0 ? fmt::format("lacks rank {}", report.deficiency) : "is nearly singular",
                       inverse, postponed);
}

void accept_what_can_be_known(StopTest asked, std::span<Attempt> tried)
{
    constexpr const char* many = "A is singular in working precision, and x may be one of many";
    for (Attempt& one : tried) {
        const bool says_so = one.plan.direct() || (one.mlilu && one.mlilu->deficiency > 0);  // by its own factors
        if (one.converged() && !says_so && one.warning.empty()) one.warn(many);
    }
    if (asked == StopTest::error || std::ranges::any_of(tried, &Attempt::converged)) return;
    const auto best = std::ranges::find_if(tried.rbegin(), tried.rend(), &Attempt::inaccurate);
    if (best == tried.rend()) return;
    best->report.outcome = Outcome::converged;
    best->inaccurate = false;
    best->warn(best->explanation);
    best->warn(many);
    best->explanation.clear();
}

std::size_t best_attempt(std::span<const Attempt> tried)
{
    const auto rank = [](const Attempt& attempt) {
        constexpr double none = std::numeric_limits<double>::infinity();
        const double     residual = attempt.report.relative_residual;
        if (attempt.report.outcome == Outcome::converged) return std::pair(-1.0, false);
        return std::pair(std::isfinite(residual) && attempt.failure.empty() ? residual : none,
                         attempt.given_up || put_off(attempt));
    };
    const auto last = std::ranges::min_element(tried.rbegin(), tried.rend(), {}, rank);
    return static_cast<std::size_t>(tried.rend() - last) - 1;
}

}  // namespace ilux
