#pragma once
// Supernodes: columns eliminated together, each with one dense front.

#include <cstddef>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux {

/// When a front takes in one of its children: the zeros that its L then stores are at most this share of it.
struct FrontMerging {
    Index  few_pivots = 12, some_pivots = 32, many_pivots = 96;  ///< of the two together
    double few = 0.6, some = 0.25, many = 0.1, beyond = 0.03;
};

/// Front f eliminates pivots pivot_ptr[f] … pivot_ptr[f + 1] − 1 and updates the later rows and columns row[row_ptr[f]]
/// … Rows and columns are numbered by their position in `order`; a child's number is smaller than its parent's.
struct FrontTree {
    std::vector<Index>  order;      ///< n; order[position] = column of B
    std::vector<Index>  pivot_ptr;  ///< fronts + 1
    std::vector<Offset> row_ptr;    ///< fronts + 1
    EntryArray<Index>   row;        ///< ascending within a front
    std::vector<Index>  parent;     ///< fronts; −1: a root
    std::vector<Index>  child_ptr;  ///< fronts + 1
    std::vector<Index>  child;      ///< ascending for each parent

    std::span<const Index> children(Index f) const
    {
        return {child.data() + child_ptr[f], static_cast<std::size_t>(child_ptr[f + 1] - child_ptr[f])};
    }
    Index fronts() const { return static_cast<Index>(parent.size()); }
    Index pivots(Index f) const { return pivot_ptr[f + 1] - pivot_ptr[f]; }
    Index updates(Index f) const { return static_cast<Index>(row_ptr[f + 1] - row_ptr[f]); }
    Index depth() const;                                          ///< fronts on the longest path to a root
    Index size(Index f) const { return pivots(f) + updates(f); }  ///< rows, and columns, of the front
};

/// Every row of an update set is a pivot or an update row of the parent. Roots have none. The pivots of a diagonal
/// block stay where the block was. O(nnz + Σ updates · children); the same on any number of threads.
FrontTree front_tree(Cpu& be, const LuSymbolic& symbolic, const FrontMerging& merging = {});

}  // namespace ilux
