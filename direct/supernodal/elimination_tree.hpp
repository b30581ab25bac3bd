#pragma once
// The elimination tree of the diagonal blocks, taken as symmetric in pattern.

#include <vector>

#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux {

/// The pattern of B + Bᵀ within the diagonal blocks, without the diagonal. Rows ascend within a column; none is doubled.
struct BlockAdjacency {
    std::vector<Offset> ptr;  ///< n + 1
    std::vector<Index>  row;

    Index size() const { return static_cast<Index>(ptr.size()) - 1; }
};
BlockAdjacency block_adjacency(const LuSymbolic& symbolic);  ///< O(nnz), on one thread

/// Column k of L updates parent[k] first of all. Nodes are numbered as the columns of B.
struct EliminationTree {
    std::vector<Index> parent;     ///< n; the parent's number is larger; −1: a root
    std::vector<Index> postorder;  ///< n; postorder[position] = column; the columns of a block stay together
    std::vector<Index> count;      ///< n; entries of L(:,k), the diagonal included
};

/// Parents by path compression [liu_90], counts by the leaves of row subtrees [gilbert_ng_peyton_94]; time about linear in the
/// entries, memory 8 n indices.
EliminationTree elimination_tree(const BlockAdjacency& C);

}  // namespace ilux
