#include "ilux/apps/report/report_rows.hpp"

#include <fmt/core.h>

#include <cmath>

#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

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
        case MethodChoice::minres:
            return "MINRES";
        case MethodChoice::sqmr:
            return "SQMR";
        case MethodChoice::cocg:
            return "COCG";
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
                               precond.mlilu.tau_S(), precond.mlilu.inverse_bound) +
                   (precond.mlilu.damping.beta > 0 ? fmt::format(", β {:g}", precond.mlilu.damping.beta) : "");
        case PrecondKind::ilu0:
            return "ILU(0)";
        case PrecondKind::jacobi:
            return "the diagonal of A";
        case PrecondKind::none:
            return "none";
    }
    return "";
}

}  // namespace

Rows problem_rows(const ProblemFacts& problem)
{
    const std::string_view symmetry = problem.complex && problem.hermitian ? "Hermitian"
                                      : problem.symmetric                  ? "symmetric"
                                      : problem.pattern_symmetric          ? "pattern symmetric, values not"
                                                                           : "not symmetric";
    Rows                   rows{{"matrix", problem.name}};
    if (!problem.about.empty()) rows.push_back({"", problem.about});
    rows.push_back({"", fmt::format("n {}, nnz {} ({:.1f} a row), {}{}", problem.n(), problem.nnz,
                                    problem.n() > 0 ? double(problem.nnz) / problem.n() : 0.0,
                                    problem.complex ? "complex, " : "", symmetry)});
    rows.push_back({"right-hand side", problem.rhs == "A1" ? "b = A·1" : problem.rhs});
    if (problem.columns > 1) rows.back().text += fmt::format(", {} columns", problem.columns);
    return rows;
}

Rows method_rows(const Run& run)
{
    const Attempt& result = run.result();
    const bool     mixed = run.options.krylov.precision == KrylovPrecision::mixed && !result.plan.direct();
    Rows rows{{"method", method_text(result.plan, run.options.krylov) + (mixed ? ", in mixed precision" : "")}};
    if (result.plan.method != MethodChoice::lu) rows.push_back({"preconditioner", precond_text(result.plan.precond)});
    rows.push_back({"machine", fmt::format("{}, {}{} thread{}", result.device.name, result.gpu ? "host " : "",
                                           result.device.threads, result.device.threads == 1 ? "" : "s")});
    return rows;
}

Rows analysis_rows(const LuFacts& lu)
{
    const LuSymbolicReport& symbolic = lu.symbolic;
    return {{"analysis",
             fmt::format("ordering {}{}; {} diagonal block{}, the largest of {}; {:.3g} entries and {:.2g} flops "
                         "expected",
                         field_text(symbolic.ordering), symbolic.matched ? ", matched" : "", symbolic.blocks,
                         symbolic.blocks == 1 ? "" : "s", symbolic.largest_block, symbolic.nnz, symbolic.flops)}};
}

Rows factor_rows(const LuFacts& lu)
{
    if (lu.nnz == 0) return {};
    Rows rows{{"factors",
               fmt::format("L + U {} entries, {} above the blocks: {:.2f} × nnz(A); {:.3g} flops, {} level{}", lu.nnz,
                           lu.nnz_F, lu.fill, lu.flops, lu.levels, lu.levels == 1 ? "" : "s")},
              {"pivots", fmt::format("growth {:.1e}, smallest to largest {:.1e}, condition about {:.1e}",
                                     lu.growth > 0 ? 1 / lu.growth : INFINITY, lu.rcond, lu.condition)}};
    if (lu.repivots > 0)
        rows.push_back({"", fmt::format("chosen anew {} time{}", lu.repivots, lu.repivots == 1 ? "" : "s")});
    return rows;
}

Rows attempt_rows(const Run& run)
{
    if (run.attempts.size() < 2) return {};
    Rows rows;
    for (std::size_t k = 0; k < run.attempts.size(); ++k) {
        const Attempt& tried = run.attempts[k];
        rows.push_back(
            {fmt::format("attempt {}", k + 1),
             fmt::format("{:<13} {:>5} steps, residual {}, fill {:.2f}, {}{}", name(tried.report.outcome),
                         tried.report.steps, error_text(tried.report.relative_residual), tried.fill,
                         seconds_text(tried.seconds), tried.plan.change.empty() ? "" : "; with " + tried.plan.change)});
    }
    return rows;
}

