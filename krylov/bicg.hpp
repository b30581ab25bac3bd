#pragma once
// Biconjugate gradients: short recurrences with A and Aᴴ.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B, Scalar S = double>
using BicgWorkspace = VectorWorkspace<B, S, 8>;  ///< r, r̃, z, z̃, p, p̃, q, and the best iterate

/// Solves A x = b by preconditioned BiCG, with r̃₀ = r₀. Needs apply_adjoint of A and of M: r̃ is the residual of a
/// shadow system with Aᴴ and M⁻ᴴ, whose coefficients are the conjugates of those of r.
/// Breaks down when ρ = r̃ᴴM⁻¹r or p̃ᴴAp vanishes up to rounding; it is then restarted from the true residual as long
/// as that helps. Otherwise drift, parameters, report and errors as cg.
/// A step costs one A, one Aᴴ, one M, one Mᴴ and 22n flops with 7 reductions.
/// Method: [fletcher76]; preconditioned, [barrett94, figure 2.7].
template <Backend B, Scalar S>
IterationReport bicg(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                     Span<B, NotDeduced<S>> x, BicgWorkspace<B, S>& ws, const KrylovOptions& opt,
                     const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux
