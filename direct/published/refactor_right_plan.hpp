#pragma once
// The launches of a right-looking refactorization: levels, their modes, and the rows of U that it walks. Host side.

#include <vector>

#include "ilux/direct/published/refactor_right.hpp"

namespace ilux::detail {

/// Strict U by rows: the subcolumns of j are those of row j.
struct UpperRows {
    std::vector<Offset> ptr;       ///< n + 1
    std::vector<Index>  col;       ///< nnz, ascending within a row
    std::vector<Offset> position;  ///< nnz; of (j, col) in LuPattern::row

    explicit UpperRows(const LuPattern& pattern);  ///< O(nnz)
};

/// What a device holds at once.
struct RightRoom {
    Index warps = 0;   ///< of any block
    Index blocks = 0;  ///< of glu1

    std::size_t value_bytes = sizeof(double);  ///< of a number in a work vector
};

constexpr Index glu1_warps = 8;    ///< of its block; the best number for each multiprocessor in [he16]
constexpr Index large_warps = 32;  ///< of large blocks
constexpr Index most_streams = 16;

/// Columns levels.column[first] … [end − 1], all of one level, eliminated side by side.
struct RightStep {
    Offset first = 0, end = 0;
    Index  warps = 0;       ///< a block
    bool   stream = false;  ///< a block a subcolumn; else a block a column
};

struct RightPlan {
    LuLevels               levels;
    RightModes             modes;
    std::vector<RightStep> steps;
    Index                  in_flight = 0;  ///< columns that have a dense work vector at a time, at most
    Index                  streams = 0;    ///< that columns of stream mode run on, at most
};

/// Warps of a small block: W / s, rounded up to a power of two from 2 to 32 [peng_tan_20, (4)].
Index warps_per_block(Index resident_warps, Index level_columns);

/// glu1's plan, a step a level. Its levels keep the double-U rule where `rule` is exact or relaxed; [he16] printed them
/// without (left), and they are wrong.
/// @param columns  a level at most, at least 1
/// O(nnz).
RightPlan plan_glu1(const LuPattern& pattern, DependencyRule rule, Index columns);

/// O(nnz). @throws InvalidOption for a negative capacity or number of columns
RightPlan plan_right(const LuPattern& pattern, const RightTuning& tuning, const RightRoom& room);

}  // namespace ilux::detail
