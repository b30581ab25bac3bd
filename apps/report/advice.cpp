#include "ilux/apps/report/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

using Lines = std::vector<std::string>;

std::string allow_more(const std::string& name, Bytes limit)
{
    return fmt::format("{} is {}: allow more", name, bytes_text(double(limit.value)));
}

constexpr double rounding_level = 4 * std::numeric_limits<double>::epsilon();

/// What all tries together did: none of it is worth advising.
struct Tried {
    explicit Tried(std::span<const Attempt> tries) : attempts(tries)
    {
        for (const Attempt& one : tries) {
            const MlIluOptions& mlilu = one.plan.precond.mlilu;
            if (one.plan.precond.kind != PrecondKind::mlilu) continue;
            const bool too_much =
                one.report.outcome == Outcome::out_of_memory || one.report.outcome == Outcome::time_limit;
            if (mlilu.drop_tol < tightest) {
                tightest = mlilu.drop_tol;
                tightest_schur = mlilu.tau_S();
                tightest_fill = one.fill;
                tighter_is_too_much = too_much;
            }
            sparsest = std::max(sparsest, mlilu.drop_tol);
            sparsest_schur = std::max(sparsest_schur, mlilu.tau_S());
            least_bound = std::min(least_bound, mlilu.inverse_bound);
            largest_bound = std::max(largest_bound, mlilu.inverse_bound);
            limited = limited || (one.mlilu && one.mlilu->limited);
        }
    }
    bool method(MethodChoice choice) const
    {
        return std::ranges::any_of(attempts, [&](const Attempt& one) { return one.plan.method == choice; });
    }
    bool precond(PrecondKind kind) const
    {
        return std::ranges::any_of(attempts, [&](const Attempt& one) { return one.plan.precond.kind == kind; });
    }

    std::span<const Attempt> attempts;
    double tightest = std::numeric_limits<double>::infinity(), sparsest = 0;  // τ, of multilevel ILUs
    double tightest_schur = 0, sparsest_schur = 0;                            // their τ_S, all that rounds drop by
    double tightest_fill = 0;
    bool   tighter_is_too_much = false;  // the tightest ran out of memory or time
    double least_bound = std::numeric_limits<double>::infinity(), largest_bound = 0;  // κ
    bool   limited = false;                                                           // a memory limit was felt
};

/// The options of both kinds of setup: Crout's sweep drops by τ and τ_S, rounds by τ_S alone.
std::string dropping(double drop_tol, double schur_drop_tol)
{
    const std::string sweep = fmt::format("-p precond.drop_tol={:g}", drop_tol);
    return schur_drop_tol > 0 ? fmt::format("{} -p precond.schur_drop_tol={:g}", sweep, schur_drop_tol) : sweep;
}

bool restarts(const Attempt& tried)
{
    return tried.plan.method == MethodChoice::gmres || tried.plan.method == MethodChoice::fgmres;
}

void about_the_matrix(const Attempt& tried, Index n, Lines& lines)
{
    if (!tried.mlilu) return;
    const MlIluReport& report = *tried.mlilu;
    const Index        rank = report.structural_rank.value_or(n);
    if (rank < n)
        lines.push_back(
            fmt::format("A is structurally singular: {} of {} rows cannot be matched with a column of their own; "
                        "`ilux info` shows where",
                        n - rank, n));
    else if (report.deficiency > 0)
        lines.push_back(
            fmt::format("the last level lacks rank {}: A is singular, or nearly so, unless a smaller "
                        "precond.drop_tol brings the rank back",
                        report.deficiency));
}

void about_the_rounding(const Attempt& tried, Lines& lines)
{
    const IterationReport& report = tried.report;
    if (!(report.backward_error > 0 && report.backward_error <= rounding_level)) return;
    const double within_reach = 10 * report.relative_residual;
    lines.push_back(fmt::format(
        "x is so large that {:.1e} is the residual of rounding alone (backward error {:.1e}): A is nearly singular, or "
        "the preconditioner is{}",
        report.relative_residual, report.backward_error,
        within_reach < 1 ? fmt::format("; --rtol {:.0e} is within reach of this one", within_reach) : ""));
}

