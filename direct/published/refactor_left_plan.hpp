#pragma once
// Which columns a left-looking refactorization computes in cluster mode, which in the pipeline, and by how many warps.
// Host side.

#include <cstdint>
#include <vector>

#include "ilux/direct/published/refactor_left.hpp"

namespace ilux::detail {

/// Entries that a lane has in flight at once: a step of a warp is of 32 lanes and as many entries each.
constexpr int left_group = 2;

/// `done` of a column that nobody has to wait for.
constexpr std::uint32_t always_done = ~std::uint32_t{0};

struct LeftPlan {
    std::vector<Index> column;  ///< n; by levels, ascending in each
    std::vector<Index>
        cluster_ptr;  ///< levels of cluster mode + 1, positions in `column`; the pipeline begins at the last
    /// n; always_done: computed before the pipeline begins, or L(:,k) is empty; otherwise 0, which is no epoch.
    std::vector<std::uint32_t> done;
    Index                      widest = 0;  ///< columns that can be in work at a time
};

/// O(nnz). @throws InvalidOption for negative numbers
LeftPlan plan_left(const LuPattern& pattern, const LeftTuning& tuning);

/// The warps that run: `tuning.warps` where given, but never more than `resident`, than columns in work, or than
/// tuning.work_bytes allows; at least 1.
/// @param value_bytes  of a number in their work vectors
Index left_warps(const LeftPlan& plan, const LeftTuning& tuning, Index resident,
                 std::size_t value_bytes = sizeof(double));

}  // namespace ilux::detail