Rows column_rows(const Run& run, std::size_t most)
{
    Rows rows;
    for (const ColumnReport& one : run.columns) {
        if (!one.report.begun) {  // and so are all that follow
            rows.push_back({"", fmt::format("and {} columns that were not begun", run.columns.size() - rows.size())});
            break;
        }
        if (rows.size() == most) {
            rows.push_back({"", fmt::format("and {} columns that are no worse", run.columns.size() - most)});
            break;
        }
        const Attempt& result = one.report.result();
        rows.push_back(
            {fmt::format("column {}", one.column + 1),
             fmt::format("{:<13} {:>5} steps, residual {}, backward error {}, {}", name(one.report.outcome()),
                         result.report.steps, error_text(result.report.relative_residual),
                         error_text(result.report.backward_error), time_text(one.report.seconds))});
    }
    return rows;
}

Rows gpu_rows(const GpuReport& report)
{
    Rows rows;
    for (const auto& [facts, engine] : report.systems)
        rows.push_back(
            {rows.empty() ? "on the GPU" : "",
             fmt::format("{}: {} rows, {} entries, {} deep", field_text(engine), facts.n, facts.nnz, facts.depth)});
    return rows;
}

Rows error_rows(const Run& run, const ProblemFacts& problem)
{
    const IterationReport& report = run.result().report;
    Rows rows{{"residual", error_text(report.relative_residual) + "  ‖b − A x‖₂ / ‖b‖₂, recomputed" +
                               (run.taken_off > 0 ? ", of b without the part that was taken off" : "")}};
    if (report.backward_error > 0 || run.outcome() == Outcome::converged)
        rows.push_back({"backward error", error_text(report.backward_error) + "  ‖b − A x‖₂ / (‖A‖_F ‖x‖₂ + ‖b‖₂)"});
    const Accuracy& accuracy = run.result().accuracy;
    if (!std::isnan(accuracy.rowwise))
        rows.push_back({"", error_text(accuracy.rowwise) + "  max |b − A x|_i / (|A||x| + |b|)_i, componentwise"});
    if (!std::isnan(accuracy.error)) {
        rows.push_back({"error estimate", error_text(accuracy.error) + "  ‖e‖_∞ / ‖x‖_∞, e ≈ M⁻¹(b − A x)"});
        rows.push_back(
            {"",
             accuracy.uncertain > 0 ? uncertainty_text(accuracy, problem.n())
             : accuracy.worst < 0
                 ? run.result().warning.empty() ? "no unknown is uncertain"
                                                : "no unknown is uncertain beyond what the warning says"
                 : fmt::format(
                       "{}  max |e_i| / |x_i|, at unknown {} (counted from 1); unknowns below 1e-12 of the largest do not count",
                       error_text(accuracy.worst_error), accuracy.worst + 1)});
    }
    if (!std::isnan(run.forward_error))
        rows.push_back({"forward error", error_text(run.forward_error) + "  ‖x − x*‖_∞ / ‖x*‖_∞"});
    return rows;
}

Rows cost_rows(const Run& run, const ProblemFacts& problem)
{
    const Attempt&      result = run.result();
    const SolveSeconds& solve = result.report.seconds;
    const std::string   parts =
        result.lu ? ""
                    : fmt::format(" (A {}, M {}, ortho {}, other {})", seconds_text(solve.spmv),
                                  seconds_text(solve.precond), seconds_text(solve.ortho), seconds_text(solve.other()));
    const std::string transfer =
        result.gpu ? fmt::format("transfer {}, ", seconds_text(result.gpu->seconds_transfer)) : "";
    const std::string on_gpu =
        result.gpu ? fmt::format("; at most {} on the GPU", bytes_text(double(result.gpu->peak_bytes))) : "";
    return {{"time", fmt::format("read {}, analyse {}, factor {}, {}solve {}{}", seconds_text(problem.seconds_read),
                                 seconds_text(result.seconds_analyse), seconds_text(result.seconds_factor), transfer,
                                 seconds_text(solve.solve), parts)},
            {"memory",
             fmt::format("matrix {}, factors {}, workspace {}{}", bytes_text(double(problem.matrix_bytes)),
                         bytes_text(double(result.factor_bytes)), bytes_text(double(result.workspace_bytes)), on_gpu)}};
}

}  // namespace ilux::app
