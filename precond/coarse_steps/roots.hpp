#pragma once
// Nodes around roots: the parallel, deterministic aggregation of [bell_dalton_olson_12].

#include "ilux/precond/coarse_steps/groups.hpp"

namespace ilux {

/// Ties between nodes in both directions: two nodes are tied where either matrix has an entry.
template <Backend B = Cpu>
struct Ties {
    Sparse<B, double> there, back;  ///< positive entries, none on the diagonal; `back` is the transpose of `there`
};

/// Roots are a maximal set of nodes no two of which are within `distance` ties, 1 or 2, by a fixed shuffle of the
/// nodes. Each node joins the root next to it with the strongest tie, else the group next to it.
/// @param alone  a node without a tie is a group of its own, and else in none
Groups<Cpu> around_roots(Cpu& be, const Ties<Cpu>& ties, int distance, bool alone);
Groups<Gpu> around_roots(Gpu& be, const Ties<Gpu>& ties, int distance, bool alone);

}  // namespace ilux
