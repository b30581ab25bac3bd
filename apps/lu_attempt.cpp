#include "ilux/apps/lu_attempt.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/apps/lu_device.hpp"
#include "ilux/apps/memory_guard.hpp"

namespace ilux::app {
namespace {

/// Factors; where that fails, `tried` says why. @return whether the factors may be used
bool factor(Lu& lu, const Problem& problem, const LuSymbolic& symbolic, Attempt& tried)
{
    const LuReport done = lu.factor(problem.A.val());
    tried.seconds_factor = done.seconds;
    if (done.outcome == Outcome::converged) return true;
    tried.report.outcome = done.outcome;
    tried.failure = done.outcome == Outcome::time_limit
                        ? fmt::format("analysis and factorization were given up after {:.3g} s: {}",
                                      tried.seconds_analyse + done.seconds, done.reason)
                        : done.reason;
    if (symbolic.report.structural_rank < symbolic.n)
        tried.failure +=
            fmt::format("; A is structurally singular: rank {} of {}", symbolic.report.structural_rank, symbolic.n);
    return false;
}

void solve(Cpu& cpu, Lu& lu, const Problem& problem, double rtol, Attempt& tried)
{
    Stopwatch           clock;
    const LuSolveReport solved = lu.solve(problem.b, tried.x, Transpose::no, lu_tolerance);
    tried.report.seconds.solve = clock.seconds();
    note_precision(lu, *tried.lu, tried.decisions);
    tried.report.steps = tried.lu->refine_steps = solved.refine.steps;
    const auto& errors_seen = solved.refine.first_errors;
    const auto  kept = std::min<std::ptrdiff_t>(solved.refine.steps + 1, std::ssize(errors_seen));
    tried.lu->refine_errors.assign(errors_seen.begin(), errors_seen.begin() + kept);

    const Errors    errors = measure(problem.A, tried.x, problem.b, rtol);
    const LuVerdict verdict = lu_verdict(cpu, lu, problem.A, tried.x, problem.b, solved, errors, rtol);
    tried.report.outcome = verdict.outcome;
    tried.report.relative_residual = errors.relative_residual;
    tried.report.backward_error = errors.backward_error;
    tried.lu->componentwise = errors.componentwise;
    tried.explanation = verdict.detail;
    if (!verdict.remark.empty()) tried.decisions.push_back(verdict.remark);
}

void run(Machine& machine, const Problem& problem, double rtol, double time_left, bool keep_structure, Attempt& tried)
{
    const Stopwatch clock;
    const auto      symbolic = analyse(view(problem.A), within_memory(tried.plan.lu));
    tried.seconds_analyse = clock.seconds();
    tried.lu = facts_before(*symbolic);
    require_memory(*symbolic, tried.plan.lu);

    Lu lu(machine.cpu, symbolic);
    if (machine.gpu) lu.use_gpu(*machine.gpu);
    lu.stop_when([&] { return clock.seconds() > time_left; });
    if (!factor(lu, problem, *symbolic, tried)) return;
    note_factors(lu, problem.A.nnz(), *tried.lu);
    tried.lu->refactor = lu.refactor_method();
    tried.fill = tried.lu->fill;
    tried.factor_bytes = lu.bytes();
    LuWorkspace workspace(problem.n());
    tried.workspace_bytes = workspace.bytes();
    solve(machine.cpu, lu, problem, rtol, tried);
    if (keep_structure) tried.structure = structure_of(lu);
    tried.lu->condition = condition_estimate(machine.cpu, lu.factors(), view(problem.A), workspace);
    if (tried.report.outcome == Outcome::converged)
        tried.warning = singularity_warning(machine.cpu, lu.factors(), problem.A, tried.lu->condition);
}

}  // namespace

Attempt run_lu_attempt(Machine& machine, const Problem& problem, const Plan& plan, double rtol, double time_left,
                       bool keep_structure)
{
    Attempt   tried;
    Stopwatch clock;
    tried.plan = plan;
    tried.device = machine.device();
    tried.x.assign(static_cast<std::size_t>(problem.n()), 0.0);
    tried.report.relative_residual = 1;
    if (const auto why = lack_of_memory([&] { run(machine, problem, rtol, time_left, keep_structure, tried); })) {
        tried.failure = *why;
        tried.report.outcome = Outcome::out_of_memory;
    }
    tried.seconds = clock.seconds();
    return tried;
}

}  // namespace ilux::app
