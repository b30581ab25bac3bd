#pragma once
// The ordering of the diagonal blocks, chosen by symbolic flops.

#include <string>
#include <vector>

#include "ilux/direct/analysis/lu_options.hpp"
#include "ilux/direct/analysis/symbolic_cost.hpp"

namespace ilux {

/// An order and what it costs.
struct LuOrder {
    std::vector<Index> perm;  ///< n; perm[new] = old
    LuOrdering         ordering = LuOrdering::amd;
    SymbolicCost       cost;  ///< where C is not symmetric, an upper bound if that is large: the count of |C| + |Cᵀ|
};

/// Orders rows and columns of C alike, its diagonal being the pivots. automatic: AMD, and then what the flops of the
/// best so far make worth its time, but large meshes by nested dissection at once; docs/design/direct.md has the measurements behind
/// the constants.
/// @param order_for  gpu: by the time of a refactorization and a solve there; nested dissection is tried where waiting is most of it
/// @param decisions  receives a line for each ordering tried, with its figures
/// @param stop  ends the call
LuOrder choose_order(const PatternView& C, LuOrdering wanted, LuOrderFor order_for, std::vector<std::string>& decisions,
                     const StopToken& stop = {}, const Cpu& be = Cpu(1));

}  // namespace ilux
