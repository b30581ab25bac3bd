// Systems with Aᴴ, and M by itself, in the iterative strategy.

#include "ilux/base/instances.hpp"
#include "ilux/solver/strategy/iterative_solver.hpp"

namespace ilux {

template <Scalar S>
AdjointSide<S>& IterativeSolver<S>::adjoint_side(const CsrView<S>& adjoint, const Plan& plan)
{
    if (adjoint_) return *adjoint_;
    const KrylovOptions krylov = this->krylov(adjoint.rows());
    const Method        method = method_of(plan.method);
    if (system_)
        adjoint_ = std::make_unique<AdjointSide<S>>(machine_.cpu, *machine_.gpu, adjoint, factors_, method, krylov,
                                                    gpu_options(plan));
    else adjoint_ = std::make_unique<AdjointSide<S>>(machine_.cpu, adjoint, factors_, method, krylov);
    return *adjoint_;
}

template <Scalar S>
void IterativeSolver<S>::solve_adjoint(const CsrView<S>& adjoint, SystemVectors<S>& given, KrylovOptions krylov,
                                       const TryListener& listener, const StopToken& stop, Attempt& tried)
{
    require(factored_, [] { return "there is no preconditioner"; });
    krylov.restart = this->krylov(adjoint.rows()).restart;
    if (mixed()) tried.decisions.emplace_back("krylov.precision=double for a system with the transpose of A");
    with_device_named(tried, [&] {
        AdjointSide<S>& side = adjoint_side(adjoint, tried.plan);
        if (is_without_solution(*side.witness(machine_.cpu), given, krylov, tried)) return;
        if (side.system()) {
            solve_on_gpu(*side.system(), adjoint, side.witness(machine_.cpu), given, krylov, listener, stop, tried);
            tried.gpu = side.system()->report();
            return;
        }
        const ProgressListener   on_progress = history_of(tried, listener, krylov);
        const std::span<const S> b = given.b();
        given.read_guess(tried.x);
        tried.report = side.solve(b, tried.x.of<S>(), krylov, on_progress, stop);
        finish_iteration<S>(machine_.cpu, adjoint, b, krylov, standard_of(options_), side.calls(stop),
                            side.witness(machine_.cpu), stop, tried);
    });
    note_rank(tried);
}

template <Scalar S>
void IterativeSolver<S>::precondition(std::span<const S> r, std::span<S> z)
{
    require(factored_, [] { return "there is no preconditioner"; });
    if (system_) return system_->precondition(r, z);
    if (!host_M_) host_M_.emplace(factors_, A_->rows());
    (**host_M_).apply(machine_.cpu, r, z);
}

template <Scalar S>
void IterativeSolver<S>::precondition_adjoint(const CsrView<S>& adjoint, const Plan& plan, std::span<const S> r,
                                              std::span<S> z)
{
    require(factored_, [] { return "there is no preconditioner"; });
    if (system_) return adjoint_side(adjoint, plan).calls({}).precondition(r, z);
    if (!host_M_) host_M_.emplace(factors_, A_->rows());
    (**host_M_).apply_adjoint(machine_.cpu, r, z);
}

#define ILUX_INSTANTIATE(S)                                                                                    \
    template void IterativeSolver<S>::solve_adjoint(const CsrView<S>&, SystemVectors<S>&, KrylovOptions,       \
                                                    const TryListener&, const StopToken&, Attempt&);           \
    template void IterativeSolver<S>::precondition(std::span<const S>, std::span<S>);                          \
    template void IterativeSolver<S>::precondition_adjoint(const CsrView<S>&, const Plan&, std::span<const S>, \
                                                           std::span<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
