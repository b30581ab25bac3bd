#include "ilux/direct/supernodal_gpu/front_solve_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ilux {
namespace {

/// Of each diagonal block, how many must be solved one after the other before it is.
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

/// Threads of a front: 0: a warp; i: a cluster of 2^(i − 1) blocks.
Index kind_of(Index k, Index m)
{
    if (solved_by_warp(k, m)) return 0;
    constexpr Index pivots_each = 256;
    Index           kind = 1;
    while (kind < FrontSolveGroup::kinds - 1 && (pivots_each << (kind - 1)) < k) ++kind;
    return kind;
}

/// An item for every 32 rows of the fronts of clusters.
template <class Rows>
FrontRange items_of(FrontSolvePlan& to, const FrontSolveGroup& group, Rows&& rows)
{
    FrontRange range{static_cast<Index>(to.item.size()), 0};
    for (int kind = 1; kind < FrontSolveGroup::kinds; ++kind)
        for (Index i = group.by_kind[kind].begin; i < group.by_kind[kind].end; ++i) {
            const Index f = to.front[i], count = (rows(f) + solve_block - 1) / solve_block;
            for (Index part = 0; part < count; ++part) to.item.push_back({f, static_cast<std::uint16_t>(part), 0});
        }
    range.end = static_cast<Index>(to.item.size());
    return range;
}

void sort_fronts_by_stage(const FrontPlan& plan, const GpuFrontSchedule& schedule, const std::vector<Index>& stage_of,
                          FrontSolvePlan& to)
{
    const FrontTree&   tree = plan.tree;
    std::vector<Index> stage(plan.fronts());
    for (Index b = 0; b < plan.blocks(); ++b)
        for (Index f = plan.block_front[b]; f < plan.block_front[b + 1]; ++f) stage[f] = stage_of[b];
    const auto key = [&](Index f) {
        return std::tuple(stage[f], schedule.level[f], kind_of(tree.pivots(f), tree.size(f)));
    };
    to.front.resize(plan.fronts());
    std::iota(to.front.begin(), to.front.end(), 0);
    std::ranges::stable_sort(to.front, {}, key);
    to.stages.resize(stage_of.empty() ? 0 : *std::ranges::max_element(stage_of) + 1);
    Index level = -1, last_stage = -1;
    for (Index i = 0; i < plan.fronts(); ++i) {
        const Index f = to.front[i], kind = kind_of(tree.pivots(f), tree.size(f));
        auto&       groups = to.stages[stage[f]].groups;
        if (stage[f] != last_stage || schedule.level[f] != level) groups.emplace_back();
        last_stage = stage[f];
        level = schedule.level[f];
        auto& range = groups.back().by_kind[kind];
        if (range.empty()) range.begin = i;
        range.end = i + 1;
        to.most_pivots = std::max(to.most_pivots, tree.pivots(f));
        groups.back().pivots[kind] = std::max(groups.back().pivots[kind], tree.pivots(f));
    }
    for (FrontSolveStage& one : to.stages)
        for (FrontSolveGroup& group : one.groups) {
            group.below = items_of(to, group, [&](Index f) { return tree.updates(f); });
            group.above = items_of(to, group, [&](Index f) { return tree.updates(f) > 0 ? tree.pivots(f) : 0; });
        }
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
