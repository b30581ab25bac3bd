#include "ilux/krylov/fgmres.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/krylov/gmres_cycle.hpp"

namespace ilux {
namespace {

template <Backend B>
struct Flexible {
    B&                  be;
    Iteration<B>&       it;
    FgmresWorkspace<B>& ws;

    void start() {}
    void product(Index k)
    {
        it.apply_M(ws.gmres.v(k), ws.z(k));      // z_k ← M_k⁻¹ v_k
        it.apply_A(ws.z(k), ws.gmres.v(k + 1));  // v_{k+1} ← A z_k
    }
    void correct(std::span<const double> y)
    {
        const auto k = static_cast<Index>(y.size());
        combine(be, y, ws.preconditioned(k), ws.gmres.z());
        it.move_if_finite(1, ws.gmres.z());  // x ← x + Z_k y
    }
};

}  // namespace

template <Backend B>
FgmresWorkspace<B>::FgmresWorkspace(Index n, const KrylovOptions& opt)
    : gmres(n, opt), Z_(static_cast<std::size_t>(n) * gmres.restart())
{}

template <Backend B>
SolveReport fgmres(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                   FgmresWorkspace<B>& ws, const KrylovOptions& opt, const Monitor& monitor)
{
    Iteration<B> it(be, A, M, b, x, ws.gmres.best(), opt, monitor);
    return restarted_gmres(be, it, ws.gmres, Flexible<B>{be, it, ws}, opt);
}

template class FgmresWorkspace<Cpu>;
template SolveReport fgmres<Cpu>(Cpu&, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>, Span<Cpu>,
                                 FgmresWorkspace<Cpu>&, const KrylovOptions&, const Monitor&);
template class FgmresWorkspace<Gpu>;
template SolveReport fgmres<Gpu>(Gpu&, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>, Span<Gpu>,
                                 FgmresWorkspace<Gpu>&, const KrylovOptions&, const Monitor&);

}  // namespace ilux
