#pragma once
// Classical Gram-Schmidt, twice: two blocks of reductions a step, however many vectors there are.

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/ortho/extension.hpp"

namespace ilux {

/// w ← (I − V Vᴴ)² w, normalized; h_i = v_iᴴ w for the k vectors of V, and h_k = ‖(I − V Vᴴ) w‖₂.
/// @param V  k·n values, k orthonormal vectors one after another
/// @param w  n, overwritten; the new basis vector when `extended`, otherwise of no use
/// @param h  k + 1, overwritten; h_k is 0 when nothing is left
/// @param scratch  at least k
/// @return whether V may be extended by w; throws nothing but DeviceError, allocates nothing
/// Costs 8kn flops. Orthogonal to machine precision unless w is dependent to machine precision [giraud05].
/// On a GPU four launches and one copy to the host: the first pass's update and the second one's dots read V together,
/// 8n(3k + 7) bytes in all for k ≤ 32, 32kn for more vectors. Bitwise repeatable.
template <class S = double>
Extension cgs2(Cpu& be, std::span<const NotDeduced<S>> V, std::span<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               std::span<NotDeduced<S>> scratch);
template <class S = double>
Extension cgs2(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               std::span<NotDeduced<S>> scratch);

namespace detail {
/// The text behind cgs2, in the primitives of B.
template <Backend B, Scalar S = double>
Extension cgs2_by_primitives(B& be, ConstSpan<B, NotDeduced<S>> V, Span<B, NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                             std::span<NotDeduced<S>> scratch);
}  // namespace detail

}  // namespace ilux
