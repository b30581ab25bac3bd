#pragma once
// One round: a set of pivots is eliminated, and what is left is the next round's matrix.

#include <functional>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/rounds/round_set.hpp"

namespace ilux {

/// What a round drops from its Schur complement, and what becomes of it.
struct RoundDropping {
    double drop_tol = 0;  ///< τ_S: entries up to τ_S times the largest of their row go
    /// What goes is added to the diagonal, weighted by t, as far as the row stays dominant, and has to be weak for both
    /// unknowns.
    bool compensate = false;
    /// The magnitude of what goes is added to the diagonals of its row and its column: S̃ − S is then diagonally
    /// dominant, and S̃ positive definite where S is. For a Hermitian S alone.
    bool lump = false;
    /// That S is, and stays: then entries up to τ_S √(m_i m_j) go, m the largest of the rows before the round.
    Mirror mirror = Mirror::none;
};

/// S ≈ [I 0; L I] [D 0; 0 next] [I U; 0 I] in the order (pivots, rest). Couplings among the pivots are dropped, or
/// added to D.
template <class T>
struct EliminatedRound {
    CsrMatrix<T>   L, U;                  ///< rest × pivots, pivots × rest
    std::vector<T> d;                     ///< of the pivots
    CsrMatrix<T>   next;                  ///< rest × rest
    std::vector<T> w_L, w_U;              ///< of the rest
    double         cut = 0;               ///< sum over the pivots of MlIluLevelReport::cut
    double inverse_L = 1, inverse_U = 1;  ///< largest estimates of ‖e_kᵀL⁻¹‖₁, ‖U⁻¹e_k‖₁ of a pivot
};

/// @param system, set  S must be Hermitian where `dropping` says so; its transpose is then not looked at
/// @param tell  called now and then by the calling thread; may throw to break off
/// Cost Σ_k |column k| · |row k| over the pivots k. Bits do not depend on the number of threads.
template <class T>
EliminatedRound<T> eliminate(Cpu& be, const RoundSystem<T>& system, const RoundSet<T>& set,
                             const RoundDropping& dropping, const std::function<void()>& tell = {});

}  // namespace ilux
