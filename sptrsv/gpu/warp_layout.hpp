#pragma once
// The order in which whole warps take the rows of a forward system [aliaga19]: rows by level and length, as many to a
// warp as their length allows. Made on the host; read by syncfree.cu and gpu_level_set.cu.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/unset_vector.hpp"
#include "ilux/sptrsv/gpu/long_rows.hpp"

namespace ilux {

/// The rows that one warp solves at once: all of one level, 2^log2_part lanes to a row. The pilot is a guess at when
/// the rows can begin, not a dependency: a warp that polls it first leaves the second-level cache to those near the
/// front.
struct alignas(16) WarpTask {
    Index         first;      ///< position of its first row
    Index         entries;    ///< first entry, in units of 32; step s of lane l is entry 32·(entries + s) + l
    Index         pilot;      ///< the last position of the level `ahead` levels earlier; −1: none
    std::uint16_t steps;      ///< entries a lane adds up
    std::uint8_t  rows;       ///< 1 to 32
    std::uint8_t  log2_part;  ///< 0 to 5
    friend bool   operator==(const WarpTask&, const WarpTask&) = default;
};

/// How rows are dealt out to lanes.
struct WarpLayoutOptions {
    int lanes = 0;        ///< to a row: a power of two up to 32, more where a lane would add up over 16 entries.
                          ///< 0: by length, 1 for 1, 2 for 2, 4 for 3-4, 8 for 5-8, 16 for 9-16, 32 beyond [aliaga19]
    Index longest = 512;  ///< longer rows are split
    Index segment = 256;  ///< entries of a partial sum of a split row
    Index ahead = 3;      ///< levels from a task's pilot to the task; 0: no pilots
};

/// Long rows are split (long_rows.hpp), so no warp works long. Lanes of a warp read consecutive entries, and no row
/// pointers.
template <class T>
struct WarpLayout {
    std::vector<Index>    row;        ///< row[position] of the system; −1: a partial sum
    std::vector<WarpTask> tasks;      ///< by level
    std::vector<Index>    level_ptr;  ///< levels + 1: first task of each
    UnsetVector<Index>    col;        ///< position of each entry; −1 where padded
    UnsetVector<T>        val;        ///< of each entry; 0 where padded

    Index positions() const { return static_cast<Index>(row.size()); }
    Index depth() const { return static_cast<Index>(level_ptr.size()) - 1; }
};

/// @param level  n, as levels(system.L).  O(n + nnz), the entries on all threads
template <class T>
WarpLayout<T> warp_layout(const CsrView<T>& L, std::span<const Index> level, const WarpLayoutOptions& options = {});

/// Levels first to end − 1 that one launch solves: a single one, or several thin ones that one block walks.
struct LevelRun {
    Index       first, end;
    bool        walked;
    friend bool operator==(const LevelRun&, const LevelRun&) = default;
};
/// @param level_ptr  of a WarpLayout;  @param thin  most tasks of a level that is walked
std::vector<LevelRun> level_runs(std::span<const Index> level_ptr, Index thin);

}  // namespace ilux
