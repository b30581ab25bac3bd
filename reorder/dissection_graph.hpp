#pragma once
// What nested dissection works on: the graph of a matrix without hubs, and with vertices that no order tells apart as one.

#include <vector>

#include "ilux/reorder/symmetric_graph.hpp"
#include "ilux/reorder/weighted_graph.hpp"

namespace ilux::detail {

struct DissectionGraph {
    WeightedGraph       graph;  ///< of classes of vertices with equal closed neighbourhoods; weight: how many they are
    std::vector<Offset> member_ptr;  ///< of each class
    std::vector<Index>  member;      ///< vertices of the matrix, ascending within a class
    std::vector<Index>  hub;         ///< (nearly) dense ones, which are in no class, by ascending degree
};

/// By tasks; the same result on any number of threads. Classes of more than one vertex are made only where they shrink the graph by a good part.
DissectionGraph dissection_graph(const Graph& g);

}  // namespace ilux::detail
