#include "ilux/apps/attempt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "ilux/base/spmv.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/jacobi.hpp"

namespace ilux::app {
namespace {

using PrecondPtr = std::unique_ptr<Preconditioner<Cpu>>;

Method method_of(MethodChoice choice)
{
    ILUX_ASSERT(choice != MethodChoice::automatic);
    return static_cast<Method>(static_cast<int>(choice) - 1);  // the same names in the same order, after auto
}

PrecondPtr build_mlilu(Cpu& cpu, const CsrMatrix<double>& A, const Monitor& monitor, Attempt& tried)
{
    const MlIlu        factors = MlIlu::build(cpu, A, tried.plan.precond.mlilu, monitor);
    const MlIluReport& report = factors.report();
    tried.mlilu = report;
    tried.fill = report.fill;
    tried.factor_bytes = report.bytes;
    tried.seconds_analyse = report.seconds_analyse;
    tried.seconds_factor = report.seconds_factor;
    return std::make_unique<MlIluPreconditioner>(factors);
}

PrecondPtr build_ilu0(const CsrMatrix<double>& A, Attempt& tried)
{
    Stopwatch clock;
    auto      M = std::make_unique<Ilu0>(A);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = M->bytes();
    tried.fill = 1;
    tried.zero_pivot = M->zero_pivot();
    if (tried.zero_pivot < 0) return M;
    tried.report.outcome = Outcome::breakdown;
    tried.failure = fmt::format("ILU(0) met a zero pivot at row {}", tried.zero_pivot + 1);
    return nullptr;
}

PrecondPtr build_jacobi(const CsrMatrix<double>& A, Attempt& tried)
{
    Stopwatch clock;
    auto      M = std::make_unique<Jacobi>(A);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = sizeof(double) * static_cast<std::size_t>(A.rows());
    tried.fill = A.nnz() > 0 ? double(A.rows()) / double(A.nnz()) : 0;
    return M;
}

/// Null when it does not exist; then `tried` says why.
PrecondPtr build(Cpu& cpu, const CsrMatrix<double>& A, const Monitor& monitor, Attempt& tried)
{
    switch (tried.plan.precond.kind) {
        case PrecondKind::mlilu:
            return build_mlilu(cpu, A, monitor, tried);
        case PrecondKind::ilu0:
            return build_ilu0(A, tried);
        case PrecondKind::jacobi:
            return build_jacobi(A, tried);
        case PrecondKind::none:
            break;
    }
    return std::make_unique<Identity<Cpu>>(A.rows());
}

/// A converged x so large that b − A x cancels to rounding noise would pass its test by luck: measured once more, in
/// twice the precision.
void verify(Cpu& cpu, const Problem& problem, const KrylovOptions& krylov, Attempt& tried)
{
    if (tried.report.outcome != Outcome::converged) return;
    const double norm_b = norm2(cpu, problem.b), residual = residual_norm_extended(problem.A, tried.x, problem.b);
    const double scale =
        krylov.stop == StopTest::backward_error ? krylov.matrix_norm * norm2(cpu, tried.x) + norm_b : norm_b;
    if (residual <= krylov.rtol * scale || residual == 0) return;
    tried.report.outcome = Outcome::stagnated;
    tried.report.detail = "b - A x met the tolerance by rounding only: in twice the precision it does not";
    tried.report.relative_residual = norm_b > 0 ? residual / norm_b : residual;
}

void iterate(Cpu& cpu, const Problem& problem, KrylovOptions krylov, Preconditioner<Cpu>& M, const Monitor& monitor,
             Attempt& tried)
{
    const Method method = method_of(tried.plan.method);
    // A space of n dimensions, or of all the steps allowed, is never outgrown: no memory for more.
    krylov.restart = std::clamp(std::min(problem.n(), krylov.max_steps), 1, krylov.restart);
    const MatrixOperator A(problem.A, needs_transpose(method));
    KrylovWorkspace<Cpu> workspace(method, problem.n(), krylov);
    tried.workspace_bytes = workspace.bytes();
    tried.report = ilux::solve<Cpu>(cpu, method, A, M, problem.b, tried.x, workspace, krylov, monitor);
    verify(cpu, problem, krylov, tried);
}

}  // namespace

Attempt run_attempt(Cpu& cpu, const Problem& problem, const Plan& plan, KrylovOptions krylov, double matrix_norm,
                    ProgressLine& progress, bool keep_history)
{
    Attempt   tried;
    Stopwatch clock;
    tried.plan = plan;
    tried.x.assign(static_cast<std::size_t>(problem.n()), 0.0);
    tried.report.relative_residual = 1;
    krylov.matrix_norm = matrix_norm;
    // One point for the start and one a step, exact ones at restarts besides: reserved here, for a monitor must not throw.
    if (keep_history)
        tried.history.reserve(2 * std::min<std::size_t>(static_cast<std::size_t>(krylov.max_steps), 1'000'000) + 16);

    double        solve_began = 0;
    const Monitor monitor = [&](const Progress& now) {
        progress.show(now);
        if (now.phase == Progress::Phase::solve && tried.history.size() < tried.history.capacity())
            tried.history.push_back({now.done, now.residual, now.exact, clock.seconds() - solve_began});
    };
    try {
        const PrecondPtr M = build(cpu, problem.A, monitor, tried);
        solve_began = clock.seconds();
        if (M) iterate(cpu, problem, krylov, *M, monitor, tried);
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
