#include "ilux/direct/factor/subtrees.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ilux::detail {
namespace {

/// Edges {0,2} {1,2} {2,5} {3,4} {4,5}: two subtrees under 5; 6 stands alone.
std::vector<Index> small_forest()
{
    ForestBuilder forest(7);
    forest.join(0, 2), forest.join(1, 2), forest.join(3, 4), forest.join(2, 5), forest.join(4, 5);
    return std::move(forest).parent();
}

TEST(Subtrees, ParentsAreThoseOfTheEliminationTree)
{
    EXPECT_EQ(small_forest(), (std::vector<Index>{2, 2, 5, 4, 5, 7, 7}));
    ForestBuilder fills(4);  // eliminating 0 joins 1, 2 and 3
    fills.join(0, 1), fills.join(0, 2), fills.join(0, 3);
    EXPECT_EQ(std::move(fills).parent(), (std::vector<Index>{1, 2, 3, 4}));
    EXPECT_EQ(ForestBuilder(0).parent().size(), 0);
}

TEST(Subtrees, WorkOfASubtreeIsThatOfAllItsColumns)
{
    EXPECT_EQ(subtree_work(small_forest(), {1, 2, 3, 4, 5, 6, 7}), (std::vector<double>{1, 2, 6, 4, 9, 21, 7}));
}

TEST(Subtrees, TasksAreWholeSubtreesTheLargestFirst)
{
    const auto parent = small_forest();
    const auto work = subtree_work(parent, {1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(cut_subtrees(parent, work, 9), (std::vector<Index>{2, 2, 2, 0, 0, -1, 1}));
    EXPECT_EQ(cut_subtrees(parent, work, 100), (std::vector<Index>(7, 0)));
    EXPECT_EQ(cut_subtrees(parent, work, 0), (std::vector<Index>(7, -1)));
    const auto tasks = list_tasks(cut_subtrees(parent, work, 9));
    EXPECT_EQ(tasks.column, (std::vector<Index>{3, 4, 6, 0, 1, 2}));
    EXPECT_EQ(tasks.ptr, (std::vector<Index>{0, 2, 3, 6}));
    EXPECT_EQ(list_tasks({}).ptr, (std::vector<Index>{0}));
}

}  // namespace
}  // namespace ilux::detail
