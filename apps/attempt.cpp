#include "ilux/apps/attempt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ilux/apps/lu_attempt.hpp"
#include "ilux/apps/memory_guard.hpp"
#include "ilux/base/spmv.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/gpu_mlilu.hpp"

namespace ilux::app {
namespace {

/// Thrown through a factorization that takes too long.
struct TimeUp {
    Progress where;
};

Method method_of(MethodChoice choice)
{
    ILUX_ASSERT(choice != MethodChoice::automatic);
    return static_cast<Method>(static_cast<int>(choice) - 1);  // the same names in the same order, after auto
}

MlIlu build_mlilu(Machine& machine, const CsrMatrix<double>& A, const Monitor& monitor, Attempt& tried)
{
    MlIluOptions options = tried.plan.precond.mlilu;
    if (machine.gpu) {
        options = for_gpu(options);
        if (options.off_diagonal != tried.plan.precond.mlilu.off_diagonal)
            tried.decisions.push_back(fmt::format("off_diagonal={}, for a GPU", field_text(options.off_diagonal)));
        if (options.depth_bound != tried.plan.precond.mlilu.depth_bound)
            tried.decisions.push_back(fmt::format("depth_bound={}, for a GPU", field_text(options.depth_bound)));
    }
    MlIlu              factors = MlIlu::build(machine.cpu, A, options, monitor);
    const MlIluReport& report = factors.report();
    tried.mlilu = report;
    tried.fill = report.fill;
    tried.factor_bytes = report.bytes;
    tried.seconds_analyse = report.seconds_analyse;
    tried.seconds_factor = report.seconds_factor;
    return factors;
}

/// Null at a zero pivot; then `tried` says so.
std::unique_ptr<Ilu0> build_ilu0(const CsrMatrix<double>& A, Attempt& tried)
{
    Stopwatch clock;
    auto      M = std::make_unique<Ilu0>(A);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = M->bytes();
    tried.fill = 1;
    tried.zero_pivot = M->zero_pivot();
    if (tried.zero_pivot < 0) return M;
    tried.report.outcome = Outcome::breakdown;
    tried.failure = fmt::format("ILU(0) met a zero pivot at row {} (counted from 1)", tried.zero_pivot + 1);
    return nullptr;
}

std::unique_ptr<Jacobi> build_jacobi(const CsrMatrix<double>& A, Attempt& tried)
{
    Stopwatch clock;
    auto      M = std::make_unique<Jacobi>(A);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = sizeof(double) * static_cast<std::size_t>(A.rows());
    tried.fill = A.nnz() > 0 ? double(A.rows()) / double(A.nnz()) : 0;
    return M;
}

/// M as the plan asks for it; for a GPU with off_diagonal and depth_bound as suit one, where they are left to us.
/// @return whether M exists; if not, `tried` says why
bool factor(Machine& machine, const CsrMatrix<double>& A, const Monitor& monitor, Attempt& tried, HostFactors& factors)
{
    switch (tried.plan.precond.kind) {
        case PrecondKind::mlilu:
            factors.mlilu = build_mlilu(machine, A, monitor, tried);
            break;
        case PrecondKind::ilu0:
            factors.ilu0 = build_ilu0(A, tried);
            return factors.ilu0 != nullptr;
        case PrecondKind::jacobi:
            factors.jacobi = build_jacobi(A, tried);
            break;
        case PrecondKind::none:
            break;
    }
    return true;
}

/// M as the host applies it: one of `factors`, or made for them and kept in `made`.
Preconditioner<Cpu>& on_host(HostFactors& factors, Index n, std::unique_ptr<Preconditioner<Cpu>>& made)
{
    if (factors.ilu0) return *factors.ilu0;
    if (factors.jacobi) return *factors.jacobi;
    if (factors.mlilu) made = std::make_unique<MlIluPreconditioner>(*factors.mlilu);
    else made = std::make_unique<Identity<Cpu>>(n);
    return *made;
}

/// Options that say something to a GPU only.
void note_what_is_ignored(const Machine& machine, const KrylovOptions& krylov, Attempt& tried)
{
    const auto note = [&](const std::string& option) {
        tried.decisions.push_back(fmt::format("{} has no effect on the CPU", option));
    };
    if (tried.plan.precond.precision != Precision::in_double) note("precond.precision=single");
    if (machine.memory_limit.value > 0) note(fmt::format("device_memory={}", field_text(machine.memory_limit)));
    if (machine.engine != GpuSpTrsvEngine::automatic) note(fmt::format("sptrsv.engine={}", field_text(machine.engine)));
    if (krylov.ortho == Orthogonalization::mgso_hybrid || krylov.ortho == Orthogonalization::mgso_host)
        note(fmt::format("krylov.ortho={} instead of mgso", field_text(krylov.ortho)));
}

void iterate_on_host(Machine& machine, const Problem& problem, const KrylovOptions& krylov, HostFactors& factors,
                     const Monitor& monitor, Attempt& tried)
{
    note_what_is_ignored(machine, krylov, tried);
    tried.device = machine.device();
    const Method                         method = method_of(tried.plan.method);
    const MatrixOperator                 A(problem.A, needs_transpose(method));
    std::unique_ptr<Preconditioner<Cpu>> made;
    Preconditioner<Cpu>&                 M = on_host(factors, problem.n(), made);
    KrylovWorkspace<Cpu>                 workspace(method, problem.n(), krylov);
    tried.workspace_bytes = workspace.bytes();
    tried.report = ilux::solve<Cpu>(machine.cpu, method, A, M, problem.b, tried.x, workspace, krylov, monitor);
}

/// All but M goes there while M is factored.
void begin_on_gpu(Machine& machine, std::optional<GpuSystem>& system, const Problem& problem,
                  const KrylovOptions& krylov, const Plan& plan)
{
    const GpuSystemOptions options{.precision = plan.precond.precision,
                                   .engine = machine.engine,
                                   .memory_limit = machine.memory_limit};
    system.emplace(*machine.gpu, problem.A, method_of(plan.method), krylov, options);
}

void iterate_on_gpu(Machine& machine, GpuSystem& system, const Problem& problem, const KrylovOptions& krylov,
                    const HostFactors& factors, const Monitor& monitor, Attempt& tried)
{
    tried.device = machine.device();
    try {
        system.put_factors(machine.cpu, factors);
        tried.workspace_bytes = system.report().workspace_bytes;
        if (!system.report().remark.empty()) tried.decisions.push_back(system.report().remark);
        tried.report = system.solve(problem.b, tried.x, krylov, monitor);
        tried.gpu = system.report();
    } catch (const DeviceError& error) {
        throw DeviceError(fmt::format("{}: {}; --device cpu does without it", tried.device.name, error.what()));
    }
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

std::string rank_warning(const HostFactors& factors)
{
    const Index missing = factors.mlilu ? factors.mlilu->report().deficiency : 0;
    if (missing == 0) return "";
    return fmt::format("the factors lack rank {}: A is singular or nearly so, and x may be one of many", missing);
}

/// @param system  on the GPU, where there is one; all but M may still be on its way
void iterate(Machine& machine, std::optional<GpuSystem>& system, const Problem& problem, const KrylovOptions& krylov,
             HostFactors& factors, const Monitor& monitor, Attempt& tried)
{
    const auto give_up_gpu = [&](const std::string& why) {
        tried.decisions.push_back("device cpu after all: " + why);
        system.reset();  // it refers to the GPU
        machine.gpu = nullptr;
    };
    if (machine.gpu && machine.gpu_by_choice) {
        const bool saved = tried.plan.precond.mlilu.off_diagonal == OffDiagonal::save;
        if (const std::string why = why_not_gpu(problem.A, factors, saved); !why.empty()) give_up_gpu(why);
    }
    if (machine.gpu) try {
            iterate_on_gpu(machine, *system, problem, krylov, factors, monitor, tried);
        } catch (const OutOfMemory& error) {
            tried.device_is_full = !machine.gpu_by_choice;
            if (tried.device_is_full) throw;
            give_up_gpu(error.what());
        }
    if (!machine.gpu) iterate_on_host(machine, problem, krylov, factors, monitor, tried);
    verify(machine.cpu, problem, krylov, tried);
}

}  // namespace

bool Attempt::has_x() const
{
    Cpu serial(1);
    return failure.empty() && is_finite(serial, x);
}

Attempt run_attempt(Machine& machine, const Problem& problem, const Plan& plan, KrylovOptions krylov,
                    double matrix_norm, ProgressLine& progress, bool keep_history, double time_left, Carried* carried)
{
    if (plan.method == MethodChoice::lu)
        return run_lu_attempt(machine, problem, plan, krylov.rtol, time_left, keep_history);
    Attempt   tried;
    Stopwatch clock;
    tried.plan = plan;
    tried.device = machine.device();
    if (carried && carried->x) tried.x = *carried->x;
    else tried.x.assign(static_cast<std::size_t>(problem.n()), 0.0);
    tried.report.relative_residual = 1;
    krylov.matrix_norm = matrix_norm;
    // A space of n dimensions, or of all the steps allowed, is never outgrown: no memory for more.
    krylov.restart = std::clamp(std::min(problem.n(), krylov.max_steps), 1, krylov.restart);
    // One point for the start and one a step, exact ones at restarts besides: reserved here, for a monitor must not throw.
    if (keep_history)
        tried.history.reserve(2 * std::min<std::size_t>(static_cast<std::size_t>(krylov.max_steps), 1'000'000) + 16);

    double        solve_began = 0, analysed = -1;
    const Monitor monitor = [&](const Progress& now) {
        progress.show(now);
        if (now.phase == Progress::Phase::setup && analysed < 0) analysed = clock.seconds();
        if (now.phase == Progress::Phase::setup && clock.seconds() > time_left) throw TimeUp{now};
        if (now.phase == Progress::Phase::solve && tried.history.size() < tried.history.capacity())
            tried.history.push_back({now.done, now.residual, now.exact, clock.seconds() - solve_began});
    };
    const auto work = [&] {
        HostFactors              own;
        HostFactors&             factors = carried ? carried->factors : own;
        const bool               lagged = carried && std::exchange(carried->usable, false);
        std::optional<GpuSystem> system;
        if (machine.gpu) begin_on_gpu(machine, system, problem, krylov, plan);
        const bool exists = lagged || factor(machine, problem.A, monitor, tried, factors);
        if (carried) carried->usable = exists;
        solve_began = clock.seconds();
        if (exists) iterate(machine, system, problem, krylov, factors, monitor, tried);
        if (exists && keep_history) tried.structure = structure_of(problem.A, factors);
        if (tried.report.outcome == Outcome::converged) tried.warning = rank_warning(factors);
    };
    try {
        if (const auto why = lack_of_memory(work)) {
            tried.failure = *why;
            tried.report.outcome = Outcome::out_of_memory;
        }
    } catch (const TimeUp& up) {
        tried.seconds_analyse = analysed;  // of level 1; that of further levels is short
        tried.seconds_factor = clock.seconds() - analysed;
        tried.failure =
            fmt::format("the factorization was given up after {:.3g} s, on level {} at column {} of {}",
                        tried.seconds_analyse + tried.seconds_factor, up.where.level, up.where.done, up.where.total);
        tried.report.outcome = Outcome::time_limit;
    }
    tried.seconds = clock.seconds();
    return tried;
}

}  // namespace ilux::app
