#include "ilux/krylov/fgmres.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

template <Backend B>
FgmresWorkspace<B>::FgmresWorkspace(Index n, const KrylovOptions& opt)
    : gmres(n, opt), Z_(static_cast<std::size_t>(n) * gmres.restart())
{}

template <Backend B>
IterationReport fgmres(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                       FgmresWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress,
                       const StopToken& stop)
{
    return detail::restarted_gmres(be, A, M, b, x, ws.gmres, detail::GmresKind::flexible, ws.Z(), opt, on_progress,
                                   stop);
}

template class FgmresWorkspace<Cpu>;
template IterationReport fgmres<Cpu>(Cpu&, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>, Span<Cpu>,
                                     FgmresWorkspace<Cpu>&, const KrylovOptions&, const ProgressListener&,
                                     const StopToken&);
template class FgmresWorkspace<Gpu>;
template IterationReport fgmres<Gpu>(Gpu&, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>, Span<Gpu>,
                                     FgmresWorkspace<Gpu>&, const KrylovOptions&, const ProgressListener&,
                                     const StopToken&);

}  // namespace ilux
