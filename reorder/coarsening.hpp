#pragma once
// A graph of about half as many vertices that has the shape of a given one.

#include "ilux/reorder/weighted_graph.hpp"

namespace ilux::detail {

struct Coarsening {
    WeightedGraph      graph;
    std::vector<Index> coarse_of;  ///< n of the fine graph
};

/// Pairs are matched along heavy edges between light vertices and become one vertex each, whose weight is at most
/// `heaviest`. Vertices left over are paired with others that hang on the same neighbour. By tasks, O(n + arcs); the
/// same result on any number of threads.
/// @param seed  decides among edges that are equally good
Coarsening coarsened(const WeightedGraph& g, Index heaviest, std::uint64_t seed);

}  // namespace ilux::detail
