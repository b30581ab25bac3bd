#pragma once
// Modified Gram-Schmidt with selective re-orthogonalization.

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/ortho/extension.hpp"

namespace ilux {

/// w ← (I − V Vᵀ) w, normalized; h_i = v_iᵀ w for the k vectors of V, and h_k = ‖(I − V Vᵀ) w‖₂.
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
template <Backend B>
Extension mgso_hybrid(B& be, ConstSpan<B> V, Span<B> w, std::span<double> h, double threshold = 0.98);

/// The same with all decisions where the vectors are. On a GPU one launch, in which w stays in registers, the next v_i
/// arrives while blocks exchange their parts of h_i, and V is read once: 8n(k + 2) bytes for as many rows as fit
/// (1.6 million on an H200), 32n(k + 1) for the rest. h comes to the host once, at the end. Bitwise repeatable.
Extension mgso(Cpu& be, std::span<const double> V, std::span<double> w, std::span<double> h, double threshold = 0.98);
Extension mgso(Gpu& be, DeviceSpan<const double> V, DeviceSpan<double> w, std::span<double> h, double threshold = 0.98);

/// The same on the host, against a copy of V there: on a GPU w comes over and goes back, 16n bytes. That is what a solver
/// pays whose Gram-Schmidt stayed on the host, the baseline of [aliaga19], and here to be measured.
/// @param host  (k + 1)·n values on the host that keep the vectors of earlier calls, for k from 1 on; not used on a Cpu
Extension mgso_host(Cpu& be, std::span<const double> V, std::span<double> w, std::span<double> h,
                    std::span<double> host, double threshold = 0.98);
Extension mgso_host(Gpu& be, DeviceSpan<const double> V, DeviceSpan<double> w, std::span<double> h,
                    std::span<double> host, double threshold = 0.98);

}  // namespace ilux
