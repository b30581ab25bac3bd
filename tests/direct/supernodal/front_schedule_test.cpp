#include "ilux/direct/supernodal/front_schedule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ilux/tests/direct/supernodal/front_systems.hpp"

namespace ilux {
namespace {

std::shared_ptr<const FrontSchedule> schedule_of(const CsrMatrix<>& A)
{
    Cpu be(1);
    return make_front_schedule(make_front_plan(be, *analyse(view<double>(A))));
}

/// How often the tasks work on each front: once as a part of subtrees or whole, or with its own steps.
std::vector<int> visits(const FrontSchedule& schedule)
{
    std::vector<int> count(schedule.plan->fronts());
    for (const FrontTask& task : schedule.tasks) {
        const bool alone = task.kind == FrontTask::Kind::whole || task.kind == FrontTask::Kind::begin;
        if (!alone && task.kind != FrontTask::Kind::subtrees) continue;
        for (Index f = alone ? task.front : task.block; f <= task.front; ++f) ++count[f];
    }
    return count;
}

TEST(FrontSchedule, WorksOnEveryFrontOnce)
{
    auto systems = test::front_systems();
    systems.push_back(gallery::convdiff2d({.n = 120}));
    systems.push_back(gallery::convdiff3d({.n = 18}));
    for (const auto& A : systems) {
        SCOPED_TRACE("n " + std::to_string(A.rows()));
        const auto schedule = schedule_of(A);
        EXPECT_EQ(visits(*schedule), std::vector<int>(schedule->plan->fronts(), 1));
        EXPECT_EQ(schedule->tasks.size(), static_cast<std::size_t>(schedule->graph.tasks()));
        const FrontTree& tree = schedule->plan->tree;
        for (const FrontTask& task : schedule->tasks) {
            if (task.kind != FrontTask::Kind::subtrees) continue;
            for (Index f = task.block; f <= task.front; ++f)  // whole subtrees: no front below is another task's
                for (const Index child : tree.children(f)) EXPECT_GE(child, task.block);
        }
    }
}

TEST(FrontSchedule, ManySmallBlocksMakeFewTasks)
{
    const auto one = schedule_of(CsrMatrix<>::identity(20000));
    EXPECT_EQ(one->plan->fronts(), 20000);
    EXPECT_LE(one->tasks.size(), 30u);  // of 10⁶ multiply-adds each, a front's own cost included
    EXPECT_GE(one->tasks.size(), 5u);
    EXPECT_EQ(visits(*one), std::vector<int>(20000, 1));
}

TEST(FrontSchedule, OfALargeFrontCutsItIntoBlocksThatCoverItsColumns)
{
    const auto  schedule = schedule_of(test::random_matrix(700, 0.5, 3));
    const Index last = schedule->plan->fronts() - 1, m = schedule->plan->tree.size(last);
    ASSERT_GT(m, 500);
    Index next = 0;
    for (Index block = 0; block < schedule->blocks(last); ++block) {
        const auto [first, end] = schedule->columns(last, block);
        EXPECT_EQ(first, next);
        EXPECT_GT(end, first);
        next = end;
    }
    EXPECT_EQ(next, m);
    EXPECT_GT(schedule->graph.cost() / schedule->graph.longest_path(), 1.5);
}

}  // namespace
}  // namespace ilux
