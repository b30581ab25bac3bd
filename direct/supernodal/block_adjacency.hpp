#pragma once
// The diagonal blocks as one symmetric pattern.

#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// The pattern of B + Bᵀ within the diagonal blocks, without the diagonal. Rows ascend within a column; none is
/// doubled.
struct BlockAdjacency {
    std::vector<Offset> ptr;  ///< n + 1
    EntryArray<Index>   row;

    std::span<const Index> column(Index k) const { return std::span(row).subspan(ptr[k], ptr[k + 1] - ptr[k]); }
    Index                  size() const { return static_cast<Index>(ptr.size()) - 1; }
    PatternView            pattern() const { return {size(), ptr, row}; }
};
/// O(nnz), by tasks.
BlockAdjacency block_adjacency(Cpu& be, const LuSymbolic& symbolic);

}  // namespace ilux
