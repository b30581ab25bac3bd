#include "ilux/direct/supernodal_gpu/gpu_front_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_plan.hpp"
#include "ilux/tests/direct/supernodal/front_systems.hpp"

namespace ilux {
namespace {

std::vector<std::shared_ptr<const FrontPlan>> plans()
{
    Cpu                                           be(1);
    std::vector<std::shared_ptr<const FrontPlan>> all;
    for (const auto& A : test::front_systems()) all.push_back(make_front_plan(be, *analyse(view<double>(A))));
    all.push_back(make_front_plan(be, *analyse(view<double>(gallery::convdiff3d({.n = 12})))));
    all.push_back(make_front_plan(be, *analyse(view<double>(test::random_matrix(300, 1, 1)))));
    return all;
}

/// A front of so many pivots, and nothing else.
std::shared_ptr<const FrontPlan> one_front(Index pivots)
{
    auto plan = std::make_shared<FrontPlan>();
    plan->n = plan->largest_front = pivots;
    plan->tree.pivot_ptr = {0, pivots};
    plan->tree.row_ptr = {0, 0};
    plan->tree.parent = {-1};
    plan->block_ptr = {0, pivots};
    plan->block_front = {0, 1};
    plan->f_col_ptr.assign(static_cast<std::size_t>(pivots) + 1, 0);
    return plan;
}

TEST(FrontLevels, EveryFrontIsDoneOnceAndAfterItsChildren)
{
    for (const auto& plan : plans()) {
        const FrontTree& tree = plan->tree;
        const auto       s = gpu_front_schedule(*plan, {});
        for (Index f = 0; f < tree.fronts(); ++f)
            if (tree.parent[f] >= 0) {
                EXPECT_LT(s.level[f], s.level[tree.parent[f]]);
            }
        std::vector<Index> all = s.small;
        all.insert(all.end(), s.large.begin(), s.large.end());
        std::ranges::sort(all);
        ASSERT_EQ(std::ssize(all), tree.fronts());
        for (Index f = 0; f < tree.fronts(); ++f) EXPECT_EQ(all[f], f);
    }
}

TEST(FrontLevels, WhatIsLeftOfFrontsOverlapsNowhereWhileItIsNeeded)
{
    for (const auto& plan : plans()) {
        const FrontTree& tree = plan->tree;
        const auto       s = gpu_front_schedule(*plan, {});
        for (Index f = 0; f < tree.fronts(); ++f)
            for (Index g = 0; g < f; ++g) {
                if (tree.parent[f] < 0 || tree.parent[g] < 0) continue;
                const Offset a = s.rest_ptr[f], b = s.rest_ptr[g];
                const Offset a_end = a + Offset{tree.updates(f)} * tree.updates(f),
                             b_end = b + Offset{tree.updates(g)} * tree.updates(g);
                EXPECT_LE(std::max(a_end, b_end), s.rests);
                const bool together = s.level[f] <= s.level[tree.parent[g]] && s.level[g] <= s.level[tree.parent[f]];
                EXPECT_TRUE(!together || a_end <= b || b_end <= a || a == a_end || b == b_end);
            }
    }
}

TEST(FrontLevels, TilesOfEveryPanelCoverWhatItUpdatesOnce)
{
    for (const auto& plan : plans()) {
        const FrontTree&   tree = plan->tree;
        const FrontClasses classes{.limits = {}, .panel = 32};
        const auto         s = gpu_front_schedule(*plan, classes);
        double             updated = 0, expected = 0;
        for (const FrontLevel& level : s.levels)
            for (const PanelStep& step : level.steps)
                for (Index i = step.update.begin; i < step.update.end; ++i) {
                    const FrontItem item = s.update[i];
                    const Index     k = tree.pivots(item.front), m = tree.size(item.front),
                                from = std::min(k, (step.panel + 1) * 32);
                    const auto length = [&](Index number) {
                        const Index of_pivots = (k - from + front_tile - 1) / front_tile;
                        const Index begin =
                            number < of_pivots ? from + number * front_tile : k + (number - of_pivots) * front_tile;
                        return std::min(begin + front_tile, number < of_pivots ? k : m) - begin;
                    };
                    updated += double(length(item.row)) * length(item.col);
                }
        for (Index f = 0; f < tree.fronts(); ++f)
            for (Index done = 0; done < tree.pivots(f); done += 32) {
                const double left = tree.size(f) - std::min(tree.pivots(f), done + 32);
                expected += left * left;
            }
        EXPECT_EQ(updated, expected);
    }
}

TEST(FrontSolvePlan, ChildrenLeaveTheirRowsWhereTheParentHasThem)
{
    for (const auto& plan : plans()) {
        const FrontTree& tree = plan->tree;
        const auto       schedule = gpu_front_schedule(*plan, {});
        for (const bool transposed : {false, true}) {
            const auto        s = front_solve_plan(*plan, schedule, transposed);
            std::vector<char> seen(tree.row.size(), 0);
            for (Index f = 0; f < tree.fronts(); ++f)
                for (Index i = 0; i < tree.size(f); ++i) {
                    const Index row =
                        i < tree.pivots(f) ? tree.pivot_ptr[f] + i : tree.row[tree.row_ptr[f] + i - tree.pivots(f)];
                    const Offset at = tree.pivot_ptr[f] + tree.row_ptr[f] + i;
                    for (Offset p = s.gather_ptr[at]; p < s.gather_ptr[at + 1]; ++p) {
                        EXPECT_EQ(tree.row[s.gather[p]], row);
                        seen[s.gather[p]] = 1;
                    }
                }
            EXPECT_TRUE(std::ranges::all_of(seen, [](char one) { return one == 1; }));
        }
    }
}

/// How often the items of a plan have each front, and each of its tiles.
struct SolveItems {
    std::vector<std::vector<char>> solved;
    std::vector<Index>             later, earlier, updates, above;

