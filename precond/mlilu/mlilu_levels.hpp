#pragma once
// The levels of a finished multilevel factorization, as build (mlilu.cpp) leaves them, and what the host's solves add.

#include <memory>
#include <optional>
#include <vector>

#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"
#include "ilux/sptrsv/sptrsv.hpp"

namespace ilux {

/// Â = Pᵀ Dr A Dc Q = [B F; G C] in the order (accepted, postponed), B ≈ L_B D U_B.
template <Scalar T = double>
struct MlIluLevel {
    Index               n = 0, nB = 0;
    std::vector<Index>  p, q;                  ///< n; perm[new] = old
    std::vector<double> row_scale, col_scale;  ///< n, in the old numbering
    CsrMatrix<T>        L_B, U_B;              ///< nB×nB, strictly lower and upper part of the unit factors
    std::vector<T>      d_inv;                 ///< nB; D⁻¹
    bool                keep = false;          ///< which pair follows
    CsrMatrix<T>        lower;                 ///< nC×nB: L_G (keep) or G (save)
    CsrMatrix<T>        upper;                 ///< nB×nC: U_F (keep) or F (save)
    Mirror half = Mirror::none;          ///< else L_B and lower are not stored: they are the images of U_B and upper
    std::vector<Index> round_ends = {};  ///< of a level in rounds, among its nB pivots
    double             cut_when_chosen = 0;  ///< MlIluLevelReport::cut of the setup that chose those rounds
};

/// L_B and `lower` of a level that may not store them. Cost O(nnz) where it does not, and a copy.
template <Scalar T>
CsrMatrix<T> lower_factor(const MlIluLevel<T>& level);
template <Scalar T>
CsrMatrix<T> lower_block(const MlIluLevel<T>& level);
/// Drops L_B and `lower`, where `mirror` tells how U_B and `upper` give them.
template <Scalar T>
void keep_half(MlIluLevel<T>& level, Mirror mirror);

/// The levels of a multilevel ILU and the dense factors of the last one.
template <Scalar T>
struct MlIluFactors {
    Index                      n = 0;
    std::vector<MlIluLevel<T>> levels;
    DenseLevel<T>              dense;
    MlIluReport                report;                 ///< report.levels[l] is of levels[l]
    bool                       ends_in_crout = false;  ///< Crout's sweep has finished what rounds left
    bool                       full = false;           ///< the memory limit has ended its rounds
};

/// How the host solves with L_B and U_B of a level. They refer to the level's matrices, so none is held twice. A level
/// stored by half has no plan of L_B.
template <Scalar T>
struct MlIluLevelPlans {
    SpTrsvPlan<T, T> L_B, U_B;
};
/// @param keeps  what keeps `level` alive, where it is now
template <Scalar T>
MlIluLevelPlans<T> plans_of(const MlIluLevel<T>& level, const std::shared_ptr<const MlIluFactors<T>>& keeps);
template <Scalar T>
std::size_t bytes_of(const MlIluLevel<T>& level, const MlIluLevelPlans<T>& plans);  ///< of both, the matrices once

/// The leading levels in rounds; nothing where there are none.
template <Scalar T>
std::optional<RoundsPlan> plan_of_rounds(const MlIluFactors<T>& factors);

}  // namespace ilux
