#include "ilux/engine/report/batch_report.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ilux {
namespace {

TEST(BatchCounts, TellHowManyWereApartAndWhyTheFirstWas)
{
    BatchCounts one{.members = 5, .at_once = 2, .together = 5};
    one.note(Alone::stale, 1, "growth");
    one.note(Alone::failed, 2, "a zero pivot");
    one.note(Alone::stale, 4, "more growth");
    const auto told = one.decisions("member");
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[0], "batch: 2 of 5 members at once, up to 5 together");
    EXPECT_EQ(
        told[1],
        "batch: 2 members solved alone, as the former pivots are stale; the first is member 1 (counted from 0): growth");
    EXPECT_EQ(told[2],
              "batch: 1 member solved alone, as the former pivots fail; it is member 2 (counted from 0): a zero pivot");
    EXPECT_TRUE(BatchCounts{}.decisions("member").empty());
}

TEST(BatchCounts, OfSeveralBatchesCountByTheSystemsOfTheSeries)
{
    BatchCounts                all;
    const std::array<Index, 3> first{0, 1, 3}, second{4, 5, 6};  // system 2 could not be read
    BatchCounts                one{.members = 3, .at_once = 3, .together = 3};
    all.add(one, first);
    one = {.members = 3, .at_once = 1, .together = 3};
    one.note(Alone::inaccurate, 0, "x");
    one.note(Alone::inaccurate, 2, "y");
    all.add(one, second);
    all.add(one, second);
    EXPECT_EQ(all.members, 9);
    EXPECT_EQ(all.at_once, 5);
    ASSERT_EQ(all.kinds.size(), 1u);
    EXPECT_EQ(all.kinds[0].count, 4);
    EXPECT_EQ(all.kinds[0].first, 4);
    EXPECT_EQ(all.kinds[0].why, "x");
}

TEST(BatchReport, HasTheOutcomeOfTheFirstMemberThatFailed)
{
    BatchReport report;
    EXPECT_TRUE(report.converged());
    for (const Outcome outcome : {Outcome::converged, Outcome::stagnated, Outcome::singular}) {
        Attempt tried;
        tried.report.outcome = outcome;
        SolverReport one;
        one.attempts.push_back(tried);
        report.members.push_back(one);
    }
    EXPECT_EQ(report.outcome(), Outcome::stagnated);
}

}  // namespace
}  // namespace ilux
