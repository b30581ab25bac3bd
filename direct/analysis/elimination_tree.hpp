#pragma once
// The elimination tree of a symmetric pattern, and the lengths of the columns of L.

#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/base/unset_vector.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// The tree of C(order, order), C being symmetric, numbered such that children come before their parents and every
/// subtree is an interval: a postorder, which changes neither fill nor work.
struct EliminationTree {
    using Numbers = UnsetVector<Index, Pages::usual>;  ///< large, and filled by threads

    Numbers order;   ///< n; new = old of C, the given order with its subtrees brought together
    Numbers parent;  ///< n, by new numbers; −1 for a root
    Numbers size;    ///< n; vertices of the subtree
};

/// O(nnz α(n)) [liu_90], parts of the order by threads, which pays where few rows have entries in earlier parts: after
/// nested dissection.
EliminationTree elimination_tree(const Cpu& be, const PatternView& C, std::span<const Index> order,
                                 const StopToken& stop = {});

/// Entries of each column of L below the diagonal, in the order of the tree: from the leaves of the row subtrees, and
/// where the paths that begin there meet [gilbert_ng_peyton_94]. O(nnz log n) on all threads, rows apart; paths meet
/// after a step or two of a heavy-path decomposition, where that paper joins sets, which would take the rows one after
/// another.
/// @param weight  of rows by old numbers, which are then added up; empty: ones
EliminationTree::Numbers column_counts(const Cpu& be, const PatternView& C, const EliminationTree& tree,
                                       const StopToken& stop = {}, std::span<const Index> weight = {});

}  // namespace ilux
