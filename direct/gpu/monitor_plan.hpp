#pragma once
// How the entries of L + U and F are handed to warps that look at pivots.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// A task is one warp's: columns of similar length, as many lanes each as it takes to read no more than `per_lane`
/// entries. What is longer than a warp reads at once is cut into parts, which meet in memory.
struct MonitorPlan {
    static constexpr Index per_lane = 8, warp = 32, most = per_lane * warp;

    enum class Kind : std::int16_t {
        whole,  ///< columns of L + U
        part,   ///< of one column of L + U
        f,      ///< columns of F, or parts of them: it only matters whether they are finite
    };
    struct Piece {
        Offset       first;   ///< entry of the pattern, those of F behind those of L + U
        std::int32_t column;  ///< part: number of the long column
        std::int16_t count;   ///< entries, at most `most`
        std::int16_t
            diag;  ///< entries before this one are above the diagonal; −1 … most, where the diagonal lies outside
    };
    struct Task {
        std::int32_t first;  ///< piece
        std::int16_t log2_lanes;
        Kind         kind;
    };
    struct LongColumn {
        std::int32_t column, parts;
    };

    std::vector<Piece>      piece;
    std::vector<Task>       task;  ///< each has 32 / lanes pieces; those that are missing have count 0
    std::vector<LongColumn> long_column;
};

/// O(n + nnz)
MonitorPlan monitor_plan(const LuPattern& pattern);

}  // namespace ilux
