#pragma once
// The graph that large matrices are ordered by: unknowns that no order need tell apart are one vertex, and hubs are
// left out.

#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/reorder/symmetric_graph.hpp"

namespace ilux {

/// Classes of the unknowns of a matrix, and which of them are joined.
struct CompressedGraph {
    detail::Graph       graph;         ///< of classes, as Graph has it
    std::vector<Index>  weight;        ///< unknowns of each class
    std::vector<Offset> member_ptr;    ///< of each class
    std::vector<Index>  member;        ///< unknowns, ascending within a class
    std::vector<Index>  hub;           ///< (nearly) dense ones, which are in no class, by ascending degree
    double              symmetry = 1;  ///< share of the entries off the diagonal that are mirrored

    Index       classes() const { return graph.n; }
    PatternView pattern() const { return {graph.n, graph.start, graph.neighbour}; }
    /// Unknowns of the classes in that order, then the hubs. @param order  new = old, of classes
    std::vector<Index> expanded(std::span<const Index> order) const;
};

/// The graph of |A| + |Aᵀ|, compressed. A class is of equal closed neighbourhoods. Where these are many, but unknowns
/// are numbered node by node, or component after component, those of a node are a class, though their patterns differ
/// where zeros were dropped: up to 1.75 times as many entries are then seen. Classes are made only where they shrink
/// the graph by a good part. The same result on any number of threads; O(nnz).
CompressedGraph compressed_graph(const Cpu& be, const PatternView& A);

}  // namespace ilux
