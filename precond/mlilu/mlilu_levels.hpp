#pragma once
// The levels of a finished multilevel factorization, as build (mlilu.cpp) leaves them, and what the host's solves add.

#include <memory>
#include <vector>

#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/sptrsv/sptrsv.hpp"

namespace ilux {

/// Â = Pᵀ Dr A Dc Q = [B F; G C] in the order (accepted, postponed), B ≈ L_B D U_B.
struct MlIluLevel {
    Index               n = 0, nB = 0;
    std::vector<Index>  p, q;                  ///< n; perm[new] = old
    std::vector<double> row_scale, col_scale;  ///< n, in the old numbering
    CsrMatrix<double>   L_B, U_B;              ///< nB×nB, strictly lower and upper part of the unit factors
    std::vector<double> d_inv;                 ///< nB; D⁻¹
    bool                keep = false;          ///< which pair follows
    CsrMatrix<double>   lower;                 ///< nC×nB: L_G (keep) or G (save)
    CsrMatrix<double>   upper;                 ///< nB×nC: U_F (keep) or F (save)
};

/// The levels of a multilevel ILU and the dense factors of the last one.
struct MlIluFactors {
    Index                   n = 0;
    std::vector<MlIluLevel> levels;
    DenseLevel              dense;
    MlIluReport             report;  ///< report.levels[l] is of levels[l]
};

/// How the host solves with L_B and U_B of a level. They refer to the level's matrices, so none is held twice.
struct MlIluLevelPlans {
    SpTrsvPlan<double> L_B, U_B;
};
/// @param keeps  what keeps `level` alive, where it is now
MlIluLevelPlans plans_of(const MlIluLevel& level, const std::shared_ptr<const MlIluFactors>& keeps);
std::size_t     bytes_of(const MlIluLevel& level, const MlIluLevelPlans& plans);  ///< of both, the matrices once

}  // namespace ilux
