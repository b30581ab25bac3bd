#pragma once
// What the rounding of A and b does to x, by factors of A itself.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ilux/solver/witness/undetermined.hpp"

namespace ilux {

/// z ← A⁻¹ r by factors of these numbers.
template <Scalar S>
using Substitution = std::function<void(std::span<const S> r, std::span<S> z)>;

/// p_i ← ± 2 ε to ± 6 ε (|A||x| + |b|)_i in the units of the residual, at random but the same at each call.
template <Scalar S = double>
void rounding_probe(const Residual<S>& residual, std::span<NotDeduced<S>> p);

/// Whether e = A⁻¹ p is so small beside x that nobody need look further: |e_i| ≤ |x_i| / 1000 for unknowns that count; never of x = 0.
template <Scalar S = double>
bool is_well_determined(std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> e,
                        const Residual<S>& residual);

/// Says which unknowns the rounding of A and b leaves open, or "". Where e = A⁻¹ p is large beside x, A y = A e is solved, its right-hand
/// side summed in twice the precision: factors that find e again tell A from a singular matrix, and refinement by them is right.
/// One substitution; another and two passes over A where x is doubtful. @param room  for three vectors; what it has is kept
template <Scalar S = double>
std::string rounding_warning(const CsrView<S>& A, std::span<const NotDeduced<S>> x, const Residual<S>& residual,
                             const Substitution<S>& substitute, std::vector<NotDeduced<S>>& room);

}  // namespace ilux
