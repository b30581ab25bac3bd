#include "ilux/krylov/fgmres.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <Backend B, Scalar S>
FgmresWorkspace<B, S>::FgmresWorkspace(Index n, const KrylovOptions& opt)
    : gmres(n, opt), Z_(static_cast<std::size_t>(n) * gmres.restart())
{}

template <Backend B, Scalar S>
IterationReport fgmres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                       Span<B, NotDeduced<S>> x, FgmresWorkspace<B, S>& ws, const KrylovOptions& opt,
                       const ProgressListener& on_progress, const StopToken& stop)
{
    return detail::restarted_gmres(be, A, M, b, x, ws.gmres, detail::GmresKind::flexible, ws.Z(), opt, on_progress,
                                   stop);
}

#define ILUX_INSTANTIATE(B, S)                                                                                     \
    template class FgmresWorkspace<B, S>;                                                                          \
    template IterationReport fgmres<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>, \
                                          Span<B, S>, FgmresWorkspace<B, S>&, const KrylovOptions&,                \
                                          const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
