#pragma once
// Incremental estimates of the rows of L⁻¹ (and, for the transpose, the columns of U⁻¹), and the drop rule they give.

#include <cmath>
#include <span>
#include <vector>

#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// Solves L y = e by substitution as the columns of a unit lower triangular L appear, choosing e_k on the way: of
/// modulus 1, so ±1 for real numbers. Then |y_k| = |e_kᵀ L⁻¹ e| ≤ ‖e_kᵀ L⁻¹‖₁: a rigorous lower bound, exact for
/// M-matrices. [bollhoefer_saad_06]
template <Scalar T = double>
class InverseNorms {
public:
    explicit InverseNorms(Index n) : w_(static_cast<std::size_t>(n), T(0)) {}

    /// max over e_k of |y_k|, known before column k is formed.
    double bound(Index k) const { return 1 + std::abs(w_[k]); }

    /// y_k by the greedy rule: the e_k that makes |y_k| largest.
    T greedy(Index k) const { return greedy_for(w_[k]); }
    /// The greedy y_k where the caller keeps w.
    static T greedy_for(T w)
    {
        if constexpr (is_complex<T>) return (w == T(0) ? T(1) : -direction(w)) - w;
        else return (w > 0 ? -1. : 1.) - w;
    }

    /// y_k by the look-ahead rule: the sign of e_k, along the line of w_k, that makes Σ_i |w_i + l_ik y_k| largest.
    T look_ahead(Index k, std::span<const Index> i, std::span<const T> l) const;

    /// max_i |w_i + l_ik y_k| over the given entries of column k.
    double largest_after(T y, std::span<const Index> i, std::span<const T> l) const;

    /// Column k with y_k is accepted: w_i ← w_i + l_ik y_k.
    void accept(T y, std::span<const Index> i, std::span<const T> l);

private:
    static T direction(T w) { return w / std::abs(w); }

    std::vector<T> w_;  // n; (L y)_i − y_i over the columns accepted so far
};

/// Inverse-based dropping: leaving out l_ik changes L⁻¹ by l_ik (L⁻¹ e_i)(e_kᵀ L⁻¹), so keep it iff |l_ik|·|y_k| > τ.
template <Scalar T>
bool keeps(T l, double y, double drop_tol)
{
    return std::abs(l) * std::abs(y) > drop_tol;
}

}  // namespace ilux