    SolveItems(const FrontTree& tree, const FrontSolvePlan& s) : solved(tree.fronts())
    {
        constexpr Index each = solve_block / solve_tile;
        for (auto* counts : {&later, &earlier, &updates, &above}) counts->assign(tree.fronts(), 0);
        for (Index f = 0; f < tree.fronts(); ++f) solved[f].assign(tiles(tree.pivots(f)), 0);
        const auto visit = [&](FrontRange range, std::vector<Index>& count, auto&& holds) {
            for (Index i = range.begin; i < range.end; ++i) {
                EXPECT_TRUE(holds(s.item[i].row / each, s.item[i].col));
                ++count[s.item[i].front];
            }
        };
        for (const FrontSolveStage& stage : s.stages)
            for (const FrontSolveGroup& group : stage.groups) {
                for (Index i = group.small.begin; i < group.small.end; ++i) ++solved[s.front[i]][0];
                for (const FrontSolveStep& step : group.steps) {
                    EXPECT_EQ(step.pivots.end, step.later.begin);
                    for (Index i = step.pivots.begin; i < step.pivots.end; ++i) {
                        EXPECT_EQ(s.item[i].row / each, s.item[i].col);
                        ++solved[s.item[i].front][s.item[i].row];
                    }
                    visit(step.later, later, std::greater<Index>());
                    visit(step.earlier, earlier, std::less<Index>());
                }
                const auto any = [](Index, Index) { return true; };
                visit(group.updates, updates, any);
                visit(group.above, above, any);
            }
    }
    static Index tiles(Index rows) { return (rows + solve_tile - 1) / solve_tile; }
};

/// Every tile of pivots is multiplied once, and takes once from each block before it, forward, and from each after it,
/// backward.
TEST(FrontSolvePlan, BlocksTakeFromEachOtherOnce)
{
    auto all = plans();
    for (const Index k : {solve_block, solve_block + 1, 3 * solve_block + 33}) all.push_back(one_front(k));
    constexpr Index each = solve_block / solve_tile;
    for (const auto& plan : all) {
        const FrontTree& tree = plan->tree;
        const SolveItems items(tree, front_solve_plan(*plan, gpu_front_schedule(*plan, {}), false));
        for (Index f = 0; f < tree.fronts(); ++f) {
            EXPECT_TRUE(std::ranges::all_of(items.solved[f], [](char one) { return one == 1; })) << f;
            const bool  by_warp = solved_by_warp(tree.pivots(f), tree.size(f));
            const Index count = SolveItems::tiles(tree.pivots(f)), blocks = (count + each - 1) / each;
            EXPECT_EQ(items.updates[f], by_warp ? 0 : SolveItems::tiles(tree.updates(f)));
            EXPECT_EQ(items.above[f], by_warp || tree.updates(f) == 0 ? 0 : count);
            Index before = 0, after = 0;
            for (Index tile = 0; tile < count; ++tile) before += tile / each, after += blocks - 1 - tile / each;
            EXPECT_EQ(items.later[f], before);
            EXPECT_EQ(items.earlier[f], after);
        }
    }
}

TEST(FrontSolvePlan, CountsNumbersOfInvertedBlocks)
{
    EXPECT_EQ(inverse_numbers(0), 0);
    EXPECT_EQ(inverse_numbers(33), 33 * 33);
    EXPECT_EQ(inverse_numbers(solve_block), Offset{solve_block} * solve_block);
    EXPECT_EQ(inverse_numbers(2 * solve_block + 3), 2 * Offset{solve_block} * solve_block + 9);
}

TEST(FrontLevels, RefusesFrontsThatNoClusterHolds)
{
    EXPECT_THROW(gpu_front_schedule(*one_front(8193), {}), InvalidInput);
}

}  // namespace
}  // namespace ilux
