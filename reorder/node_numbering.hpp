#pragma once
// Whether the unknowns of a matrix come in nodes of equally many.

#include "ilux/base/host_device.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux::detail {

/// Unknown v belongs to node v / size where those of a node are together, else to v % (n / size).
struct NodeNumbering {
    Index  n = 0, size = 1;
    bool   together = true;
    double entries =
        1;  ///< those that nodes would have if all of their unknowns were joined, over those that there are

    ILUX_HOST_DEVICE Index nodes() const { return n / size; }
    ILUX_HOST_DEVICE Index node(Index v) const { return together ? v / size : v % nodes(); }
    ILUX_HOST_DEVICE Index kind(Index v) const { return together ? v % size : v / nodes(); }  ///< from 0, in its node
    ILUX_HOST_DEVICE Index member(Index node, Index k) const { return together ? node * size + k : node + k * nodes(); }
};

/// The largest of some sizes for which unknowns of a node have nearly the same neighbours: nodes with all their
/// unknowns joined to all of their neighbours' would have at most 1.75 times the entries, and groups that begin within
/// nodes more of them. size 1 where there is none. Told by a sample of the nodes.
/// @param A  with or without its diagonal
NodeNumbering find_nodes(const PatternView& A);

}  // namespace ilux::detail