void about_the_pivots(const Attempt& result, const Tried& tried, Lines& lines)
{
    if (!result.mlilu || result.mlilu->levels.empty()) return;
    const MlIluOptions&     options = result.plan.precond.mlilu;
    const MlIluLevelReport& top = result.mlilu->levels.front();
    const double            postponed = top.n > 0 ? double(top.postponed) / top.n : 0;
    if (postponed > 0.25 && options.matching == MatchingChoice::off && !options.definite)
        lines.push_back(
            fmt::format("{:.0f} % of the pivots of level 1 were postponed: -p precond.matching=on", 100 * postponed));
    else if (postponed > 0.25)
        lines.push_back(
            fmt::format("{:.0f} % of the pivots of level 1 were postponed: -p precond.inverse_bound={:g} accepts more",
                        100 * postponed, 4 * tried.largest_bound));
    const double inverse = std::max(top.inverse_L, top.inverse_U), smaller = std::max(2.0, tried.least_bound / 4);
    if (inverse > 10 && smaller < tried.least_bound)
        lines.push_back(
            fmt::format("the inverse factors grow to {:.2g}: -p precond.inverse_bound={:g} keeps them smaller", inverse,
                        smaller));
}

void about_the_steps(const Attempt& result, const Tried& tried, const KrylovOptions& krylov, Lines& lines)
{
    const IterationReport& report = result.report;
    if (restarts(result) && report.steps > krylov.restart && report.outcome != Outcome::not_finite)
        lines.push_back(fmt::format("convergence may be lost at the restarts: --restart {}", 4 * krylov.restart));
    if (report.outcome == Outcome::max_steps && report.relative_residual < 1 && krylov.rtol > 0) {
        const double needed = report.steps * std::log(krylov.rtol) / std::log(report.relative_residual);
        if (needed < 20.0 * report.steps)
            lines.push_back(
                fmt::format("at this rate about {:.0f} steps are needed: --max-steps {:.0f}", needed, 1.5 * needed));
    }
    if (tried.method(MethodChoice::gmres)) return;
    if (report.outcome == Outcome::breakdown && !restarts(result))
        lines.emplace_back("GMRES cannot break down this way: --method gmres");
    else if (result.plan.method == MethodChoice::cg)
        lines.emplace_back("CG needs A and the preconditioner symmetric positive definite: --method gmres");
}

void about_the_preconditioner(const Attempt& result, const Tried& tried, Lines& lines)
{
    if (!tried.precond(PrecondKind::mlilu)) {
        if (result.zero_pivot >= 0)
            lines.push_back(
                fmt::format("ILU(0) met a zero pivot at row {} (counted from 1): --precond mlilu postpones such pivots",
                            result.zero_pivot + 1));
        else lines.emplace_back("a stronger preconditioner: --precond mlilu");
    } else if (tried.limited) {
        lines.emplace_back("entries were dropped to stay within memory_limit: a larger one");
    } else if (tried.tightest > 0 && !tried.tighter_is_too_much) {
        lines.push_back(fmt::format("M keeps {:.3g} values for one of A; a closer one: {}", tried.tightest_fill,
                                    dropping(tried.tightest / 10, tried.tightest_schur / 10)));
    }
}

void about_a_sparser_preconditioner(const Tried& tried, Lines& lines)
{
    const MlIluOptions defaults;
    const double       drop_tol = tried.sparsest > 0 ? 10 * tried.sparsest : defaults.drop_tol;
    const double       schur_drop_tol = tried.sparsest_schur > 0 ? 10 * tried.sparsest_schur : defaults.tau_S();
    if (tried.precond(PrecondKind::mlilu) && std::max(drop_tol, schur_drop_tol) <= 1)
        lines.push_back(fmt::format("a sparser preconditioner: {}", dropping(drop_tol, schur_drop_tol)));
    if (!tried.precond(PrecondKind::ilu0)) lines.emplace_back("one without fill-in: --precond ilu0");
}

void about_the_device_memory(const Attempt& result, const Tried& tried, Bytes limit, Lines& lines)
{
    if (limit.value > 0)
        lines.push_back(fmt::format("device_memory is {}: allow more", bytes_text(double(limit.value))));
    const PrecondKind kind = result.plan.precond.kind;
    if (result.plan.precond.precision == Precision::in_double &&
        (kind == PrecondKind::mlilu || kind == PrecondKind::ilu0))
        lines.emplace_back("factors of half the size: -p precond.precision=single");
    lines.emplace_back("the memory of the host: --device cpu");
    about_a_sparser_preconditioner(tried, lines);
}

void about_the_memory(const Attempt& result, const Tried& tried, const SolveOptions& options, Lines& lines)
{
    const PrecondOptions& precond = result.plan.precond;
    if (precond.kind == PrecondKind::mlilu && precond.mlilu.memory_limit.value > 0) {
        lines.push_back(allow_more("memory_limit", precond.mlilu.memory_limit));
        return;
    }
    if (precond.kind != PrecondKind::mlilu && result.factor_bytes > options.memory_limit.value &&
        options.memory_limit.value > 0) {
        lines.push_back(allow_more("memory_limit", options.memory_limit));
        if (!tried.precond(PrecondKind::mlilu)) lines.emplace_back("factors that keep to it: --precond mlilu");
        return;
    }
    about_a_sparser_preconditioner(tried, lines);
    if (restarts(result)) lines.emplace_back("fewer vectors: a smaller --restart");
    if (!tried.method(MethodChoice::bicgstab)) lines.emplace_back("a method of few vectors: --method bicgstab");
}

