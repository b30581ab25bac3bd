#pragma once
// Which columns wait for which, and the levels that follow.

#include <span>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// left: k waits for every i with U(i,k) ≠ 0 and L(:,i) not empty. Right-looking methods also have the double-U hazard:
/// column i writes (t,k) while column t reads it as a multiplier, so t waits for i. exact: where that can happen;
/// relaxed: for every L(t,i) ≠ 0 [peng_tan_20].
enum class DependencyRule { left, exact, relaxed };

/// Columns by level: those of level l are column[level_ptr[l]] … column[level_ptr[l + 1] − 1], ascending.
struct LuLevels {
    std::vector<Offset> level_ptr;  ///< depth + 1
    std::vector<Index>  column;     ///< n
    std::vector<Index>  level_of;   ///< n
    Index               depth() const { return static_cast<Index>(level_ptr.size()) - 1; }
};

/// O(nnz(L) + nnz(U)) for each rule. In a closed pattern L(t,i) ≠ 0 and U(i,k) ≠ 0 imply that (t,k) is stored, so the
/// hazard exists exactly where L(t,i) ≠ 0, L(:,t) is not empty and the last column of row i of U lies beyond t.
LuLevels lu_levels(const LuPattern& pattern, DependencyRule rule);

/// At most `capacity` columns a level: in order of index, each goes to
/// the first level with room behind those it waits for [he16].
/// @throws InvalidOption unless capacity ≥ 1
LuLevels resource_aware_levels(const LuPattern& pattern, DependencyRule rule, Index capacity);

/// Sizes of the levels, and hub columns.
struct LuLevelStatistics {
    struct Level {
        Index  columns = 0;
        double updates = 0;  ///< U entries: columns applied to columns
        double multiply_adds = 0;
    };
    std::vector<Level> levels;
    /// Columns of many updates: supply nets of circuits.
    struct Hub {
        Index  column = 0;   ///< in LuPattern's numbers
        Index  updates = 0;  ///< U entries
        Index  depth = 0;    ///< longest chain of updates that wait on one another inside the column
        double multiply_adds = 0;
    };
    std::vector<Hub> hubs;  ///< by updates, most first
};
/// Costs O(nnz) and, for each hub, a pass over the pruned L of its updates: O(updates) where the pattern is symmetric.
/// @param hub_updates  columns from this many updates on are hubs
/// @throws InvalidInput when the levels are of another number of columns
LuLevelStatistics level_statistics(const LuPattern& pattern, const LuLevels& levels, Index hub_updates);

}  // namespace ilux
