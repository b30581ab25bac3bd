#pragma once
// Unknowns that a coarse space takes together.

#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// Unknowns that stand for one point: components of a displacement, columns of an aggregate's basis.
struct Nodes {
    std::vector<Index>  of;       ///< n: the node of each unknown
    std::vector<Offset> begin;    ///< nodes + 1, in `unknown`
    std::vector<Index>  unknown;  ///< n: node after node, ascending in each

    /// @param of  n, from 0 to count − 1
    Nodes(std::vector<Index> of, Index count);
    Index                  size() const { return static_cast<Index>(of.size()); }
    Index                  count() const { return static_cast<Index>(begin.size()) - 1; }
    std::span<const Index> members(Index node) const
    {
        return std::span(unknown).subspan(begin[node], begin[node + 1] - begin[node]);
    }
    bool several() const { return count() < size(); }  ///< some node has several unknowns
};
/// The nodes that the pattern of A shows, of equally many unknowns; of one each where it shows none. O(nnz)
template <class T>
Nodes nodes_of(const CsrView<T>& A);

/// A partition of nodes; −1: the node has no strong tie, and is in none.
struct Aggregates {
    std::vector<Index> of;
    Index              count = 0;
};

/// Nodes around roots that are three ties apart at least, then aggregates of aggregates, until they have about so many
/// unknowns. A tie is strong where it is above a tenth of the largest of its row or column. Roots are a maximal set
/// independent at distance two, by a fixed shuffle of the nodes; every node joins the root next to it, and else the
/// aggregate next to it with the strongest tie. The same for any number of threads. [bell_dalton_olson_12] O(nnz) a
/// sweep, some ten sweeps.
/// @param unknowns  of an aggregate, wanted
template <class T>
Aggregates aggregate(Cpu& be, const CsrView<T>& A, const Nodes& nodes, Index unknowns);

}  // namespace ilux
