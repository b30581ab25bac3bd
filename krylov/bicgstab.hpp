#pragma once
// BiCGStab: short recurrences without Aᵀ.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B>
using BicgstabWorkspace = VectorWorkspace<B, 7>;  ///< r (also s), r̂, p, z, v, t, and the best iterate

/// Solves A x = b by BiCGStab, preconditioned from the right, with r̂ = r₀.
/// Breaks down when ρ = r̂ᵀr, r̂ᵀv or ω = tᵀs/tᵀt vanishes up to rounding; it is then restarted from the true residual
/// as long as that helps. Otherwise drift, parameters, report and errors as cg.
/// An iteration counts as two steps, a half one that already meets the target as one. It costs two A, two M and 22n
/// flops with 7 reductions. Method: [vorst92].
template <Backend B>
IterationReport bicgstab(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                         BicgstabWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress = {},
                         const StopToken& stop = {});

}  // namespace ilux