/// After a direct solution.
void about_the_direct_solution(const Attempt& result, const Tried& tried, const SolveOptions& options, Lines& lines)
{
    const LuOptions& lu = result.plan.lu;
    const bool       tried_gmres = tried.method(MethodChoice::gmres);
    const char*      iteration = options.mode == SolverMode::direct ? "-p mode=auto" : "--method gmres";
    const Outcome    outcome = result.report.outcome;
    if (outcome == Outcome::out_of_memory || outcome == Outcome::time_limit) {
        if (outcome == Outcome::time_limit)
            lines.push_back(fmt::format("more time: --time-limit {:g}", 10 * options.time_limit));
        else if (lu.memory_limit.value > 0) lines.push_back(allow_more("memory_limit", lu.memory_limit));
        if (lu.ordering != LuOrdering::metis && lu.ordering != LuOrdering::automatic)
            lines.emplace_back("an ordering of less fill: -p lu.ordering=auto");
        if (!tried_gmres) lines.push_back(fmt::format("incomplete factors: {}", iteration));
        return;
    }
    if (outcome == Outcome::singular) {
        if (result.lu && result.lu->symbolic.structural_rank < static_cast<Index>(result.x.size()))
            lines.emplace_back("rows that cannot be matched with a column of their own: `ilux info` shows where");
        lines.emplace_back("in a circuit: a node without a path to ground, a loop of voltage sources");
        lines.emplace_back(
            "in a PDE: an unknown that is known only up to a constant, a pressure say: fix it at a point, or name what is open: -p krylov.null_space=constant, or =FILE with vectors");
        return;
    }
    const auto any = [&](auto&& used) {
        return std::ranges::any_of(tried.attempts, [&](const Attempt& one) { return used(one.plan.lu); });
    };
    if (!any([](const LuOptions& one) { return one.scaling == LuScaling::matching; }))
        lines.emplace_back("large entries scaled to 1: -p lu.scaling=matching");
    if (!any([](const LuOptions& one) { return one.matching == LuMatching::on; }))
        lines.emplace_back("large entries on the diagonal: -p lu.matching=on");
    if (!any([](const LuOptions& one) { return one.pivot_tol >= 1; }))
        lines.emplace_back("the largest pivot of every column: -p lu.pivot_tol=1");
    if (!tried_gmres) lines.push_back(fmt::format("an iteration: {}", iteration));
}

}  // namespace

Lines advice(const Run& run, const ProblemFacts& problem)
{
    Lines          lines;
    const Attempt& result = run.result();
    const Tried    tried(run.attempts);
    if (run.outcome() == Outcome::converged || run.outcome() == Outcome::cancelled) return lines;
    if (std::ranges::any_of(run.attempts, &Attempt::no_solution)) {
        lines.emplace_back(
            "the part of b that no x can give is taken off, for a least-squares x: -p krylov.null_space=constant");
        lines.emplace_back(
            "or b is not what it should be: sources and what leaves through the boundary have to balance");
        return lines;
    }
    if (result.plan.method == MethodChoice::lu) {
        about_the_direct_solution(result, tried, run.options, lines);
        return lines;
    }
    switch (run.outcome()) {
        case Outcome::out_of_memory:
            if (result.device_is_full) about_the_device_memory(result, tried, run.options.device_memory, lines);
            else about_the_memory(result, tried, run.options, lines);
            return lines;
        case Outcome::time_limit:
            about_a_sparser_preconditioner(tried, lines);
            lines.push_back(fmt::format("more time: --time-limit {:g}", 10 * run.options.time_limit));
            return lines;
        default:
            break;
    }
    if (problem.rhs_is_noise)
        lines.emplace_back(
            "b = A·1 is rounding noise, since A maps the vector of ones to (nearly) zero: --rhs random:1, or a file");
    about_the_matrix(result, problem.n(), lines);
    about_the_rounding(result, lines);
    about_the_preconditioner(result, tried, lines);
    about_the_pivots(result, tried, lines);
    about_the_steps(result, tried, run.options.krylov, lines);
    if (!run.options.retry) lines.emplace_back("or let ilux tighten the preconditioner itself: --retry on");
    return lines;
}

}  // namespace ilux::app
