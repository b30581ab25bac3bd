#include "ilux/precond/coarse_steps/roots.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux {
namespace {

Ties<> ties_of(const CsrMatrix<double>& A)
{
    Cpu    be(1);
    Ties<> ties{.there = magnitudes<double>(be, A), .back = {}};
    ties.back = adjoint<double>(be, ties.there);
    return ties;
}

/// Every node is within `distance` ties of the root of its group: an obvious search.
TEST(Roots, EveryNodeIsNearItsRoot)
{
    const auto A = gallery::poisson2d(23, 17);
    const auto ties = ties_of(A);
    for (const int distance : {1, 2}) {
        Cpu        be(2);
        const auto groups = around_roots(be, ties, distance, false);
        ASSERT_GT(groups.count(), 1);
        EXPECT_GE(*std::ranges::min_element(groups.of), 0);
        for (Index g = 0; g < groups.count(); ++g) {
            const auto members = groups.members(g);
            EXPECT_TRUE(std::ranges::any_of(members, [&](Index root) {
                return std::ranges::all_of(members, [&](Index i) {
                    const Index rows = std::abs(i / 23 - root / 23), cols = std::abs(i % 23 - root % 23);
                    return rows + cols <= distance;
                });
            })) << g;
        }
    }
}

TEST(Roots, AnUntiedNodeIsAloneOrInNoGroup)
{
    const auto ties = ties_of(CsrMatrix<double>::identity(5));
    Cpu        be(1);
    EXPECT_EQ(around_roots(be, ties, 2, true).count(), 5);
    EXPECT_EQ(around_roots(be, ties, 2, false).count(), 0);
    EXPECT_EQ(around_roots(be, ties_of(CsrMatrix<double>::identity(0)), 2, true).count(), 0);
}

/// A tie in one direction counts in both.
TEST(Roots, ATieInOneDirectionTies)
{
    test::EntryList entries;
    entries.add(0, 1, 1);
    const auto A = entries.matrix(2, 2);
    Cpu        be(1);
    EXPECT_EQ(around_roots(be, ties_of(A), 1, false).of, (std::vector<Index>{0, 0}));
}

}  // namespace
}  // namespace ilux
