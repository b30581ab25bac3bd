#include "ilux/solver/operator_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/solver/policy/try_loop.hpp"

namespace ilux {
namespace {

void refuse(bool asked, const std::string& option, const std::string& why)
{
    if (asked) throw InvalidOption(fmt::format("{} is not possible for an operator: {}", option, why));
}

void require_possible(const SolverOptions& options)
{
    refuse(options.mode == SolverMode::direct || options.method == MethodChoice::lu, "LU", "its entries are not known");
    refuse(!options.plan.empty(), "plan", "it keeps what an LU prepares");
    refuse(options.device == DeviceChoice::gpu, "device=gpu", "its products are those of the host");
    refuse(options.krylov.precision == KrylovPrecision::mixed, "krylov.precision=mixed", "its entries are not known");
    refuse(options.krylov.null_space != "none", "krylov.null_space", "its entries are not known");
    refuse(options.krylov.stop != StopTest::residual, fmt::format("krylov.stop={}", field_text(options.krylov.stop)),
           "its entries are not known");
}

}  // namespace

template <Scalar S>
OperatorSolver<S>::OperatorSolver(const SolverOptions& options) : options_(resolved(options))
{
    validate(options_);
    require_possible(options_);
    if (options_.method == MethodChoice::automatic) options_.method = MethodChoice::gmres;
    if (options_.threads > 0) machine_.cpu = Cpu(options_.threads);
}

template <Scalar S>
void OperatorSolver<S>::iterate(const LinearOperator<Cpu, S>& A, Preconditioner<Cpu, S>& M, std::span<const S> b,
                                Attempt& tried)
{
    Cpu&           cpu = machine_.cpu;
    const Index    n = A.size();
    const Method   method = method_of(options_.method);
    KrylovOptions  krylov = options_.krylov;
    std::vector<S> r(b.size());
    krylov.restart = std::clamp(std::min(n, krylov.max_steps), 1, krylov.restart);
    if (workspace_n_ != n) {
        workspace_n_ = -1;  // while there is none
        workspace_.emplace(method, n, krylov);
        workspace_n_ = n;
    }
    tried.workspace_bytes = workspace_->bytes();
    const double seconds = options_.time_limit > 0 ? options_.time_limit : INFINITY;
    tried.report = ilux::solve<Cpu, S>(cpu, method, A, M, b, tried.x.of<S>(), *workspace_, krylov,
                                       history_of(tried, listener_, krylov), stop_.within(seconds));
    const double size = norm2<S>(cpu, b), left = residual<Cpu, S>(cpu, A, tried.x.of<S>(), b, r);
    tried.accuracy.relative_residual = size > 0 ? left / size : left;
    tried.accuracy.finite = std::isfinite(left) && tried.x.is_finite();
    tried.report.relative_residual = tried.accuracy.relative_residual;
    constexpr double rounding = 1 + 1e-6;  // of another order of sums
    if (!tried.converged() || tried.accuracy.relative_residual <= rounding * krylov.rtol) return;
    tried.report.outcome = Outcome::stagnated;
    tried.report.detail = "b - A x met the tolerance once, and not when it was computed again: A x varies";
}

template <Scalar S>
SolverReport OperatorSolver<S>::solve(const LinearOperator<Cpu, S>& A, Preconditioner<Cpu, S>* M, std::span<const S> b,
                                      std::span<S> x)
{
    const auto n = static_cast<std::size_t>(A.size());
    require(b.size() == n && x.size() == n,
            [&] { return fmt::format("solve: b has {} and x {} entries, A is of order {}", b.size(), x.size(), n); });
    require(!M || M->size() == A.size(),
            [&] { return fmt::format("solve: the preconditioner is of order {}, A of {}", M->size(), n); });
    Cpu serial(1);
    require(is_finite<S>(serial, b), [] { return "solve: b is not finite"; });
    const WallClock         clock;
    Identity<Cpu, S>        none(A.size());
    Preconditioner<Cpu, S>& used = M ? *M : none;
    Attempt                 tried;
    const bool              guessed = options_.sequence.reuse_x && is_finite<S>(serial, x);
    tried.plan.method = options_.method;
    tried.plan.precond.kind = PrecondKind::none;
    tried.device = machine_.device();
    tried.x = guessed ? std::vector<S>(x.begin(), x.end()) : std::vector<S>(n);
    if (M) tried.decisions.emplace_back("the preconditioner is the caller's");
    run_guarded(tried, [&](Attempt& one) { iterate(A, used, b, one); });
    std::ranges::copy(tried.x.of<S>(), x.begin());
    SolverReport report;
    report.attempts.push_back(std::move(tried));
    report.seconds = clock.seconds();
    return report;
}

#define ILUX_INSTANTIATE(S) template class OperatorSolver<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
