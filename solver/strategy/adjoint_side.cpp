#include "ilux/solver/strategy/adjoint_side.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar S>
HostPreconditioner<S>::HostPreconditioner(const PrecondFactors<S>& factors, Index n)
{
    if (factors.mlilu) made_ = std::make_unique<MlIluPreconditioner<S>>(*factors.mlilu);
    else if (!factors.ilu0 && !factors.jacobi) made_ = std::make_unique<Identity<Cpu, S>>(n);
    if (made_) M_ = made_.get();
    else if (factors.ilu0) M_ = factors.ilu0.get();
    else M_ = factors.jacobi.get();
    if (!factors.null_space) return;
    const NullSpace<S>& N = *factors.null_space;
    std::vector<S>      columns(N.columns().begin(), N.columns().end());
    projected_ = std::make_unique<ProjectedPreconditioner<Cpu, S>>(*M_, std::move(columns), N.count(), N.left());
    M_ = projected_.get();
}

template <Scalar S>
AdjointSide<S>::AdjointSide(Cpu& cpu, const CsrView<S>& adjoint, const PrecondFactors<S>& factors, Method method,
                            const KrylovOptions& krylov)
    : adjoint_(adjoint),
      null_space_(factors.null_space.get()),
      host_(std::in_place, cpu, adjoint, factors, method, krylov)
{}

template <Scalar S>
AdjointSide<S>::OnHost::OnHost(Cpu& be, const CsrView<S>& adjoint, const PrecondFactors<S>& factors, Method method,
                               const KrylovOptions& krylov)
    : cpu(be),
      op(adjoint, needs_transpose(method)),
      of_A(factors, adjoint.rows()),
      M(*of_A),
      workspace(method, adjoint.rows(), krylov)
{}

template <Scalar S>
AdjointSide<S>::AdjointSide(Cpu& cpu, Gpu& gpu, const CsrView<S>& adjoint, const PrecondFactors<S>& factors,
                            Method method, const KrylovOptions& krylov, GpuSystemOptions options)
    : adjoint_(adjoint), null_space_(factors.null_space.get())
{
    options.arithmetic = KrylovPrecision::in_double;
    options.turned = true;
    system_ = std::make_unique<GpuSystem<S>>(cpu, gpu, adjoint, factors, method, krylov, options);
}

template <Scalar S>
IterationReport AdjointSide<S>::solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                                      const ProgressListener& on_progress, const StopToken& stop)
{
    if (system_) return system_->solve(b, x, krylov, on_progress, stop);
    OnHost& host = *host_;
    return ilux::solve<Cpu, S>(host.cpu, host.workspace.method(), host.op, host.M, b, x, host.workspace, krylov,
                               on_progress, stop);
}

template <Scalar S>
IterationCalls<S> AdjointSide<S>::calls(const StopToken& stop)
{
    if (system_) return gpu_iteration<S>(*system_, stop);
    return host_iteration<S>(host_->cpu, host_->op, host_->M, host_->workspace, stop);
}

#define ILUX_INSTANTIATE(S)               \
    template class HostPreconditioner<S>; \
    template class AdjointSide<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
