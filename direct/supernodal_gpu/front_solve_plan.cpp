#include "ilux/direct/supernodal_gpu/front_solve_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ilux {
namespace {

/// Counts for each diagonal block how many blocks must be solved one after the other before it is.
std::vector<Index> stages_of_blocks(const FrontPlan& plan, bool transposed)
{
    std::vector<Index> block_of(plan.n), stage(plan.blocks(), 0);
    for (Index b = 0; b < plan.blocks(); ++b)
        std::fill(block_of.begin() + plan.block_ptr[b], block_of.begin() + plan.block_ptr[b + 1], b);
    const auto visit = [&](Index b) {
        for (Index c = plan.block_ptr[b]; c < plan.block_ptr[b + 1]; ++c)
            for (Offset p = plan.f_col_ptr[c]; p < plan.f_col_ptr[c + 1]; ++p) {
                const Index above = block_of[plan.f_row[p]];
                if (transposed) stage[b] = std::max(stage[b], stage[above] + 1);
                else stage[above] = std::max(stage[above], stage[b] + 1);
            }
    };
    if (transposed)
        for (Index b = 0; b < plan.blocks(); ++b) visit(b);
    else
        for (Index b = plan.blocks(); b-- > 0;) visit(b);
    return stage;
}

Index tiles_of(Index rows) { return (rows + solve_tile - 1) / solve_tile; }

/// Items of tiles [begin(f), end(f)) of the group's large fronts.
template <class Begin, class End>
FrontRange items_of(FrontSolvePlan& to, const FrontSolveGroup& group, Index number, Begin&& begin, End&& end)
{
    FrontRange range{static_cast<Index>(to.item.size()), 0};
    for (Index i = group.large.begin; i < group.large.end; ++i)
        for (Index f = to.front[i], part = begin(f); part < end(f); ++part)
            to.item.push_back({f, static_cast<std::uint16_t>(part), static_cast<std::uint16_t>(number)});
    range.end = static_cast<Index>(to.item.size());
    return range;
}

void lay_out_tiles(const FrontTree& tree, FrontSolvePlan& to, FrontSolveGroup& group)
{
    constexpr Index each = solve_block / solve_tile;
    const auto      none = [](Index) { return Index{0}; };
    const auto      tiles = [&](Index f) { return tiles_of(tree.pivots(f)); };
    Index           blocks = 1;
    for (Index i = group.large.begin; i < group.large.end; ++i)
        blocks = std::max(blocks, (tiles(to.front[i]) + each - 1) / each);
    for (Index number = 0; number < blocks; ++number) {
        const Index    begin = number * each, end = begin + each;
        const auto     from = [&](Index) { return begin; };
        const auto     next = [&](Index) { return end; };
        const auto     last = [&](Index f) { return std::min(tiles(f), end); };
        const auto     before = [&](Index f) { return tiles(f) > begin ? begin : 0; };
        FrontSolveStep step;
        step.pivots = items_of(to, group, number, from, last);
        step.later = items_of(to, group, number, next, tiles);
        step.earlier = items_of(to, group, number, none, before);
        group.steps.push_back(step);
    }
    group.updates = items_of(to, group, 0, none, [&](Index f) { return tiles_of(tree.updates(f)); });
    group.above = items_of(to, group, 0, none, [&](Index f) { return tree.updates(f) > 0 ? tiles(f) : 0; });
}

void sort_fronts_by_stage(const FrontPlan& plan, const GpuFrontSchedule& schedule, const std::vector<Index>& stage_of,
                          FrontSolvePlan& to)
{
    const FrontTree&   tree = plan.tree;
    std::vector<Index> stage(plan.fronts());
    for (Index b = 0; b < plan.blocks(); ++b)
        for (Index f = plan.block_front[b]; f < plan.block_front[b + 1]; ++f) stage[f] = stage_of[b];
    const auto is_large = [&](Index f) { return !solved_by_warp(tree.pivots(f), tree.size(f)); };
    const auto key = [&](Index f) { return std::tuple(stage[f], schedule.level[f], is_large(f)); };
    to.front.resize(plan.fronts());
    std::iota(to.front.begin(), to.front.end(), 0);
    std::ranges::stable_sort(to.front, {}, key);
    to.stages.resize(stage_of.empty() ? 0 : *std::ranges::max_element(stage_of) + 1);
    Index level = -1, last_stage = -1;
    for (Index i = 0; i < plan.fronts(); ++i) {
        const Index f = to.front[i];
        auto&       groups = to.stages[stage[f]].groups;
        if (stage[f] != last_stage || schedule.level[f] != level) groups.emplace_back();
        last_stage = stage[f];
        level = schedule.level[f];
        auto& range = is_large(f) ? groups.back().large : groups.back().small;
        if (range.empty()) range.begin = i;
        range.end = i + 1;
    }
    for (FrontSolveStage& one : to.stages)
        for (FrontSolveGroup& group : one.groups) lay_out_tiles(tree, to, group);
}

void find_sources(const FrontPlan& plan, FrontSolvePlan& to)
{
    const FrontTree& tree = plan.tree;
    const auto       row_of = [&](Offset p, Index up) { return tree.pivot_ptr[up] + tree.row_ptr[up] + plan.place[p]; };
    to.gather_ptr.assign(static_cast<std::size_t>(plan.n) + tree.row.size() + 1, 0);
    for (Index f = 0; f < plan.fronts(); ++f)
        if (const Index up = tree.parent[f]; up >= 0)
            for (Offset p = tree.row_ptr[f]; p < tree.row_ptr[f + 1]; ++p) ++to.gather_ptr[row_of(p, up) + 1];
    std::partial_sum(to.gather_ptr.begin(), to.gather_ptr.end(), to.gather_ptr.begin());
    std::vector<Offset> next(to.gather_ptr.begin(), to.gather_ptr.end() - 1);
    to.gather.resize(static_cast<std::size_t>(to.gather_ptr.back()));
    for (Index f = 0; f < plan.fronts(); ++f)
        if (const Index up = tree.parent[f]; up >= 0)
            for (Offset p = tree.row_ptr[f]; p < tree.row_ptr[f + 1]; ++p)
                to.gather[next[row_of(p, up)]++] = static_cast<Index>(p);
}

void lay_out_F(const FrontPlan& plan, const std::vector<Index>& stage_of, bool transposed, FrontSolvePlan& to)
{
    struct Entry {
        Index  stage, row, col;
        Offset entry;
    };
    std::vector<Entry> entries;
    for (Index b = 0; b < plan.blocks(); ++b)
        for (Index c = plan.block_ptr[b]; c < plan.block_ptr[b + 1]; ++c)
            for (Offset p = plan.f_col_ptr[c]; p < plan.f_col_ptr[c + 1]; ++p) {
                const Index row = transposed ? c : plan.f_row[p], col = transposed ? plan.f_row[p] : c;
                const auto  block = std::ranges::upper_bound(plan.block_ptr, row) - plan.block_ptr.begin() - 1;
                entries.push_back({stage_of[block], row, col, p});
            }
    std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::pair(e.stage, e.row); });
    for (const Entry& e : entries) {
        if (to.f_row.empty() || to.f_row.back() != e.row) {
            FrontRange& range = to.stages[e.stage].f;
            if (range.empty()) range.begin = static_cast<Index>(to.f_row.size());
            to.f_row.push_back(e.row);
            to.f_ptr.push_back(static_cast<Offset>(to.f_col.size()));
            range.end = static_cast<Index>(to.f_row.size());
        }
        to.f_col.push_back(e.col);
        to.f_entry.push_back(e.entry);
    }
    to.f_ptr.push_back(static_cast<Offset>(to.f_col.size()));
}

}  // namespace

FrontSolvePlan front_solve_plan(const FrontPlan& plan, const GpuFrontSchedule& schedule, bool transposed)
{
    FrontSolvePlan to;
    const auto     stage_of = stages_of_blocks(plan, transposed);
    sort_fronts_by_stage(plan, schedule, stage_of, to);
    find_sources(plan, to);
    lay_out_F(plan, stage_of, transposed, to);
    return to;
}

}  // namespace ilux
