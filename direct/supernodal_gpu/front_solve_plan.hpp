#pragma once
// In which order a GPU substitutes with fronts, and with how many threads each. Host only.

#include <array>
#include <vector>

#include "ilux/direct/supernodal_gpu/gpu_front_schedule.hpp"

namespace ilux {

constexpr Index solve_block = 32;  ///< pivots whose diagonal block is inverted where a block or a cluster has the front
constexpr Index solve_warp_rows = 64;
constexpr Index solve_together_pivots = 6000;  ///< of a front: shared memory holds those of several right-hand sides

/// Whether a warp substitutes with the front.
constexpr bool solved_by_warp(Index k, Index m) { return k <= solve_block && m <= solve_warp_rows; }

/// Fronts that are substituted with together, by threads: a warp each, or clusters of 2^(i − 1) blocks.
struct FrontSolveGroup {
    static constexpr int          kinds = 6;
    std::array<FrontRange, kinds> by_kind = {};  ///< of FrontSolvePlan::front
    std::array<Index, kinds>      pivots = {};   ///< of the largest
    FrontRange below, above;  ///< of FrontSolvePlan::item: 32 update rows, or 32 pivots, where a cluster has the front
};

/// Diagonal blocks whose right-hand sides are complete together.
struct FrontSolveStage {
    FrontRange                   f;       ///< of FrontSolvePlan::f_row, which come first
    std::vector<FrontSolveGroup> groups;  ///< forward; backward in reverse
};

/// The launches of a solve, stage after stage.
struct FrontSolvePlan {
    std::vector<FrontSolveStage> stages;
    std::vector<Index>           front;
    std::vector<FrontItem>       item;
    Index                        most_pivots = 0;  ///< of a front
    std::vector<Offset>          gather_ptr;       ///< of every row of every front, pivots first
    std::vector<Index> gather;  ///< positions in FrontTree::row of what children leave there, children ascending

    /// F by rows, or by columns where transposed.
    std::vector<Index>  f_row;  ///< rows that have entries, by stage
    std::vector<Offset> f_ptr;  ///< as many, + 1
    std::vector<Index>  f_col;
    std::vector<Offset> f_entry;  ///< of FrontPlan
};

/// O(rows + nnz(F)), on one thread.
FrontSolvePlan front_solve_plan(const FrontPlan& plan, const GpuFrontSchedule& schedule, bool transposed);

}  // namespace ilux
