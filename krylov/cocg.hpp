#pragma once
// Conjugate gradients of the form xᵀy, for complex symmetric A = Aᵀ.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B, Scalar S = double>
using CocgWorkspace = VectorWorkspace<B, S, 5>;  ///< r, z, p, q, and the best iterate

/// Solves A x = b by conjugate orthogonal conjugate gradients: cg with xᵀy in the place of xᴴy, so Aᵀ = A and Mᵀ = M
/// are needed, not Hermitian ones. Where ρ = rᵀM⁻¹r or pᵀA p vanishes, the cycle ends and another begins at b − A x. Of
/// real values it is cg without its tests of definiteness. Parameters, report and errors as gmres. A step costs one A,
/// one M and 18n flops with 6 reductions. Method: [vandervorst90].
template <Backend B, Scalar S>
IterationReport cocg(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                     Span<B, NotDeduced<S>> x, CocgWorkspace<B, S>& ws, const KrylovOptions& opt,
                     const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux
