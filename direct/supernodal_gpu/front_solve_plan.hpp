#pragma once
// In which order a GPU substitutes with fronts, and with how many threads each. Host only.

#include <vector>

#include "ilux/direct/supernodal_gpu/gpu_front_schedule.hpp"

namespace ilux {

constexpr Index solve_tile = 32;    ///< rows that a block of threads has
constexpr Index solve_block = 512;  ///< pivots whose triangles are inverted, where blocks of threads have the front
constexpr Index solve_warp_rows = 64;

/// Whether a warp substitutes with the front.
constexpr bool solved_by_warp(Index k, Index m) { return k <= solve_tile && m <= solve_warp_rows; }

/// Numbers of the inverted diagonal blocks of a front with k pivots.
constexpr Offset inverse_numbers(Index k)
{
    const Offset rest = k % solve_block;
    return Offset{k - k % solve_block} * solve_block + rest * rest;
}

/// Diagonal blocks of one number, of all fronts of a group that have so many. Ranges of FrontSolvePlan::item: tiles,
/// with that number.
struct FrontSolveStep {
    FrontRange pivots, later;  ///< tiles of the block, and of all blocks after it; one follows the other
    FrontRange earlier;        ///< of blocks before it
};

/// Fronts that are substituted with together.
struct FrontSolveGroup {
    FrontRange                  small;    ///< of FrontSolvePlan::front: a warp each
    FrontRange                  large;    ///< the others
    std::vector<FrontSolveStep> steps;    ///< one at least
    FrontRange                  updates;  ///< of FrontSolvePlan::item: tiles of update rows of large fronts
    FrontRange                  above;    ///< the same: tiles of pivots, where there are update rows
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
    std::vector<Offset>          gather_ptr;  ///< of every row of every front, pivots first
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
