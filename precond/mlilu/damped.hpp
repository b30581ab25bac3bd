#pragma once
// The matrix that M is made of, where that is not A: a wave problem with more damping.

#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/mlilu/mlilu_options.hpp"

namespace ilux {

/// A with damping: the shifted Laplacian of Erlangga, Vuik and Oosterlee, for any matrix. M alone is made of it; A x =
/// b stays as it is. Where A is symmetric or Hermitian but for rounding, its mean with Aᵀ or Aᴴ takes the place of A,
/// so that M has what CG needs.
template <Scalar T>
struct Damped {
    CsrMatrix<T> A;         ///< A ± iβ diag(|a₁₁|, …, |a_nn|); diagonal entries that are not stored stay so
    double       beta = 0;  ///< 0: a copy
    std::vector<std::string> decisions;  ///< about the mean, and why there is damping, where that was left to us
};

/// The sign is that of Σ Im a_jj, so that damping which A has itself grows, or + where that is 0. β is options.damping.
/// If that is auto, it is a share of −Re Σ_k a_jk/a_jj, by which the couplings of a row outweigh its diagonal entry:
/// for waves on a grid of d dimensions that is (kh)²/(2d − (kh)²). The median counts, over the rows where it is
/// positive; 0 where these are few, or A is small or not complex symmetric. Cost O(nnz).
/// @throws InvalidInput where A is real and options.damping > 0
template <Scalar T>
Damped<T> damped(Cpu& be, const CsrView<T>& A, const MlIluOptions& options);

// The steps of damped(), for what is not on the host.

/// β where it is auto and A, of so many rows, complex symmetric: −Re Σ_k a_jk/a_jj is positive and finite in `positive`
/// rows, and number positive/2 of these in ascending order is `middle`.
double      automatic_damping(Index rows, Index positive, double middle);
std::string why_damped(double beta);

constexpr Index  least_damped_rows = 20'000;  ///< smaller systems are soon factored without
constexpr double damped_share = 0.15;         ///< of k², by `auto`

}  // namespace ilux
