#include "ilux/engine/lu_preconditioner.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/engine/standard.hpp"

namespace ilux {

template <Scalar S>
void solve_by_former_lu(Cpu cpu, const MatrixOrAdjoint<S>& A, const LuFactors<S>& factors,
                        std::span<const NotDeduced<S>> b, const KrylovOptions& krylov, const Standard& standard,
                        const AttemptListener& listener, const StopToken& stop, Attempt& tried)
{
    const MatrixOperator<S>       op(A.solved());
    LuPreconditioner<S>           of_A(factors);
    AdjointPreconditioner<Cpu, S> of_adjoint(of_A);
    Preconditioner<Cpu, S>&       M = A.is_adjoint() ? static_cast<Preconditioner<Cpu, S>&>(of_adjoint) : of_A;
    KrylovSystem<Cpu, S>          system(cpu, Method::gmres, op, krylov);
    system.refer_to(M);
    const ProgressListener on_progress = history_of(tried, listener, krylov);
    tried.report = system.solve(b, tried.x.of<S>(), krylov, on_progress, stop);
    Witness<S> witness(cpu, A.solved());
    finish_iteration<S>(cpu, A.solved(), b, krylov, standard, system, &witness, stop, tried);
}

#define ILUX_INSTANTIATE(S)                                                                                           \
    template void solve_by_former_lu(Cpu, const MatrixOrAdjoint<S>&, const LuFactors<S>&, std::span<const S>,         \
                                     const KrylovOptions&, const Standard&, const AttemptListener&, const StopToken&, \
                                     Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
