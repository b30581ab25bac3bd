#pragma once
// Conjugate gradients, for symmetric or Hermitian positive definite A and M.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

/// The detail of a breakdown that no other M mends.
inline constexpr const char* not_positive_definite = "p'Ap <= 0: A is not positive definite";

template <Backend B, Scalar S = double>
using CgWorkspace = VectorWorkspace<B, S, 5>;  ///< r, z, p, q, and the best iterate

/// Solves A x = b by preconditioned conjugate gradients. A and M must be symmetric (of complex values Hermitian)
/// positive definite; what shows that one is not (pᴴAp ≤ 0, rᴴM⁻¹r ≤ 0) ends the solve as a breakdown, and a lack of
/// symmetry is not looked for: of these products the real part counts.
/// The recurrence for r drifts: when it meets the target b − A x is recomputed, and the method restarted from it where
/// that does not. Parameters, report and errors as gmres.
/// A step costs one A, one M and 10n flops with 3 reductions. Method: [hestenes52]; preconditioned, [saad03, 9.1].
template <Backend B, Scalar S>
IterationReport cg(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                   Span<B, NotDeduced<S>> x, CgWorkspace<B, S>& ws, const KrylovOptions& opt,
                   const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux
