#include "ilux/direct/published/refactor_right_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ilux/base/error.hpp"

namespace ilux::detail {
namespace {

void require_sensible(const RightTuning& tuning)
{
    if (tuning.capacity < 0)
        throw InvalidOption(fmt::format("capacity = {}; expected 0 (as fits) or more columns", tuning.capacity));
    if (tuning.stream_columns < 0)
        throw InvalidOption(fmt::format("stream_columns = {}; expected at least 0", tuning.stream_columns));
}

/// Columns that have a dense vector of n numbers within tuning.work_bytes; one has in any case.
Index columns_within(const RightTuning& tuning, const RightRoom& room, Index n)
{
    const std::size_t columns =
        tuning.work_bytes / (room.value_bytes * static_cast<std::size_t>(std::max<Index>(n, 1)));
    return static_cast<Index>(std::clamp<std::size_t>(columns, 1, static_cast<std::size_t>(std::max<Index>(n, 1))));
}

DependencyRule rule_of(const RightTuning& tuning)
{
    return tuning.dependencies == Dependencies::exact ? DependencyRule::exact : DependencyRule::relaxed;
}

Index glu1_columns(const LuPattern& P, const RightTuning& tuning, const RightRoom& room)
{
    const Index wanted = tuning.capacity > 0 ? tuning.capacity : std::max<Index>(room.blocks, 1);
    return std::min(wanted, columns_within(tuning, room, P.n));
}

/// A mode for each level by its size; levels of more columns than have work vectors are cut into chunks.
RightPlan plan_glu3(const LuPattern& P, const RightTuning& tuning, const RightRoom& room)
{
    RightPlan plan;
    plan.levels = lu_levels(P, rule_of(tuning));
    const Index room_for = columns_within(tuning, room, P.n);
    for (Index l = 0; l < plan.levels.depth(); ++l) {
        const Offset first = plan.levels.level_ptr[l], end = plan.levels.level_ptr[l + 1];
        const Index  columns = static_cast<Index>(end - first);
        if (tuning.streams && columns <= tuning.stream_columns) {
            ++plan.modes.stream;
            plan.streams = std::max(plan.streams, std::min({columns, most_streams, room_for}));
            plan.in_flight = std::max(plan.in_flight, plan.streams);
            plan.steps.push_back({first, end, large_warps, true});
            continue;
        }
        const Index warps = tuning.small_blocks ? warps_per_block(room.warps, columns) : large_warps;
        ++(warps < large_warps ? plan.modes.small_block : plan.modes.large_block);
        plan.in_flight = std::max(plan.in_flight, std::min(columns, room_for));
        for (Offset chunk = first; chunk < end; chunk += room_for)
            plan.steps.push_back({chunk, std::min(end, chunk + room_for), warps});
    }
    return plan;
}

}  // namespace

UpperRows::UpperRows(const LuPattern& P) : ptr(P.n + 1, 0)
{
    for (Index k = 0; k < P.n; ++k)
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) ++ptr[P.row[p] + 1];
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    col.resize(ptr.back());
    position.resize(ptr.back());
    std::vector<Offset> next(ptr.begin(), ptr.end() - 1);
    for (Index k = 0; k < P.n; ++k)
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
            const Offset e = next[P.row[p]]++;
            col[e] = k;
            position[e] = p;
        }
}

Index warps_per_block(Index resident_warps, Index level_columns)
{
    const Offset warps = (Offset{resident_warps} + level_columns - 1) / level_columns;
    return static_cast<Index>(std::bit_ceil(static_cast<unsigned>(std::clamp<Offset>(warps, 2, large_warps))));
}

RightPlan plan_glu1(const LuPattern& pattern, DependencyRule rule, Index columns)
{
    RightPlan plan;
    plan.levels = resource_aware_levels(pattern, rule, columns);
    for (Index l = 0; l < plan.levels.depth(); ++l) {
        plan.steps.push_back({plan.levels.level_ptr[l], plan.levels.level_ptr[l + 1], glu1_warps});
        plan.in_flight = std::max(plan.in_flight, static_cast<Index>(plan.steps.back().end - plan.steps.back().first));
    }
    return plan;
}

RightPlan plan_right(const LuPattern& pattern, const RightTuning& tuning, const RightRoom& room)
{
    require_sensible(tuning);
    return tuning.method == RightMethod::glu1 ? plan_glu1(pattern, rule_of(tuning), glu1_columns(pattern, tuning, room))
                                              : plan_glu3(pattern, tuning, room);
}

}  // namespace ilux::detail
