#pragma once
// A fill-reducing order of a graph by nested dissection, on all threads.

#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/reorder/compressed_graph.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// perm[new] = old, for rows and columns of A alike: the graph of |A| + |Aᵀ| is cut in two by a small separator, which
/// comes last, and so on with the halves [george_73]; small parts are ordered by AMD. Vertices are the classes of
/// compressed_graph(), and hubs come last of all. The result is the same for any number of threads. Cost: O(nnz log n)
/// time, some 100 bytes an entry.
/// @param stop  ends it within some milliseconds
/// @throws OutOfMemory when AMD reports it
std::vector<Index> nested_dissection(const Cpu& be, const PatternView& A, const StopToken& stop = {});

/// Orders classes alone in this way, hubs left out.
std::vector<Index> dissected_classes(const Cpu& be, const CompressedGraph& c, const StopToken& stop = {});

}  // namespace ilux
