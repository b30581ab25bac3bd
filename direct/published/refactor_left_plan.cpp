#include "ilux/direct/published/refactor_left_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/direct/factor/levels.hpp"

namespace ilux::detail {

LeftPlan plan_left(const LuPattern& pattern, const LeftTuning& tuning)
{
    if (tuning.pipeline_columns < 0 || tuning.warps < 0)
        throw InvalidOption(fmt::format("left: pipeline_columns {} and warps {}; expected at least 0",
                                        tuning.pipeline_columns, tuning.warps));
    LuLevels levels = lu_levels(pattern, DependencyRule::left);
    LeftPlan plan{.column = std::move(levels.column), .cluster_ptr = {0}, .done = {}};
    for (Index l = 0; l < levels.depth(); ++l) {
        const auto columns = static_cast<Index>(levels.level_ptr[l + 1] - levels.level_ptr[l]);
        if (columns < tuning.pipeline_columns) break;
        plan.cluster_ptr.push_back(static_cast<Index>(levels.level_ptr[l + 1]));
        plan.widest = std::max(plan.widest, columns);
    }
    const Index cluster_columns = plan.cluster_ptr.back();
    plan.widest = std::max(plan.widest, pattern.n - cluster_columns);
    plan.done.assign(pattern.n, always_done);
    for (Index c = cluster_columns; c < pattern.n; ++c) {
        const Index k = plan.column[c];
        if (pattern.lower_count(k) > 0) plan.done[k] = 0;
    }
    return plan;
}

Index left_warps(const LeftPlan& plan, const LeftTuning& tuning, Index resident, std::size_t value_bytes)
{
    const std::size_t vector_bytes = std::max<std::size_t>(1, plan.column.size() * value_bytes);
    const auto  affordable = static_cast<Index>(std::min<std::size_t>(tuning.work_bytes / vector_bytes, resident));
    const Index wanted = tuning.warps > 0 ? tuning.warps : resident;
    return std::max<Index>(1, std::min({wanted, affordable, plan.widest}));
}

}  // namespace ilux::detail
