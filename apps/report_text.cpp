#include "ilux/apps/report_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ilux/apps/advice.hpp"
#include "ilux/apps/units.hpp"

namespace ilux::app {
namespace {

std::string row(std::string_view head, std::string_view text) { return fmt::format("{:<16}{}\n", head, text); }

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.2e}", value) : "not finite"; }

std::string method_text(const Plan& plan, const KrylovOptions& krylov)
{
    switch (plan.method) {
        case MethodChoice::automatic:
            break;
        case MethodChoice::gmres:
            return fmt::format("GMRES({}), preconditioned from the {}", krylov.restart, field_text(krylov.side));
        case MethodChoice::fgmres:
            return fmt::format("flexible GMRES({})", krylov.restart);
        case MethodChoice::bicg:
            return "BiCG";
        case MethodChoice::bicgstab:
            return "BiCGStab";
        case MethodChoice::cg:
            return "CG";
        case MethodChoice::lu:
            return "direct, P A Q = L U";
    }
    return "";
}

std::string precond_text(const PrecondOptions& precond)
{
    switch (precond.kind) {
        case PrecondKind::mlilu:
            return fmt::format("multilevel ILU, τ {:g}, τ_S {:g}, κ {:g}", precond.mlilu.drop_tol,
                               precond.mlilu.schur_drop_tol, precond.mlilu.inverse_bound);
        case PrecondKind::ilu0:
            return "ILU(0)";
        case PrecondKind::jacobi:
            return "the diagonal of A";
        case PrecondKind::none:
            return "none";
    }
    return "";
}

std::string problem_rows(const Problem& problem)
{
    const std::string_view symmetry = problem.symmetric           ? "symmetric"
                                      : problem.pattern_symmetric ? "pattern symmetric, values not"
                                                                  : "not symmetric";
    std::string            text = row("matrix", problem.name);
    if (!problem.about.empty()) text += row("", problem.about);
    text += row("", fmt::format("n {}, nnz {} ({:.1f} a row), {}", problem.n(), problem.A.nnz(),
                                problem.n() > 0 ? double(problem.A.nnz()) / problem.n() : 0.0, symmetry));
    return text + row("right-hand side", problem.rhs == "A1" ? "b = A·1" : problem.rhs);
}

std::string level_table(const MlIluReport& report)
{
    std::string text =
        fmt::format("\n{:>5}{:>10}{:>10}{:>10}{:>11}{:>11}{:>9}{:>9}{:>8}{:>8}{:>8}{:>8}\n", "level", "n", "accepted",
                    "postponed", "nnz L", "nnz U", "nnz G", "nnz F", "‖L⁻¹‖", "‖U⁻¹‖", "depth L", "depth U");
    int k = 0;
    for (const MlIluLevelReport& level : report.levels) {
        const bool dense = report.dense && ++k == static_cast<int>(report.levels.size());
        if (!report.dense) ++k;
        text += fmt::format("{:>5}{:>10}{:>10}{:>10}{:>11}{:>11}{:>9}{:>9}{:>8.3g}{:>8.3g}{:>8}{:>8}{}\n", k, level.n,
                            level.accepted, level.postponed, level.nnz_L, level.nnz_U, level.nnz_G, level.nnz_F,
                            level.inverse_L, level.inverse_U, level.depth_L, level.depth_U, dense ? "  dense" : "");
    }
    return text;
}

std::string lu_rows(const LuFacts& lu)
{
    const LuSymbolicReport& symbolic = lu.symbolic;
    std::string             text =
        row("analysis",
            fmt::format("ordering {}{}; {} diagonal block{}, the largest of {}; {:.3g} entries and {:.2g} flops "
                        "expected",
                        field_text(symbolic.ordering), symbolic.matched ? ", matched" : "", symbolic.blocks,
                        symbolic.blocks == 1 ? "" : "s", symbolic.largest_block, symbolic.nnz, symbolic.flops));
    for (const std::string& decision : symbolic.decisions) text += row("decided", decision);
    if (lu.nnz == 0) return text;
    text +=
        row("factors", fmt::format("L + U {} entries, {} above the blocks: {:.2f} × nnz(A); {:.3g} flops, {} levels",
                                   lu.nnz, lu.nnz_F, lu.fill, lu.flops, lu.levels));
    text += row("pivots", fmt::format("growth {:.1e}, smallest to largest {:.1e}, condition about {:.1e}",
                                      lu.growth > 0 ? 1 / lu.growth : INFINITY, lu.rcond, lu.condition));
    if (lu.repivots > 0) text += row("", fmt::format("chosen anew {} times", lu.repivots));
    return text;
}

std::string attempt_rows(const Run& run)
{
    if (run.attempts.size() < 2) return "";
    std::string text = "\n";
    for (std::size_t k = 0; k < run.attempts.size(); ++k) {
        const Attempt& tried = run.attempts[k];
        text += row(fmt::format("attempt {}", k + 1),
                    fmt::format("{:<13} {:>5} steps, residual {}, fill {:.2f}, {}{}", name(tried.report.outcome),
                                tried.report.steps, number(tried.report.relative_residual), tried.fill,
                                seconds_text(tried.seconds),
                                tried.plan.change.empty() ? "" : "; with " + tried.plan.change));
    }
    return text;
}

std::string gpu_rows(const GpuReport& report)
{
    std::string text;
    for (const auto& [facts, engine] : report.systems)
        text += row(text.empty() ? "on the GPU" : "", fmt::format("{}: {} rows, {} entries, {} deep",
                                                                  field_text(engine), facts.n, facts.nnz, facts.depth));
    return text;
}

std::string error_rows(const Run& run)
{
    const SolveReport& report = run.result().report;
    std::string text = row("residual", number(report.relative_residual) + "  ‖b − A x‖₂ / ‖b‖₂, recomputed");
    if (report.backward_error > 0 || run.outcome() == Outcome::converged)
        text += row("backward error", number(report.backward_error) + "  ‖b − A x‖₂ / (‖A‖_F ‖x‖₂ + ‖b‖₂)");
    if (const auto& lu = run.result().lu; lu && !std::isnan(lu->componentwise))
        text += row("", number(lu->componentwise) + "  max |b − A x|_i / (|A||x| + |b|)_i, componentwise");
    if (!std::isnan(run.forward_error))
        text += row("forward error", number(run.forward_error) + "  ‖x − x*‖_∞ / ‖x*‖_∞");
    return text;
}

std::string cost_rows(const Run& run, const Problem& problem)
{
    const Attempt&      result = run.result();
    const SolveSeconds& solve = result.report.seconds;
    const std::string   parts =
        result.lu ? ""
                    : fmt::format(" (A {}, M {}, ortho {}, other {})", seconds_text(solve.spmv),
                                  seconds_text(solve.precond), seconds_text(solve.ortho), seconds_text(solve.other()));
    return row("time",
               fmt::format("read {}, analyse {}, factor {}, {}solve {}{}", seconds_text(problem.seconds_read),
                           seconds_text(result.seconds_analyse), seconds_text(result.seconds_factor),
                           result.gpu ? fmt::format("transfer {}, ", seconds_text(result.gpu->seconds_transfer)) : "",
                           seconds_text(solve.solve), parts)) +
           row("memory",
               fmt::format("matrix {}, factors {}, workspace {}{}", bytes_text(double(problem.A.bytes())),
                           bytes_text(double(result.factor_bytes)), bytes_text(double(result.workspace_bytes)),
                           result.gpu
                               ? fmt::format("; at most {} on the GPU", bytes_text(double(result.gpu->peak_bytes)))
                               : ""));
}

}  // namespace

