#include "ilux/solver/strategy/lu_preconditioner.hpp"

#include "ilux/base/spmv.hpp"
#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

void solve_by_former_lu(Cpu cpu, const CsrView<double>& A, const LuFactors& factors, std::span<const double> b,
                        const KrylovOptions& krylov, const Standard& standard, const TryListener& listener,
                        const StopToken& stop, Attempt& tried)
{
    const MatrixOperator   op(A);
    LuPreconditioner       M(factors);
    KrylovWorkspace<Cpu>   workspace(Method::gmres, A.rows(), krylov);
    const ProgressListener on_progress = history_of(tried, listener, krylov);
    tried.report = solve<Cpu>(cpu, Method::gmres, op, M, b, tried.x, workspace, krylov, on_progress, stop);
    finish_iteration(cpu, A, b, krylov, standard, host_iteration(cpu, op, M, workspace, listener.on_progress, stop),
                     stop, tried);
}

}  // namespace ilux
