#include "ilux/apps/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ilux::app {
namespace {

using Lines = std::vector<std::string>;

constexpr double rounding_level = 4 * std::numeric_limits<double>::epsilon();

void about_the_matrix(const Attempt& tried, Index n, Lines& lines)
{
    if (!tried.mlilu) return;
    const MlIluReport& report = *tried.mlilu;
    if (report.structural_rank < n)
        lines.push_back(
            fmt::format("A is structurally singular: {} of {} rows cannot be matched with a column of their own; "
                        "`ilux info` shows where",
                        n - report.structural_rank, n));
    else if (report.deficiency > 0)
        lines.push_back(
            fmt::format("the last level lacks rank {}: A is singular, or nearly so, unless a smaller "
                        "precond.drop_tol brings the rank back",
                        report.deficiency));
}

void about_the_rounding(const Attempt& tried, Lines& lines)
{
    const SolveReport& report = tried.report;
    if (report.backward_error <= 0 || report.backward_error > rounding_level) return;
    lines.push_back(
        fmt::format("x is so large that {:.1e} is the residual of rounding alone (backward error {:.1e}): A is nearly "
                    "singular, or the preconditioner is; --rtol {:.0e} is within reach of this one",
                    report.relative_residual, report.backward_error, 10 * report.relative_residual));
}

void about_the_pivots(const Attempt& tried, const MlIluOptions& options, Lines& lines)
{
    if (!tried.mlilu || tried.mlilu->levels.empty()) return;
    const MlIluLevelReport& top = tried.mlilu->levels.front();
    const double            postponed = top.n > 0 ? double(top.postponed) / top.n : 0;
    if (postponed > 0.25 && options.matching == MatchingChoice::off)
        lines.push_back(
            fmt::format("{:.0f} % of the pivots of level 1 were postponed: -p precond.matching=on", 100 * postponed));
    else if (postponed > 0.25)
        lines.push_back(
            fmt::format("{:.0f} % of the pivots of level 1 were postponed: -p precond.inverse_bound={:g} accepts more",
                        100 * postponed, 4 * options.inverse_bound));
    const double inverse = std::max(top.inverse_L, top.inverse_U);
    if (inverse > 10)
        lines.push_back(
            fmt::format("the inverse factors grow to {:.2g}: -p precond.inverse_bound={:g} keeps them smaller", inverse,
                        std::max(2.0, options.inverse_bound / 4)));
}

void about_the_steps(const Attempt& tried, const KrylovOptions& krylov, Lines& lines)
{
    const SolveReport& report = tried.report;
    const bool         restarts = tried.plan.method == MethodChoice::gmres || tried.plan.method == MethodChoice::fgmres;
    if (restarts && report.steps > krylov.restart && report.outcome != Outcome::not_finite)
        lines.push_back(fmt::format("convergence may be lost at the restarts: --restart {}", 4 * krylov.restart));
    if (report.outcome == Outcome::max_steps && report.relative_residual < 1 && krylov.rtol > 0) {
        const double needed = report.steps * std::log(krylov.rtol) / std::log(report.relative_residual);
        if (needed < 20.0 * report.steps)
            lines.push_back(
                fmt::format("at this rate about {:.0f} steps are needed: --max-steps {:.0f}", needed, 1.5 * needed));
    }
    if (report.outcome == Outcome::breakdown && !restarts)
        lines.emplace_back("GMRES cannot break down this way: --method gmres");
    if (tried.plan.method == MethodChoice::cg && report.outcome != Outcome::breakdown)
        lines.emplace_back("CG needs A and the preconditioner symmetric positive definite: --method gmres");
}

void about_the_preconditioner(const Run& run, Lines& lines)
{
    const Attempt&        tried = run.result();
    const PrecondOptions& precond = tried.plan.precond;
    double                tightest = precond.mlilu.drop_tol;  // of all tries
    for (const Attempt& other : run.attempts)
        if (other.mlilu) tightest = std::min(tightest, other.plan.precond.mlilu.drop_tol);

    if (tried.zero_pivot >= 0)
        lines.push_back(fmt::format("ILU(0) met a zero pivot at row {}: --precond mlilu postpones such pivots",
                                    tried.zero_pivot + 1));
    else if (precond.kind != PrecondKind::mlilu) lines.emplace_back("a stronger preconditioner: --precond mlilu");
    else if (tightest > 0)
        lines.push_back(fmt::format("M keeps {:.3g} values for one of A; a closer one: -p precond.drop_tol={:g}",
                                    tried.fill, tightest / 10));
}

}  // namespace

Lines advice(const Run& run, const Problem& problem)
{
    Lines          lines;
    const Attempt& tried = run.result();
    const Outcome  outcome = run.outcome();
    if (outcome == Outcome::converged) return lines;
    if (outcome == Outcome::out_of_memory) {
        const PrecondOptions& precond = tried.plan.precond;
        if (precond.kind != PrecondKind::mlilu)
            lines.emplace_back("fewer vectors: a smaller --restart, or --method bicgstab");
        else if (precond.mlilu.memory_limit.value > 0)
            lines.push_back(
                fmt::format("precond.memory_limit is {}: allow more", field_text(precond.mlilu.memory_limit)));
        else lines.emplace_back("a sparser preconditioner: -p precond.drop_tol=0.1, or --precond ilu0");
        return lines;
    }
    if (problem.rhs_is_noise)
        lines.emplace_back(
            "b = A·1 is rounding noise, since A maps the vector of ones to (nearly) zero: --rhs random:1, or a file");
    about_the_matrix(tried, problem.n(), lines);
    about_the_rounding(tried, lines);
    about_the_preconditioner(run, lines);
    about_the_pivots(tried, tried.plan.precond.mlilu, lines);
    about_the_steps(tried, run.options.krylov, lines);
    if (!run.options.retry) lines.emplace_back("or let ilux tighten the preconditioner itself: --retry on");
    return lines;
}

}  // namespace ilux::app
