#pragma once
// A small set of vertices whose removal cuts a graph into two halves.

#include "ilux/reorder/separator_refinement.hpp"

namespace ilux::detail {

/// Multilevel: the graph is coarsened until it is tiny, the best of several separators of that is taken, and refined on
/// every level on the way back [hendrickson_rothberg_98]. No side weighs more than 0.7 of the whole, if the vertices
/// allow that. By tasks; the same result on any number of threads.
/// @param seed  decides among equals
Separation separated(const WeightedGraph& g, std::uint64_t seed);

}  // namespace ilux::detail
