#pragma once
// Biconjugate gradients: short recurrences with A and Aᵀ.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B>
using BicgWorkspace = VectorWorkspace<B, 8>;  ///< r, r̃, z, z̃, p, p̃, q, and the best iterate

/// Solves A x = b by preconditioned BiCG, with r̃₀ = r₀. Needs apply_adjoint of A and of M.
/// Breaks down when ρ = r̃ᵀM⁻¹r or p̃ᵀAp vanishes up to rounding; it is then restarted from the true residual as long
/// as that helps. Otherwise drift, parameters, report and errors as cg.
/// An iteration counts as two steps: it costs one A, one Aᵀ, one M, one Mᵀ and 22n flops with 7 reductions.
/// Method: [fletcher76]; preconditioned, [barrett94, figure 2.7].
template <Backend B>
IterationReport bicg(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                     BicgWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress = {},
                     const StopToken& stop = {});

}  // namespace ilux
