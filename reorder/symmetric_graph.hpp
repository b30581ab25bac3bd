#pragma once
// The graph that orderings work on.

#include <span>
#include <vector>

#include "ilux/reorder/ordering.hpp"

namespace ilux::detail {

/// Graph of |A| + |Aᵀ| without loops; neighbours ascend.
struct Graph {
    Index               n;
    std::vector<Offset> start;  // n + 1
    std::vector<Index>  neighbour;

    std::span<const Index> of(Index i) const { return std::span(neighbour).subspan(start[i], start[i + 1] - start[i]); }
    Index                  degree(Index i) const { return static_cast<Index>(start[i + 1] - start[i]); }
};

/// By columns; rows ascend within one.
struct Columns {
    std::vector<Offset> col_ptr;
    std::vector<Index>  row;

    PatternView as_rows() const { return {static_cast<Index>(col_ptr.size()) - 1, col_ptr, row}; }
};

/// Neighbours from which on a vertex of such a graph is a hub: AMD's rule for dense rows.
double hub_degree(Index n);
/// Whether every entry off the diagonal has its mirror image. By tasks.
bool is_symmetric(const PatternView& A);
/// A by columns. By tasks, O(n + nnz)
Columns columns_of(const PatternView& A);
/// By tasks.
Graph symmetrised_graph(const PatternView& A);

}  // namespace ilux::detail
