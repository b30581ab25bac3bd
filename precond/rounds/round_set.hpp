#pragma once
// The pivots of a round: rows that pass their tests and do not see one another.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/rounds/round_rules.hpp"
#include "ilux/precond/rounds/test_vectors.hpp"

namespace ilux {

/// Rows with Σ_j≠k |s_kj| ‖t_j‖ ≤ |s_kk| ‖t_k‖, up to rounding.
template <class T>
Index dominant_rows(Cpu& be, const CsrView<T>& S, TestVectors t);
/// dominant_rows() for t = 1, which is not stored.
template <class T>
Index dominant_rows(Cpu& be, const CsrView<T>& S);

/// What a pivot of a round must keep to, and which couplings count.
struct RoundBounds {
    double inverse = 5;       ///< κ: of ‖e_kᵀL⁻¹‖₁ and ‖U⁻¹e_k‖₁
    double growth = 2;        ///< γ: of max_r|s_rk| max_j|s_kj| / |s_kk|; 0: not looked at
    double pivot_floor = 0;   ///< δ: |s_kk| ≤ δ is no pivot
    bool   positive = false;  ///< nor is s_kk ≤ δ
    /// θ: couplings of a dominant row k to other pivots may add up to θ|s_kk|.
    double weak_coupling = 0;
    int    most_sweeps = 0;  ///< rows that still wait after so many are left for the next round; 0: no limit
};

/// S with all that a round looks at. Refers to what it is made of.
template <class T>
struct RoundSystem {
    const CsrView<T>&  S, &St;    ///< n×n and its transpose
    std::span<const T> w_L, w_U;  ///< n: (L y)_k − y_k and the same of Uᵀ, over the pivots so far
    TestVectors        t;         ///< of n rows, none 0
    /// n: of the rows in a larger matrix, for the shuffle; empty: as they stand here.
    std::span<const Index> number = {};
};

/// What a row of S and its column are like.
template <class T>
struct RowFacts {
    T      diagonal = {};
    double largest_in_row = 0, largest_in_col = 0;  ///< off the diagonal
    double others = 0;                              ///< Σ_j≠k |s_kj| ‖t_j‖
};
template <class T>
RowFacts<T> facts_of_row(const RoundSystem<T>& system, Index k);

/// The pivots chosen; `fit` is the number of rows that passed their tests.
template <class T>
struct RoundSet {
    std::vector<Index>  pivots, rest;  ///< ascending
    std::vector<T>      diagonal;      ///< n
    std::vector<double> largest;       ///< n; of each row, the diagonal included
    Index               fit = 0;
};

/// A set of fit rows without couplings among them, but for weak ones; few further rows would fit.
/// A row k is dominant where Σ_j≠k |s_kj| ‖t_j‖ ≤ |s_kk| ‖t_k‖. Rows of low degree come first, |row| · |column|, then
/// by a fixed shuffle of their numbers; rows much longer than the mean come in a later round. The set does not depend
/// on the number of threads. [luby_86] Such a coupling in the row of the pivot that is chosen later must have detours
/// (round_rules.hpp). Where one of two rows sees the other and that one does not see it, the first to be free comes
/// first. Cost O(nnz) a sweep, some twenty sweeps, and |row k| · |row j| for a weak coupling of pivot k to pivot j;
/// `tell` is called before each.
template <class T>
RoundSet<T> choose_pivots(Cpu& be, const RoundSystem<T>& system, const RoundBounds& bounds,
                          const std::function<void()>& tell = {});

}  // namespace ilux
