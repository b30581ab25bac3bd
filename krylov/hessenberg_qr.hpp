#pragma once
// The small least-squares problem of GMRES: min ‖β e₁ − H_k y‖₂ by Givens rotations, on the host.

#include <span>
#include <vector>

#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// QR of the (k+1)×k upper Hessenberg matrix H_k, grown a column at a time [saad86, section 3.2]. Below its diagonal H
/// is real, norms in GMRES. So the rotations [c̄ s; −s c] have a real s, and R a real diagonal [saad03, 6.5.9].
/// A cycle: start(β); then for each step fill next_column() and append(); last, solve().
template <Scalar S = double>
class HessenbergQr {
public:
    HessenbergQr() = default;
    explicit HessenbergQr(Index m);  ///< room for m columns; nothing is allocated later

    void start(real_of<S> beta);  ///< g ← β e₁; no columns
    /// Where column k of H goes: h_0 … h_{k+1}, k + 2 values, the last one real. Valid until append().
    std::span<S> next_column();
    /// Rotates the new column and g: O(k). False, and the column is forgotten, when it leaves R singular to working
    /// precision: a step of A that adds nothing to the span of A's earlier ones.
    bool append();

    Index              columns() const { return k_; }
    real_of<S>         residual() const;  ///< |g_k| = min ‖β e₁ − H_k y‖₂
    std::span<const S> solve();           ///< y, k values: R y = g by back substitution, O(k²)

private:
    S& r(Index i, Index j) { return r_[static_cast<std::size_t>(j) * (m_ + 1) + i]; }

    Index                   m_ = 0, k_ = 0;
    std::vector<S>          r_;    ///< (m+1)·m, by columns: R above, the newest column of H in full
    std::vector<S>          cos_;  ///< m
    std::vector<real_of<S>> sin_;  ///< m
    std::vector<S>          g_;    ///< m + 1
    std::vector<S>          y_;    ///< m
};

}  // namespace ilux
