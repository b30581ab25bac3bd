#pragma once
// One level of the multilevel ILU: a Crout LDU sweep that postpones pivots whose inverse factors would grow.

#include <functional>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// What one level drops and postpones; the names of [bollhoefer_saad_06].
struct CroutOptions {
    double drop_tol = 1e-2;    ///< τ
    double inverse_bound = 5;  ///< κ
    double pivot_floor = 0;    ///< δ: |d_k| ≤ δ is postponed
    double growth_bound = 0;  ///< γ: postponed if an update would reach max|l_k| |d_k| max|u_k| > γ; 0: not looked at
    Index  depth_bound = 0;   ///< postponed if its chain in L_B or U_B would be longer; 0: not looked at
    bool   look_ahead = false;  ///< also reject when any component that the pivot touches would pass κ
    Mirror mirror =
        Mirror::none;  ///< that A is, exactly: only U is computed, and L is its image; D of a Hermitian A is real
    bool   positive = false;    ///< postpone d_k ≤ δ: D stays positive
    Index  candidates = 0;      ///< pivots come from the first `candidates` rows; the rest is postponed unseen
    Offset max_entries = 0;     ///< of L and U together, 0: no limit; reached, the smallest entries go first
    Offset postponed_cost = 0;  ///< entries of max_entries that every postponed row takes up beside its own
    bool   save = false;  ///< count against max_entries the blocks F and G of A instead of U_F and L_G; may be exceeded
};

/// A ≈ [L_B 0; L_G I] [D 0; 0 S] [U_B U_F; 0 I] in the order (accepted, postponed).
template <class T = double>
struct CroutLevel {
    std::vector<Index> accepted, postponed;           ///< rows of A in the new order
    CsrMatrix<T>       L_B;                           ///< nB × nB, strictly lower part of the unit factor, by rows
    CsrMatrix<T>       U_B;                           ///< nB × nB, strictly upper part of the unit factor, by rows
    CsrMatrix<T>       L_G;                           ///< nC × nB, by rows
    CsrMatrix<T>       U_F;                           ///< nB × nC, by rows
    std::vector<T>     d;                             ///< nB
    double             inverse_L = 0, inverse_U = 0;  ///< largest accepted estimates
    Index              too_deep = 0;       ///< rows postponed for depth_bound, and not for what comes before it
    bool               truncated = false;  ///< max_entries was felt
};

/// L of U, L_G of U_F, where A is its own mirror image.
template <class T>
CsrMatrix<T> image(Mirror mirror, const CsrView<T>& of)
{
    return mirror == Mirror::hermitian ? adjoint(of) : transpose(of);
}

/// @param A, At  n×n with its transpose, scaled so that entries are about 1 and ordered
/// @param tell   called now and then with the number of rows worked through; may be empty; may throw to break off
/// The chain of row k of L_B is 1 + the longest chain of the rows it reads. U_B is solved backwards, where chains end
/// in row k instead of starting there; its transpose's chains, known when row k comes up, are as long. With τ = 0 the
/// factors are exact up to rounding whatever is postponed. diag(L D U) = diag(A) on B, always. Cost: Σ_k
/// nnz(l_k)·nnz(u_k). Serial; the order of operations is fixed.
template <Scalar T>
CroutLevel<T> crout_ilu(const CsrView<T>& A, const CsrView<T>& At, const CroutOptions& options,
                        const std::function<void(Index)>& tell = {});

}  // namespace ilux
