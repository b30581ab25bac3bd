#include "ilux/apps/lu_attempt.hpp"

#include <fmt/core.h>

#include <limits>
#include <new>

namespace ilux::app {
namespace {

/// Factors; where that fails, `tried` says why. @return whether the factors may be used
bool factor(Lu& lu, const Problem& problem, const LuSymbolic& symbolic, Attempt& tried)
{
    const LuReport done = lu.factor(problem.A.val());
    tried.seconds_factor = done.seconds;
    if (done.outcome == Outcome::converged) return true;
    tried.report.outcome = done.outcome;
    tried.failure = done.reason;
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
    tried.report.steps = tried.lu->refine_steps = solved.refine.steps;

    const Errors    errors = measure(problem.A, tried.x, problem.b, rtol);
    const LuVerdict verdict = lu_verdict(cpu, lu, problem.A, tried.x, problem.b, solved, errors, rtol);
    tried.report.outcome = verdict.outcome;
    tried.report.relative_residual = errors.relative_residual;
    tried.report.backward_error = errors.backward_error;
    tried.lu->componentwise = errors.componentwise;
    tried.explanation = verdict.detail;
    if (!verdict.remark.empty()) tried.decisions.push_back(verdict.remark);
}

void run(Machine& machine, const Problem& problem, double rtol, Attempt& tried)
{
    Stopwatch  clock;
    const auto symbolic = analyse(view(problem.A), within_memory(tried.plan.lu.direct));
    tried.seconds_analyse = clock.seconds();
    tried.lu = facts_before(*symbolic);
    require_memory(*symbolic, tried.plan.lu.direct);

    Lu lu(machine.cpu, symbolic);
    if (!factor(lu, problem, *symbolic, tried)) return;
    note_factors(lu, problem.A.nnz(), *tried.lu);
    tried.fill = tried.lu->fill;
    tried.factor_bytes = lu.bytes();
    LuWorkspace workspace(problem.n());
    tried.workspace_bytes = sizeof(double) * (workspace.y.size() + workspace.r.size() + workspace.d.size());
    solve(machine.cpu, lu, problem, rtol, tried);
    tried.lu->condition = condition_estimate(machine.cpu, lu.factors(), view(problem.A), workspace);
    if (tried.report.outcome == Outcome::converged &&
        !(tried.lu->condition < 1 / std::numeric_limits<double>::epsilon()))
        tried.decisions.push_back(
            fmt::format("condition about {:.1e}: A may be singular, and x one of many", tried.lu->condition));
}

}  // namespace

void refuse_gpu_refactorization(const SolveOptions& options)
{
    if (options.method == MethodChoice::lu && options.device == DeviceChoice::gpu)
        throw InvalidOption(
            "device gpu: the GPU refactorization is not in this version; --method lu runs with --device cpu");
}

Machine machine_for(const SolveOptions& options, const CsrMatrix<double>& A, std::vector<std::string>& decisions)
{
    if (options.method != MethodChoice::lu) return choose_machine(options, A, decisions);
    if (options.device == DeviceChoice::automatic)
        decisions.emplace_back("device cpu: the GPU refactorization is not in this version");
    return {.cpu = Cpu(options.threads)};
}

Attempt run_lu_attempt(Machine& machine, const Problem& problem, const Plan& plan, double rtol)
{
    Attempt   tried;
    Stopwatch clock;
    tried.plan = plan;
    tried.device = machine.device();
    tried.x.assign(static_cast<std::size_t>(problem.n()), 0.0);
    tried.report.relative_residual = 1;
    try {
        run(machine, problem, rtol, tried);
    } catch (const OutOfMemory& error) {
        tried.failure = error.what();
        tried.report.outcome = Outcome::out_of_memory;
    } catch (const std::bad_alloc&) {
        tried.failure = "the machine's memory is exhausted";
        tried.report.outcome = Outcome::out_of_memory;
    }
    tried.seconds = clock.seconds();
    return tried;
}

}  // namespace ilux::app
