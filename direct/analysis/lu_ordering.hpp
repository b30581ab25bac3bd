#pragma once
// The ordering of the diagonal blocks, chosen by symbolic flops.

#include <functional>
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

/// What may end an analysis as soon as it is known what an LU would take.
struct AnalysisLimit {
    /// Says whether an LU of that cost is wanted: the cost is that of the best order so far, less what others may gain.
    /// An empty function wants all.
    /// @param dissects  nested dissection is yet to be made
    std::function<bool(const SymbolicCost&, bool dissects)> worth = {};
};
/// An analysis that was not worth its time.
struct NotWorthIt {
    SymbolicCost cost;  ///< of the best order so far
};

/// Orders rows and columns of C alike, its diagonal being the pivots. automatic: AMD, and then what the flops of the
/// best so far make worth its time, but large meshes by nested dissection at once; docs/design/direct.md has the
/// measurements behind the constants.
/// @param order_for  gpu: by the time of a refactorization and a solve there; nested dissection is tried where waiting
/// is most of it
/// @param decisions  receives a line for each ordering tried, with its figures
/// @param stop  ends the call  @throws NotWorthIt
LuOrder choose_order(const PatternView& C, LuOrdering wanted, LuOrderFor order_for, std::vector<std::string>& decisions,
                     const StopToken& stop = {}, const Cpu& be = Cpu(1), const AnalysisLimit& limit = {});

}  // namespace ilux
