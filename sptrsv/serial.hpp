#pragma once
// Substitution in one plain loop: slow, obvious, and what the other engines are measured against.

#include <span>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/sptrsv/triangle.hpp"

namespace ilux {

/// x ← A⁻¹ b for a triangular A, row by row. b and x may be the same memory; lengths k·n solve k systems.
/// The caller promises that A lies within the triangle (SpTrsvPlan checks). Zero pivots yield Inf or NaN.
template <class T, class S = working_of<T>>
void solve_serial(const CsrView<T>& A, Triangle triangle, Diagonal diagonal, std::span<const NotDeduced<S>> b,
                  std::span<NotDeduced<S>> x, Values values = Values::as_stored);

/// x ← A⁻ᵀ b, or A⁻ᴴ b for conjugated values, scattering each row of A (a column of Aᵀ) as soon as its unknown is
/// known.
template <class T, class S = working_of<T>>
void solve_serial_transpose(const CsrView<T>& A, Triangle triangle, Diagonal diagonal, std::span<const NotDeduced<S>> b,
                            std::span<NotDeduced<S>> x, Values values = Values::as_stored);

}  // namespace ilux
