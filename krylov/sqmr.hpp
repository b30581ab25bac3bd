#pragma once
// Simplified QMR, for real symmetric or complex symmetric A = Aᵀ, definite or not.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B, Scalar S = double>
using SqmrWorkspace = VectorWorkspace<B, S, 8>;  ///< r, z, p, q, d, A d, r of the smooth iterate, and the best iterate

/// Solves A x = b by simplified QMR without look-ahead: a Lanczos process of the form xᵀy, which needs Aᵀ = A and Mᵀ =
/// M, not Hermitian ones, and M need not be definite. Where ρ = rᵀM⁻¹r or pᵀA p vanishes, the cycle ends and another
/// begins at b − A x. Residuals are quasi-minimal, so they fall smoothly where those of BiCG jump; b − A x is carried
/// along by its recurrence, and recomputed where that meets the target. Parameters, report and errors as gmres. A step
/// costs one A, one M and 30n flops with 8 reductions. Method: [freund94, algorithm 2].
template <Backend B, Scalar S>
IterationReport sqmr(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                     Span<B, NotDeduced<S>> x, SqmrWorkspace<B, S>& ws, const KrylovOptions& opt,
                     const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux
