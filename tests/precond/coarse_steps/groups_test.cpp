#include "ilux/precond/coarse_steps/groups.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"

namespace ilux {
namespace {

TEST(Groups, HoldTheirMembersInOrder)
{
    Cpu        be(1);
    const auto groups = grouped(be, {2, -1, 0, 2, 0}, 3);
    EXPECT_EQ(groups.size(), 5);
    EXPECT_EQ(groups.count(), 3);
    EXPECT_FALSE(groups.alone());
    EXPECT_EQ(groups.begin, (std::vector<Offset>{0, 2, 2, 4}));
    EXPECT_EQ(groups.member, (std::vector<Index>{2, 4, 0, 3}));
    EXPECT_EQ(groups.members(2)[1], 3);
    EXPECT_TRUE(grouped(be, {0, 1, 2}, 3).alone());
    EXPECT_EQ(grouped(be, {}, 0).count(), 0);
}

TEST(Groups, OfGroupsAreGroups)
{
    Cpu        be(1);
    const auto nodes = grouped(be, {0, 0, 1, 1, 2, -1}, 3), parts = grouped(be, {1, -1, 0}, 2);
    EXPECT_EQ(composed(be, nodes, parts).of, (std::vector<Index>{1, 1, -1, -1, 0, -1}));
}

TEST(Groups, HaveAnIndicator)
{
    Cpu        be(1);
    const auto G = indicator(be, grouped(be, {1, -1, 0}, 2));
    EXPECT_EQ(G.rows(), 3);
    EXPECT_EQ(G.cols(), 2);
    EXPECT_EQ(G.nnz(), 2);
    EXPECT_EQ(G.at(0, 1), 1);
    EXPECT_EQ(G.at(2, 0), 1);
}

}  // namespace
}  // namespace ilux
