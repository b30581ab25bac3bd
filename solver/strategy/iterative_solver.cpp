#include "ilux/solver/strategy/iterative_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"

namespace ilux {
namespace {

MlIluOptions mlilu_options(const Machine& machine, Attempt& tried)
{
    const MlIluOptions& asked = tried.plan.precond.mlilu;
    if (!machine.gpu) return asked;
    MlIluOptions options = for_gpu(asked);
    if (options.off_diagonal != asked.off_diagonal)
        tried.decisions.push_back(fmt::format("off_diagonal={}, for a GPU", field_text(options.off_diagonal)));
    if (options.depth_bound != asked.depth_bound)
        tried.decisions.push_back(fmt::format("depth_bound={}, for a GPU", field_text(options.depth_bound)));
    return options;
}

void note_mlilu(const MlIluReport& report, Attempt& tried)
{
    tried.mlilu = report;
    tried.fill = report.fill;
    tried.factor_bytes = report.bytes;
    tried.seconds_analyse = report.seconds_analyse;
    tried.seconds_factor = report.seconds_factor;
}

/// Null at a zero pivot; then `tried` says so.
template <Scalar S>
std::unique_ptr<Ilu0<S>> build_ilu0(const CsrView<S>& A, Attempt& tried)
{
    WallClock clock;
    auto      M = std::make_unique<Ilu0<S>>(A);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = M->bytes();
    tried.fill = 1;
    tried.zero_pivot = M->zero_pivot();
    if (tried.zero_pivot < 0) return M;
    tried.fail(Outcome::breakdown,
               fmt::format("ILU(0) met a zero pivot at row {} (counted from 1)", tried.zero_pivot + 1));
    return nullptr;
}

template <Scalar S>
std::unique_ptr<Jacobi<S>> build_jacobi(const Cpu& cpu, const CsrView<S>& A, Attempt& tried)
{
    WallClock clock;
    auto      M = std::make_unique<Jacobi<S>>(A, cpu);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = sizeof(S) * static_cast<std::size_t>(A.rows());
    tried.fill = A.nnz() > 0 ? double(A.rows()) / double(A.nnz()) : 0;
    return M;
}

/// For what has no limit of its own. @throws OutOfMemory
void require_within(Bytes limit, const Attempt& tried)
{
    if (limit.value > 0 && tried.factor_bytes > limit.value)
        throw OutOfMemory(fmt::format("memory_limit is {}, and {} takes {}", bytes_text(double(limit.value)),
                                      field_text(tried.plan.precond.kind), bytes_text(double(tried.factor_bytes))));
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

}  // namespace

Method method_of(MethodChoice choice)
{
    ILUX_ASSERT(choice != MethodChoice::automatic && choice != MethodChoice::lu);
    return static_cast<Method>(static_cast<int>(choice) - 1);  // the same names in the same order, after auto
}

ProgressListener history_of(Attempt& tried, const TryListener& listener, const KrylovOptions& krylov)
{
    // One point for the start and one a step, exact ones at restarts besides: reserved here, for a listener must not
    // throw.
    if (listener.keep_history)
        tried.history.reserve(2 * std::min<std::size_t>(static_cast<std::size_t>(krylov.max_steps), 1'000'000) + 16);
    return [&tried, &listener, clock = WallClock()](const Progress& now) {
        if (listener.on_progress) listener.on_progress(now);
        if (now.phase == Progress::Phase::solve && tried.history.size() < tried.history.capacity())
            tried.history.push_back({now.done, now.residual, now.exact, clock.seconds()});
    };
}

template <Scalar S>
IterativeSolver<S>::IterativeSolver(Machine machine, const SolverOptions& options)
    : machine_(std::move(machine)), options_(options)
{}

template <Scalar S>
KrylovOptions IterativeSolver<S>::krylov(Index n) const
{
    KrylovOptions krylov = options_.krylov;
    krylov.restart = std::clamp(std::min(n, krylov.max_steps), 1, krylov.restart);
    return krylov;
}

template <Scalar S>
void IterativeSolver<S>::give_up_gpu(const std::string& why, Attempt& tried)
{
    tried.decisions.push_back("device cpu after all: " + why);
    adjoint_.reset();  // they refer to the GPU
    drop_system();
    machine_.gpu = nullptr;
}

template <Scalar S>
void IterativeSolver<S>::prepare_host(Attempt& tried)
{
    note_what_is_ignored(machine_, options_.krylov, tried);
    const Method method = method_of(tried.plan.method);
    if (mixed() && prepare_mixed(method, tried)) return;
    op_.emplace(*A_, needs_transpose(method));
    host_M_.emplace(factors_, A_->rows());
    if (!workspace_ || workspace_->method() != method) workspace_.emplace(method, A_->rows(), krylov(A_->rows()));
    tried.workspace_bytes = workspace_->bytes();
}

template <Scalar S>
void IterativeSolver<S>::set_null_space(std::shared_ptr<const NullSpace<S>> space)
{
    if (space == null_space_) return;
    release();
    null_space_ = std::move(space);
}

/// To where M is applied.
template <Scalar S>
void IterativeSolver<S>::place(Attempt& tried)
{
    factors_.null_space = null_space_;
    if (machine_.gpu && machine_.gpu_by_choice && !factors_.rounds) {
        const bool saved = tried.plan.precond.mlilu.off_diagonal == OffDiagonal::save;
        if (const std::string why = why_not_gpu(*A_, factors_, saved); !why.empty()) give_up_gpu(why, tried);
    }
    tried.device = machine_.device();
    if (machine_.gpu) try {
            put_on_gpu(tried);
        } catch (const OutOfMemory& error) {
            tried.device_is_full = !machine_.gpu_by_choice;
            if (tried.device_is_full) throw;
            give_up_gpu(error.what(), tried);
            tried.device = machine_.device();
        }
    if (!machine_.gpu) prepare_host(tried);
}

template <Scalar S>
std::optional<typename IterativeSolver<S>::FormerRounds> IterativeSolver<S>::rounds_at_hand() const
{
    if (!options_made_by_) return {};
    FormerRounds former{.options = *options_made_by_};
    if (factors_.rounds) former.on_gpu = factors_.rounds->plan();
    else if (factors_.mlilu) former.on_host = factors_.mlilu->rounds_plan();
    if (!former.on_gpu && !former.on_host) return {};
    return former;
}

/// Rounds on the device, where they are asked for or may be chosen. Nothing where the host should factor; `tried` says why.
template <Scalar S>
std::optional<GpuRounds<S>> IterativeSolver<S>::build_on_gpu(const ProgressListener& on_progress, const StopToken& stop,
                                                             Attempt& tried)
{
    const MlIluOptions& options = tried.plan.precond.mlilu;
    if (options.setup == MlIluSetup::crout) return {};
    if (tried.plan.rounded_symmetry) {
        tried.decisions.emplace_back("factored on the host: A is symmetric but for rounding");
        return {};
    }
    const bool  again = former_ && former_->on_gpu && former_->options == options;
    std::string why;
    try {
        GpuRounds<S> rounds =
            system_->set_up_rounds(machine_.cpu, options, again ? &*former_->on_gpu : nullptr, on_progress, stop);
        if (rounds.made()) {
            note_mlilu(rounds.report(), tried);
            options_made_by_ = options;
            return rounds;
        }
        why = rounds.why_not();
    } catch (const OutOfMemory& error) {
        why = error.what();
    }
    if (!why.empty()) tried.decisions.push_back("factored on the host: " + why);
    return {};
}

/// By the host, and by the rounds of the M before where there are any.
template <Scalar S>
MlIlu<S> IterativeSolver<S>::make_mlilu(const ProgressListener& on_progress, const StopToken& stop, Attempt& tried)
{
    bring_values();
    const MlIluOptions options = mlilu_options(machine_, tried);
    const bool         again = former_ && former_->on_host && former_->options == options;
    MlIlu<S> factors = again ? MlIlu<S>::rebuild(machine_.cpu, *A_, options, *former_->on_host, on_progress, stop)
                             : MlIlu<S>::build(machine_.cpu, *A_, options, on_progress, stop);
    options_made_by_ = options;
    note_mlilu(factors.report(), tried);
    return factors;
}

/// M as the plan asks for it; for a GPU with off_diagonal and depth_bound as suit one, where they are left to us.
template <Scalar S>
bool IterativeSolver<S>::build(const TryListener& listener, const StopToken& stop, Attempt& tried)
{
    WallClock              clock;
    double                 analysed = -1;
    Progress               where{.phase = Progress::Phase::setup, .level = 1, .total = A_->rows()};
    const ProgressListener on_progress = [&](const Progress& now) {
        if (listener.on_progress) listener.on_progress(now);
        if (analysed < 0 && now.done > 0) analysed = clock.seconds();
        where = now;
    };
    try {
        switch (tried.plan.precond.kind) {
            case PrecondKind::mlilu:
                if (system_) factors_.rounds = build_on_gpu(on_progress, stop, tried);
                if (factors_.rounds) break;
                factors_.mlilu = make_mlilu(on_progress, stop, tried);
                if (const Index level = tried.mlilu->overflowed; level > 0) {
                    tried.fail(Outcome::breakdown,
                               fmt::format("the multilevel ILU's numbers overflowed on level {}", level));
                    return false;
                }
                break;
            case PrecondKind::ilu0:
                bring_values();
                factors_.ilu0 = build_ilu0<S>(*A_, tried);
                if (factors_.ilu0) require_within(options_.memory_limit, tried);
                return factors_.ilu0 != nullptr;
            case PrecondKind::jacobi:
                bring_values();
                factors_.jacobi = build_jacobi<S>(machine_.cpu, *A_, tried);
                require_within(options_.memory_limit, tried);
                break;
            case PrecondKind::none:
                break;
        }
        return true;
    } catch (const Stopped&) {
        tried.seconds_analyse =
            analysed < 0 ? clock.seconds() : analysed;  // of level 1; that of further levels is short
        tried.seconds_factor = clock.seconds() - tried.seconds_analyse;
        const auto column = where.done > 0 ? fmt::format("at column {} of {}", where.done, where.total)
                                           : fmt::format("before the first of {} columns", where.total);
        tried.fail(outcome_of(stop.reason()),
                   fmt::format("the factorization was given up after {:.3g} s, on level {} {}", clock.seconds(),
                               where.level, column));
    }
    return false;
}

template <Scalar S>
bool IterativeSolver<S>::factor(const CsrView<S>& A, const TryListener& listener, const StopToken& stop, Attempt& tried)
{
    witness_.numbers_changed();
    auto       former = rounds_at_hand();
    const bool same = system_serves(A, tried.plan);
    if (same) drop_factors();
    else release();
    if (tried.plan.change.empty()) needs_double_ = false;  // else it is a retry with the same numbers
    if (needs_double_) tried.decisions.emplace_back("krylov.precision=double: mixed did not do for these numbers");
    former_ = std::move(former);
    tried.device = machine_.device();
    try {
        if (same) renew_on_gpu(A);
        A_ = &A;
        if (machine_.gpu && !same) begin_on_gpu(tried.plan);
        if (!build(listener, stop, tried)) {
            release();
            return false;
        }
        place(tried);
        if (!machine_.gpu && factors_.rounds) {  // given up for want of memory, and the host cannot apply them
            factors_ = {};
            if (!build(listener, stop, tried)) {
                release();
                return false;
            }
            place(tried);
        }
    } catch (...) {
        release();
        throw;
    }
    former_.reset();
    tried.action = tried.plan.precond.kind == PrecondKind::none ? SolverAction::none : SolverAction::refresh;
    return factored_ = true;
}

template <Scalar S>
void IterativeSolver<S>::keep(const CsrView<S>& A, Attempt& tried)
{
    require(factored_, [] { return "there is no preconditioner to be kept"; });
    adjoint_.reset();
    witness_.numbers_changed();
    bool made_anew = false;
    try {
        if (system_serves(A, tried.plan)) keep_on_gpu(A, tried);
        else {
            drop_system();
            A_ = &A;
            if (machine_.gpu) begin_on_gpu(tried.plan);
            place(tried);
            made_anew = !machine_.gpu && factors_.rounds;
        }
        if (made_anew) {  // given up for want of memory, and the host cannot apply them
            factors_ = {};
            if (!build({}, {}, tried)) return release();
            place(tried);
        }
    } catch (...) {
        release();
        throw;
    }
    tried.action = tried.plan.precond.kind == PrecondKind::none ? SolverAction::none
                   : made_anew                                  ? SolverAction::refresh
                                                                : SolverAction::lagged;
}

template <Scalar S>
void IterativeSolver<S>::release()
{
    witness_.forget();
    drop_system();
    drop_factors();
}

/// All but A and the vectors on a GPU.
template <Scalar S>
void IterativeSolver<S>::drop_factors()
{
    witness_.numbers_changed();
    factored_ = false;
    if (system_) system_->drop_factors();
    mixed_.reset();
    host_M_.reset();
    adjoint_.reset();
    op_.reset();
    factors_ = {};
    options_made_by_.reset();
    former_.reset();
}

/// A x = b by the method and M at hand.
template <Scalar S>
IterationReport IterativeSolver<S>::iterate(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                                            const ProgressListener& on_progress, const StopToken& stop, Method method)
{
    if (system_) return system_->solve(b, x, krylov, on_progress, stop);
    if (mixed_) return mixed_->solve(b, x, krylov, on_progress, stop);
    return ilux::solve<Cpu, S>(machine_.cpu, method, *op_, **host_M_, b, x, *workspace_, krylov, on_progress, stop);
}

template <Scalar S>
IterationCalls<S> IterativeSolver<S>::calls(const StopToken& stop)
{
    if (system_) return gpu_iteration<S>(*system_, stop);
    if (mixed_) return mixed_->calls(stop);
    return host_iteration<S>(machine_.cpu, *op_, **host_M_, *workspace_, stop);
}

template <Scalar S>
void IterativeSolver<S>::solve(SystemVectors<S>& given, KrylovOptions krylov, const TryListener& listener,
                               const StopToken& stop, Attempt& tried)
{
    require(factored_, [] { return "there is no preconditioner"; });
    krylov.restart = this->krylov(A_->rows()).restart;
    if (is_without_solution(witness(), given, krylov, tried)) return;
    const Method method = method_of(tried.plan.method);
    bool         solved = true;
    with_device_named(tried, [&] {
        if (system_ && !mixed()) return solve_on_gpu(*system_, *A_, &witness(), given, krylov, listener, stop, tried);
        const ProgressListener on_progress = history_of(tried, listener, krylov);
        bool                   judged = false;
        if (system_ && given.are_of(system_->gpu())) {
            judged = solve_mixed_on_gpu(given, krylov, on_progress, stop, tried);
            if (tried.x.size() == 0) return;  // delivered
        } else {
            given.read_guess(tried.x);
            tried.report = iterate(given.b(), tried.x.of<S>(), krylov, on_progress, stop, method);
        }
        const std::span<const S> b = given.b();
        const auto               finish = [&] {
            finish_iteration<S>(machine_.cpu, *A_, b, krylov, standard_of(options_), calls(stop), &witness(), stop,
                                tried);
        };
        if (!judged && (!mixed() || !needs_double(tried, stop))) finish();
        if (mixed() && needs_double(tried, stop)) {
            solved = go_on_in_double(b, krylov, on_progress, listener, stop, tried);
            if (solved) finish();
        }
    });
    if (!solved) return;
    if (system_) tried.gpu = system_->report();
    note_rank(tried);
}

/// What fails on a device says which one it was.
template <Scalar S>
void IterativeSolver<S>::with_device_named(const Attempt& tried, const std::function<void()>& work) const
{
    try {
        work();
    } catch (const DeviceError& error) {
        if (!system_) throw;
        throw DeviceError(fmt::format("{}: {}; --device cpu does without it", tried.device.name, error.what()));
    }
}

#define ILUX_INSTANTIATE(S) template class IterativeSolver<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
