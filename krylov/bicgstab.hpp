#pragma once
// BiCGStab: short recurrences without Aᴴ.

#include "ilux/krylov/workspace.hpp"

namespace ilux {

template <Backend B, Scalar S = double>
using BicgstabWorkspace = VectorWorkspace<B, S, 7>;  ///< r (also s), r̂, p, z, v, t, and the best iterate

/// Solves A x = b by BiCGStab, preconditioned from the right, with r̂ = r₀.
/// Breaks down when ρ = r̂ᴴr, r̂ᴴv or ω = tᴴs/tᴴt vanishes up to rounding; it is then restarted from the true residual
/// as long as that helps. Otherwise drift, parameters, report and errors as cg.
/// An iteration counts as two steps, a half one that already meets the target as one. It costs two A, two M and 22n
/// flops with 7 reductions. Method: [vorst92].
template <Backend B, Scalar S>
IterationReport bicgstab(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                         Span<B, NotDeduced<S>> x, BicgstabWorkspace<B, S>& ws, const KrylovOptions& opt,
                         const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux
