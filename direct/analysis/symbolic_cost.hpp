#pragma once
// Entries and operations of LU with pivots on the diagonal, counted without numbers.

#include <limits>
#include <optional>
#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/reorder/compressed_graph.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// Entries and work of an LU with the pivots on the diagonal.
struct SymbolicCost {
    double nnz = 0;            ///< of L + U, the diagonal once
    double multiply_adds = 0;  ///< Σ_k Σ_{i∈U(:,k)} lc(i), lc(i) entries of L(:,i) below the diagonal
    Index  levels = 0;         ///< columns that wait for one another; 0 where they are not counted

    double flops(Index n) const { return 2 * multiply_adds + nnz - n; }  ///< as LuPattern::flops
};

/// Beyond these a count is given up.
struct CostLimit {
    double nnz = std::numeric_limits<double>::infinity();
    double multiply_adds = std::numeric_limits<double>::infinity();
    bool   levels = false;  ///< whether they are counted, too
};

/// Exact for C(order, order) with a nonzero diagonal, whether that is stored or not; nothing beyond the limit.
/// Column structures are found by reach in the graph of L, shortened by symmetric pruning [eisenstat_liu_92].
/// Time about proportional to nnz(L + U); memory 4 nnz(L) bytes.
/// @param order  n, perm[new] = old
/// @param stop  ends the count
std::optional<SymbolicCost> symbolic_cost(const PatternView& C, std::span<const Index> order, CostLimit limit = {},
                                          const StopToken& stop = {});

/// Counts the same for a symmetric pattern: by row subtrees of the elimination tree [liu_90] while there is little
/// fill, then by its column counts. About O(nnz) time however much fill there is, 40 n bytes. Of a pattern that is not
/// symmetric only some entries would be seen.
std::optional<SymbolicCost> symmetric_symbolic_cost(const PatternView& C, std::span<const Index> order,
                                                    CostLimit limit = {}, const StopToken& stop = {},
                                                    const Cpu& be = Cpu(1));

/// Counts the same for an order of the classes of a compressed graph, each of whose members is joined to all of the
/// class and of its neighbours; hubs are left out. O(nnz), by column counts.
SymbolicCost cost_of_classes(const Cpu& be, const CompressedGraph& c, std::span<const Index> order, bool levels,
                             const StopToken& stop = {});

}  // namespace ilux
