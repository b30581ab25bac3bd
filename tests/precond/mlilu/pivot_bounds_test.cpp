#include "ilux/precond/mlilu/pivot_bounds.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ilux/precond/mlilu/dense_level.hpp"

namespace ilux {
namespace {

using Relief = PivotBounds::Relief;

constexpr double huge = std::numeric_limits<double>::max();
constexpr Index  large = DenseLevel<>::largest + 1;  // too large to go dense

/// A sweep, what relax() answers to it, and the bounds it leaves.
struct Line {
    SweepCounts sweep;
    Relief      relief;
    double      kappa, gamma;
    Index       depth;
};

void expect(PivotBounds bounds, const std::vector<Line>& table)
{
    for (std::size_t s = 0; s < table.size(); ++s) {
        const Line& line = table[s];
        EXPECT_EQ(bounds.relax(line.sweep), line.relief) << "line " << s;
        EXPECT_EQ(bounds.kappa(), line.kappa) << "line " << s;
        EXPECT_EQ(bounds.gamma(), line.gamma) << "line " << s;
        EXPECT_EQ(bounds.depth(), line.depth) << "line " << s;
    }
}

TEST(PivotBounds, StandUnlessMoreThanThreeQuartersArePostponed)
{
    expect({5, 2, 0}, {{{.n = 0}, Relief::none, 5, 2, 0},
                       {{.n = 100, .accepted = 100}, Relief::none, 5, 2, 0},
                       {{.n = 100, .accepted = 25, .postponed = 75}, Relief::none, 5, 2, 0},
                       {{.n = 100, .accepted = 24, .postponed = 76}, Relief::pivots, 10, 4, 0}});
}

TEST(PivotBounds, AreDoubledFourTimesALevelAndStayRaised)
{
    const SweepCounts stalled{.n = 100, .accepted = 1, .postponed = 99}, good{.n = 99, .accepted = 99};
    expect({5, 2, 0}, {{stalled, Relief::pivots, 10, 4, 0},
                       {stalled, Relief::pivots, 20, 8, 0},
                       {stalled, Relief::pivots, 40, 16, 0},
                       {stalled, Relief::pivots, 80, 32, 0},
                       {stalled, Relief::none, 80, 32, 0},  // the level ends
                       {good, Relief::none, 80, 32, 0},
                       {stalled, Relief::pivots, 160, 64, 0},
                       {good, Relief::none, 160, 64, 0}});
}

TEST(PivotBounds, LeaveAGrowthBoundOff)
{
    const SweepCounts stalled{.n = 4, .postponed = 4};
    expect({3, 0, 0}, {{stalled, Relief::pivots, 6, 0, 0}, {stalled, Relief::pivots, 12, 0, 0}});
}

TEST(PivotBounds, DoubleTheDepthBoundAloneWhereChainsAreMostOfTheReason)
{
    const SweepCounts deep{.n = 100, .accepted = 10, .postponed = 90, .too_deep = 46};
    const SweepCounts half{.n = 100, .accepted = 10, .postponed = 90, .too_deep = 45};
    const SweepCounts good{.n = 100, .accepted = 50, .postponed = 50, .too_deep = 50};
    expect({5, 2, 8}, {{good, Relief::none, 5, 2, 8},
                       {deep, Relief::depth, 5, 2, 16},
                       {half, Relief::pivots, 10, 4, 16},
                       {deep, Relief::depth, 10, 4, 32},
                       {good, Relief::none, 10, 4, 32}});
}

TEST(PivotBounds, AreLiftedForALargeLevelThatAcceptsNothingAndComeBackBehindIt)
{
    const SweepCounts nothing{.n = large, .postponed = large};
    const SweepCounts deep{.n = large, .postponed = large, .too_deep = large};
    const SweepCounts good{.n = large, .accepted = large};
    for (const auto& last : {good, nothing})
        expect({5, 2, 1}, {{nothing, Relief::pivots, 10, 4, 1},
                           {nothing, Relief::pivots, 20, 8, 1},
                           {nothing, Relief::pivots, 40, 16, 1},
                           {nothing, Relief::pivots, 80, 32, 1},
                           {nothing, Relief::all, huge, 0, 1},
                           {deep, Relief::depth, huge, 0, 2},
                           {last, Relief::none, 5, 2, 2},
                           {nothing, Relief::pivots, 10, 4, 2}});  // of the next level, from the start
}

TEST(PivotBounds, AreNotLiftedWhereALevelCanGoDenseOrAcceptsARow)
{
    for (const auto& stalled : {SweepCounts{.n = large - 1, .postponed = large - 1},
                                SweepCounts{.n = large, .accepted = 1, .postponed = large - 1}})
        expect({5, 2, 0}, {{stalled, Relief::pivots, 10, 4, 0},
                           {stalled, Relief::pivots, 20, 8, 0},
                           {stalled, Relief::pivots, 40, 16, 0},
                           {stalled, Relief::pivots, 80, 32, 0},
                           {stalled, Relief::none, 80, 32, 0}});
}

}  // namespace
}  // namespace ilux
