#pragma once
// Whether factors tell A from a singular matrix: by a system whose answer is known.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/engine/witness/undetermined.hpp"

namespace ilux {

/// z ← A⁻¹ r by factors of these numbers.
template <Scalar S>
using Substitution = std::function<void(std::span<const S> r, std::span<S> z)>;

/// The share of a known unknown that may be missed where a system of few unknowns counts as solved.
inline constexpr double found_share = 1e-5;

/// max |x_i|
template <Scalar S = double>
double largest_of(std::span<const NotDeduced<S>> x);

/// z_i ← ± |x_i| to ± 2 |x_i|, or as much of `usual`, or of 1 where that is 0, where |x_i| ≤ least; at random but the
/// same at each call.
template <Scalar S = double>
void known_answer(std::span<const NotDeduced<S>> x, double least, double usual, std::span<NotDeduced<S>> z);

/// On the device z is chosen alike: z_i ← ± |x_i| to ± 2 |x_i|, or as much of `usual`, or of 1 where that is 0, where
/// x_i = 0.
template <Scalar S = double>
void known_answer(Gpu& gpu, DeviceSpan<const NotDeduced<S>> x, double usual, DeviceSpan<NotDeduced<S>> z);

/// f ← A e, each row in twice the precision. Cost: a pass over A, by all threads of be.
template <Scalar S = double>
void multiply_exactly(Cpu& be, const CsrView<S>& A, std::span<const NotDeduced<S>> e, std::span<NotDeduced<S>> f);

/// max |t_i| / |z_i| where t_i is not 0; Inf where that is no number.
template <Scalar S = double>
double missed_share(std::span<const NotDeduced<S>> z, std::span<const NotDeduced<S>> t);

/// Says which unknowns A, as its factors have it, leaves open, or "". A z is given to them, summed in twice the
/// precision; what they miss of z, t ← z − (LU)⁻¹ A z, goes the same way up to four times: that leaves what is in the
/// null space of A as it is, and takes down all else that the factors are right for. One substitution and a pass over
/// A; a few more where more than found_share is missed.
/// @param room  for four vectors; what it has is kept
template <Scalar S = double>
std::string known_answer_warning(Cpu& be, const CsrView<S>& A, std::span<const NotDeduced<S>> x,
                                 const Residual<S>& residual, const Substitution<S>& substitute,
                                 std::vector<NotDeduced<S>>& room);

}  // namespace ilux
