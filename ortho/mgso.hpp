#pragma once
// Modified Gram-Schmidt with selective re-orthogonalization.

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/ortho/extension.hpp"

namespace ilux {

/// w ← (I − V Vᴴ) w, normalized; h_i = v_iᴴ w for the k vectors of V, and h_k = ‖(I − V Vᴴ) w‖₂.
/// A projection is repeated when it took nearly all that was left: |h_i|² > threshold·ω, ω the squared norm remaining.
/// @param V  k·n values, k orthonormal vectors one after another
/// @param w  n, overwritten; the new basis vector when `extended`, otherwise of no use
/// @param h  k + 1, overwritten; h_k is 0 when nothing is left
/// @param threshold  a squared cosine; 0.98 as in SPARSKIT; 0 always repeats, 1 only what takes all that was left
/// @return whether V may be extended by w; throws nothing but DeviceError, allocates nothing
/// Costs 4kn flops in k dependent reductions, and 4n and one reduction more for each repetition.
/// Method: [saad03, 1.2 and 6.3]. Loss of orthogonality is that of modified Gram-Schmidt, proportional to ε·κ
/// [bjorck67]; GMRES needs no more [paige06].
/// Long vectors where B computes, coefficients on the host: every h_i crosses to it. On a GPU that is the division of
/// work of [aliaga19]; mgso is faster.
template <Backend B, Scalar S = double>
Extension mgso_hybrid(B& be, ConstSpan<B, NotDeduced<S>> V, Span<B, NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                      double threshold = 0.98);

/// Orthogonalizes w with all decisions where the vectors are. On a GPU one launch, in which w stays in registers, the
/// next v_i arrives while blocks exchange their parts of h_i, and V is read once: 8n(k + 2) bytes for as many rows as
/// fit (1.6 million on an H200), 32n(k + 1) for the rest. h comes to the host once, at the end. Bitwise repeatable.
template <class S = double>
Extension mgso(Cpu& be, std::span<const NotDeduced<S>> V, std::span<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               double threshold = 0.98);
template <class S = double>
Extension mgso(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               double threshold = 0.98);

/// Orthogonalizes w on the host, against a copy of V there: on a GPU w comes over and goes back, 16n bytes. That is
/// what a solver pays whose Gram-Schmidt stayed on the host, the baseline of [aliaga19], and here to be measured.
/// @param host  (k + 1)·n values on the host that keep the vectors of earlier calls, for k from 1 on; not used on a Cpu
template <class S = double>
Extension mgso_host(Cpu& be, std::span<const NotDeduced<S>> V, std::span<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                    std::span<NotDeduced<S>> host, double threshold = 0.98);
template <class S = double>
Extension mgso_host(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                    std::span<NotDeduced<S>> host, double threshold = 0.98);

}  // namespace ilux
