#pragma once
// Modified Gram-Schmidt with selective re-orthogonalization.

#include "ilux/ortho/extension.hpp"

namespace ilux {

/// w ← (I − V Vᵀ) w, normalized; h_i = v_iᵀ w for the k vectors of V, and h_k = ‖(I − V Vᵀ) w‖₂.
/// A projection is repeated when it took nearly all that was left: |h_i|² > threshold·ω, ω the squared norm remaining.
/// @param V  k·n values, k orthonormal vectors one after another
/// @param w  n, overwritten; the new basis vector when `extended`, otherwise of no use
/// @param h  k + 1, overwritten; h_k is 0 when nothing is left
/// @param threshold  a squared cosine; 0.98 as in SPARSKIT; 0 always repeats, 1 only what takes all that was left
/// @return whether V may be extended by w; never throws, allocates nothing
/// Costs 4kn flops in k dependent reductions, and 4n and one reduction more for each repetition.
/// Method: [saad03, 1.2 and 6.3]. Loss of orthogonality is that of modified Gram-Schmidt, proportional to ε·κ
/// [bjorck67]; GMRES needs no more [paige06].
template <Backend B>
Extension mgso(B& be, ConstSpan<B> V, Span<B> w, std::span<double> h, double threshold = 0.98);

}  // namespace ilux