std::string outcome_line(const Run& run)
{
    const Attempt& result = run.result();
    std::string    text(name(run.outcome()));
    if (result.lu && !std::isnan(result.lu->componentwise))
        text += fmt::format(", componentwise backward error {}", number(result.lu->componentwise));
    if (!result.lu)
        text += fmt::format(" {} {} step{}", run.outcome() == Outcome::converged ? "in" : "after", result.report.steps,
                            result.report.steps == 1 ? "" : "s");
    if (!result.lu || result.failure.empty())
        text += fmt::format(", residual {}", number(result.report.relative_residual));
    const std::string why = result.why();
    if (!why.empty()) return fmt::format("{}: {}", text, why);
    return result.warning.empty() ? text : fmt::format("{}; {}", text, result.warning);
}

std::string text_report(const Run& run, const Problem& problem, bool colour)
{
    const Attempt& result = run.result();
    std::string    text = problem_rows(problem);
    text += row("method", method_text(result.plan, run.options.krylov));
    if (result.plan.method != MethodChoice::lu) text += row("preconditioner", precond_text(result.plan.precond));
    text += row("machine", fmt::format("{}, {}{} thread{}", result.device.name, result.gpu ? "host " : "",
                                       result.device.threads, result.device.threads == 1 ? "" : "s"));
    for (const std::string& decision : run.decisions) text += row("decided", decision);
    if (result.mlilu) {
        text += level_table(*result.mlilu);
        for (const std::string& decision : result.mlilu->decisions) text += row("decided", decision);
        text += row("fill", fmt::format("{:.2f} × nnz(A)", result.fill));
    }
    if (result.lu) text += lu_rows(*result.lu);
    if (result.gpu) text += gpu_rows(*result.gpu);
    text += attempt_rows(run);

    const bool converged = run.outcome() == Outcome::converged;
    text += colour ? fmt::format("\n\033[{}m{}\033[0m\n", converged ? "1;32" : "1;31", outcome_line(run))
                   : fmt::format("\n{}\n", outcome_line(run));
    text += error_rows(run) + cost_rows(run, problem);
    if (!run.stopped.empty()) text += row("no more tries", run.stopped);
    for (const std::string& line : advice(run, problem)) text += row("try next", line);
    return text;
}

}  // namespace ilux::app
