#pragma once
// In which order and with which kernels a GPU works on fronts, and where it keeps what they leave to their parents.
// Host only.

#include <cstdint>
#include <memory>
#include <vector>

#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

/// Sizes at which another kernel takes a front, in rows.
struct FrontClasses {
    /// A warp has the first three in registers, a block the others in shared memory; what is larger stays in memory.
    std::vector<Index> limits = {16, 24, 32, 64, 96, 128};
    Index              panel = 32;  ///< pivots of a large front that are eliminated together
};

/// Work of one block of a launch.
struct FrontItem {
    Index         front = 0;
    std::uint16_t row = 0, col = 0;  ///< tiles, or a kind and a number
};
constexpr Index front_tile = 64;  ///< rows and columns of a tile of a large front

/// What a block does beside a panel: FrontItem::row.
enum class BesidePanel : std::uint16_t { left, right, below };
constexpr Index left_columns = 64, right_columns = 32, rows_below = 128;  ///< of one item

/// A range of an array.
struct FrontRange {
    Index begin = 0, end = 0;

    Index count() const { return end - begin; }
    bool  empty() const { return begin == end; }
};

/// One panel of every large front of a level that has so many.
struct PanelStep {
    Index                   panel = 0;
    std::vector<FrontRange> by_cluster;  ///< fronts of `large`, by the blocks that share a panel: 2^i
    FrontRange              beside, update;
};

/// Fronts whose children are all done before.
struct FrontLevel {
    std::vector<FrontRange> small;  ///< by class, of `small`
    FrontRange              large, assembly;
    std::vector<PanelStep>  steps;
};

/// The launches of a refactorization, level after level, and where what is left of each front lies meanwhile.
struct GpuFrontSchedule {
    std::vector<Index>      level;             ///< fronts; 1 + the largest of the children's
    std::vector<Offset>     rest_ptr;          ///< fronts; where the (m − k)² numbers begin that a front leaves
    Offset                  rests = 0;         ///< numbers that have room at once
    std::vector<Index>      child_ptr, child;  ///< fronts + 1; ascending
    std::vector<FrontLevel> levels;
    std::vector<Index>      small, large;  ///< fronts
    std::vector<FrontItem>  assembly, beside, update;
    Index                   launches = 0;

    /// Rows of panel blocks: a thread each.
    static constexpr Index panel_rows = 256, most_cluster = 16;
};

/// O(fronts + items), on one thread. @throws InvalidInput for a front with more than 65,535 rows, or whose pivots no
/// cluster holds
GpuFrontSchedule gpu_front_schedule(const FrontPlan& plan, const FrontClasses& classes);

}  // namespace ilux
