#include "ilux/solver/strategy/lu_preconditioner.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/base/spmv.hpp"
#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

template <Scalar S>
void solve_by_former_lu(Cpu cpu, const CsrView<S>& A, const LuFactors<S>& factors, std::span<const NotDeduced<S>> b,
                        const KrylovOptions& krylov, const Standard& standard, const TryListener& listener,
                        const StopToken& stop, Attempt& tried)
{
    const MatrixOperator<S> op(A);
    LuPreconditioner<S>     M(factors);
    KrylovWorkspace<Cpu, S> workspace(Method::gmres, A.rows(), krylov);
    const ProgressListener  on_progress = history_of(tried, listener, krylov);
    tried.report = solve<Cpu, S>(cpu, Method::gmres, op, M, b, tried.x.of<S>(), workspace, krylov, on_progress, stop);
    finish_iteration<S>(cpu, A, b, krylov, standard,
                        host_iteration<S>(cpu, op, M, workspace, listener.on_progress, stop), stop, tried);
}

#define ILUX_INSTANTIATE(S)                                                                                       \
    template void solve_by_former_lu(Cpu, const CsrView<S>&, const LuFactors<S>&, std::span<const S>,             \
                                     const KrylovOptions&, const Standard&, const TryListener&, const StopToken&, \
                                     Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
