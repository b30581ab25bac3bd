#pragma once
// Things that are taken together: unknowns of a node, nodes of an aggregate.

#include <span>
#include <vector>

#include "ilux/precond/coarse_steps/sparse.hpp"
#include "ilux/reorder/node_numbering.hpp"

namespace ilux {

/// Some of size() things in groups; the others are in none.
template <Backend B = Cpu>
struct Groups {
    Buffer<B, Index>  of;      ///< size(): the group of each, or −1
    Buffer<B, Offset> begin;   ///< count() + 1, in `member`
    Buffer<B, Index>  member;  ///< group after group, ascending in each

    Index size() const { return static_cast<Index>(of.size()); }
    Index count() const { return static_cast<Index>(begin.size()) - 1; }
    bool  alone() const { return count() == size(); }  ///< each of its own

    std::span<const Index> members(Index group) const requires std::same_as<B, Cpu>
    {
        return std::span(member).subspan(begin[group], begin[group + 1] - begin[group]);
    }
};

using detail::NodeNumbering;

/// The nodes, in their order.
Groups<Cpu> groups_of(Cpu& be, const NodeNumbering& nodes);
Groups<Gpu> groups_of(Gpu& be, const NodeNumbering& nodes);

/// @param of  from −1 to count − 1
Groups<Cpu> grouped(Cpu& be, std::vector<Index> of, Index count);
Groups<Gpu> grouped(Gpu& be, DeviceBuffer<Index> of, Index count);

/// For each thing of the first grouping the group, in the second, of its group.
Groups<Cpu> composed(Cpu& be, const Groups<Cpu>& first, const Groups<Cpu>& second);
Groups<Gpu> composed(Gpu& be, const Groups<Gpu>& first, const Groups<Gpu>& second);

/// Without the groups that have no member.
Groups<Cpu> without_empty(Cpu& be, Groups<Cpu> groups);
Groups<Gpu> without_empty(Gpu& gpu, Groups<Gpu> groups);  ///< by the host

/// size × count: a 1 where a thing is in a group.
CsrMatrix<double> indicator(Cpu& be, const Groups<Cpu>& groups);
DeviceCsr<double> indicator(Gpu& be, const Groups<Gpu>& groups);

/// Copies on the other side.
Groups<Gpu> on_device(Gpu& gpu, const Groups<Cpu>& groups);
Groups<Cpu> on_host(Gpu& gpu, const Groups<Gpu>& groups);

}  // namespace ilux
