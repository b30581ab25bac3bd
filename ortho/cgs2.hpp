#pragma once
// Classical Gram-Schmidt, twice: two blocks of reductions a step, however many vectors there are.

#include "ilux/ortho/extension.hpp"

namespace ilux {

/// w ← (I − V Vᵀ)² w, normalized; h_i = v_iᵀ w for the k vectors of V, and h_k = ‖(I − V Vᵀ) w‖₂.
/// @param V  k·n values, k orthonormal vectors one after another
/// @param w  n, overwritten; the new basis vector when `extended`, otherwise of no use
/// @param h  k + 1, overwritten; h_k is 0 when nothing is left
/// @param scratch  at least k
/// @return whether V may be extended by w; never throws, allocates nothing
/// Costs 8kn flops. Orthogonal to machine precision unless w is dependent to machine precision [giraud05].
template <Backend B>
Extension cgs2(B& be, ConstSpan<B> V, Span<B> w, std::span<double> h, std::span<double> scratch);

}  // namespace ilux
