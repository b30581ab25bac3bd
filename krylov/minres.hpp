#pragma once
// MINRES, for symmetric or Hermitian A, definite or not.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B, Scalar S = double>
using MinresWorkspace =
    VectorWorkspace<B, S, 8>;  ///< r, v, its predecessor, z, q, two directions, and the best iterate

/// Solves A x = b by preconditioned MINRES: the residual is the least in the norm of M⁻¹ over the Krylov space. A must
/// be symmetric (of complex values Hermitian), M that and positive definite: rᴴM⁻¹r ≤ 0 ends the solve as a breakdown;
/// a lack of symmetry is not looked for: of these products the real part counts. r = b − A x is carried along by its
/// recurrence; where that meets the target it is recomputed, and the method restarted from it where it does not.
/// Parameters, report and errors as gmres. A step costs one A, one M and 20n flops with 4 reductions. Method:
/// [paige75]; preconditioned, [elman14, 4.1].
template <Backend B, Scalar S>
IterationReport minres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                       Span<B, NotDeduced<S>> x, MinresWorkspace<B, S>& ws, const KrylovOptions& opt,
                       const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux
