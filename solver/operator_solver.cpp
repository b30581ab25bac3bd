#include "ilux/solver/operator_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/machine/host.hpp"
#include "ilux/solver/policy/attempt_loop.hpp"

namespace ilux {
namespace {

void refuse(bool asked, const std::string& option, const std::string& why)
{
    if (asked) throw InvalidOption(fmt::format("{} is not possible for an operator: {}", option, why));
}

Device device_of(const Cpu& cpu) { return {.kind = "cpu", .name = cpu_name(), .threads = cpu.threads()}; }
Device device_of(const Gpu& gpu) { return {.kind = "gpu", .name = gpu_name(gpu.device()), .threads = 1}; }

template <Backend B>
void require_possible(const SolverOptions& options)
{
    constexpr bool there = std::same_as<B, Gpu>;
    refuse(options.mode == SolverMode::direct || options.method == MethodChoice::lu, "LU", "its entries are not known");
    refuse(!options.plan.empty(), "plan", "it keeps what an LU prepares");
    refuse(!there && options.device == DeviceChoice::gpu, "device=gpu", "its products are those of the host");
    refuse(there && options.device == DeviceChoice::cpu, "device=cpu", "its products are those of a GPU");
    refuse(options.krylov.precision == KrylovPrecision::mixed, "krylov.precision=mixed", "its entries are not known");
    refuse(options.krylov.null_space != "none", "krylov.null_space", "its entries are not known");
    refuse(options.krylov.stop != StopTest::residual, fmt::format("krylov.stop={}", field_text(options.krylov.stop)),
           "its entries are not known");
}

}  // namespace

/// What a solve of order n works in.
template <Backend B, Scalar S>
struct OperatorSolver<B, S>::Vectors {
    Vectors(Method method, Index n, const KrylovOptions& options)
        : order(n),
          krylov(options),
          workspace(method, n, options),
          b(static_cast<std::size_t>(n)),
          x(static_cast<std::size_t>(n)),
          r(static_cast<std::size_t>(n))
    {}

    Index                 order;
    KrylovOptions         krylov;
    KrylovWorkspace<B, S> workspace;
    Buffer<B, S>          b, x, r;
};

template <Backend B, Scalar S>
OperatorSolver<B, S>::OperatorSolver(B& be, const SolverOptions& options) : be_(be), options_(resolved(options))
{
    validate(options_);
    require_possible<B>(options_);
    if (options_.method == MethodChoice::automatic) options_.method = MethodChoice::gmres;
}

template <Backend B, Scalar S>
OperatorSolver<B, S>::~OperatorSolver() = default;
template <Backend B, Scalar S>
OperatorSolver<B, S>::OperatorSolver(OperatorSolver&&) noexcept = default;

template <Backend B, Scalar S>
auto OperatorSolver<B, S>::vectors(Index n, Attempt& tried) -> Vectors&
{
    const Method  method = method_of(options_.method);
    KrylovOptions krylov = options_.krylov;
    krylov.restart = std::clamp(std::min(n, krylov.max_steps), 1, krylov.restart);
    tried.workspace_bytes = workspace_bytes<S>(method, n, krylov) + 3 * sizeof(S) * static_cast<std::size_t>(n);
    const std::size_t limit = std::same_as<B, Gpu> ? options_.device_memory.value : 0;
    if (limit > 0 && tried.workspace_bytes > limit)
        throw OutOfMemory(fmt::format("device_memory is {}, and the vectors take {}", bytes_text(double(limit)),
                                      bytes_text(double(tried.workspace_bytes))));
    if (!vectors_ || vectors_->order != n) {
        vectors_.reset();
        vectors_ = std::make_unique<Vectors>(method, n, krylov);
    }
    return *vectors_;
}

template <Backend B, Scalar S>
void OperatorSolver<B, S>::iterate(const LinearOperator<B, S>& A, Preconditioner<B, S>& M, Attempt& tried)
{
    Vectors&             v = *vectors_;
    const KrylovOptions& krylov = v.krylov;
    const double         seconds = options_.time_limit > 0 ? options_.time_limit : INFINITY;
    tried.report = ilux::solve<B, S>(be_, v.workspace.method(), A, M, v.b, v.x, v.workspace, krylov,
                                     history_of(tried, listener_, krylov), stop_.within(seconds));
    const double size = norm2<S>(be_, v.b), left = residual<B, S>(be_, A, v.x, v.b, v.r);
    tried.accuracy.relative_residual = size > 0 ? left / size : left;
    tried.accuracy.finite = std::isfinite(left) && is_finite<S>(be_, v.x);
    tried.report.relative_residual = tried.accuracy.relative_residual;
    tried.report.backward_error = std::numeric_limits<double>::quiet_NaN();  // ‖A‖ is not known
    constexpr double rounding = 1 + 1e-6;                                    // of another order of sums
    if (!tried.converged() || tried.accuracy.relative_residual <= rounding * krylov.rtol) return;
    tried.report.outcome = Outcome::stagnated;
    tried.report.detail = "b - A x met the tolerance once, and not when it was computed again: A x varies";
}

template <Backend B, Scalar S>
SolverReport OperatorSolver<B, S>::solve(const LinearOperator<B, S>& A, Preconditioner<B, S>* M, Array<const S> b,
                                         Array<S> x)
{
    const auto n = static_cast<std::size_t>(A.size());
    require(b.size() == n && x.size() == n,
            [&] { return fmt::format("solve: b has {} and x {} entries, A is of order {}", b.size(), x.size(), n); });
    require(!M || M->size() == A.size(),
            [&] { return fmt::format("solve: the preconditioner is of order {}, A of {}", M->size(), n); });
    require_one_memory(b, x, "b", "x");
    require_one_memory(b, array_of<const S>(be_, {}), "b", "A x");
    require(is_finite(b), [] { return "solve: b is not finite"; });
    const WallClock       clock;
    Identity<B, S>        none(A.size());
    Preconditioner<B, S>& used = M ? *M : none;
    Attempt               tried;
    SystemVectors<S>      given(b, x, options_.sequence.reuse_x && is_finite(x));
    tried.plan.method = options_.method;
    tried.plan.precond.kind = PrecondKind::none;
    tried.device = device_of(be_);
    run_guarded(tried, [&](Attempt& one) {
        Vectors& v = vectors(A.size(), one);
        given.load(be_, v.b, v.x);
    });
    if (tried.failure.empty()) {
        run_guarded(tried, [&](Attempt& one) { iterate(A, used, one); });
        given.deliver(be_, vectors_->x);
    }
    SolverReport report;
    if (M) report.decisions.emplace_back("the preconditioner is the caller's");
    report.attempts.push_back(std::move(tried));
    report.seconds = clock.seconds();
    return report;
}

#define ILUX_INSTANTIATE(B, S) template class OperatorSolver<B, S>;
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
