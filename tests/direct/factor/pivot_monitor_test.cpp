#include "ilux/direct/factor/pivot_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

const LuOptions options = {.pivot_tol = 1e-3, .growth_limit = 1e7};

/// Every measure far on the good side; each test spoils one.
PivotMonitor sound()
{
    return {.min_pivot = 0.5,
            .max_pivot = 2,
            .rgrowth = 0.5,
            .growth_column = 1,
            .max_multiplier = 2,
            .multiplier_column = 0};
}

TEST(PivotMonitor, SoundPivotsAndThoseOfNoColumnAreGood)
{
    EXPECT_EQ(judge(sound(), options), PivotState::good);
    EXPECT_EQ(judge({}, options), PivotState::good);
    EXPECT_EQ(PivotMonitor{}.rcond(), 0);
    EXPECT_EQ(sound().rcond(), 0.25);
}

TEST(PivotMonitor, GrowthIsTooLargeJustBeyondItsLimit)
{
    auto m = sound();
    m.rgrowth = 1.0001e-7;
    EXPECT_EQ(judge(m, options), PivotState::good);
    m.rgrowth = 0.9999e-7;
    EXPECT_EQ(judge(m, options), PivotState::large_growth);
    m.rgrowth = nan;
    EXPECT_EQ(judge(m, options), PivotState::large_growth);
}

TEST(PivotMonitor, MultipliersOfThresholdPivotingPassWhateverTheRounding)
{
    auto m = sound();
    for (const double tol : {1e-3, 0.1, 1. / 3, 0.7, 1.})
        for (double x = 1; x < 1.001; x += 1e-5) {
            const LuOptions o = {.pivot_tol = tol};
            m.max_multiplier = x / (tol * x);  // the smallest pivot that |u| ≥ tol |x| admits
            ASSERT_EQ(judge(m, o), PivotState::good) << tol << ' ' << x;
            m.max_multiplier = x / (tol * x * (1 - 1e-13));
            ASSERT_EQ(judge(m, o), PivotState::large_multiplier) << tol << ' ' << x;
        }
}

TEST(PivotMonitor, NoMultiplierIsTooLargeWhereEveryPivotIsAllowed)
{
    auto m = sound();
    m.max_multiplier = 1e300;
    EXPECT_EQ(judge(m, {.pivot_tol = 0}), PivotState::good);
    m.max_multiplier = nan;
    EXPECT_EQ(judge(m, {.pivot_tol = 0}), PivotState::large_multiplier);
}

TEST(PivotMonitor, TheGravestFindingIsReported)
{
    auto m = sound();
    m.max_multiplier = 1e9;
    EXPECT_EQ(judge(m, options), PivotState::large_multiplier);
    m.rgrowth = 1e-9;
    EXPECT_EQ(judge(m, options), PivotState::large_growth);
    m.bad_column = 0;
    EXPECT_EQ(judge(m, options), PivotState::zero_pivot);
    m.not_finite = true;
    EXPECT_EQ(judge(m, options), PivotState::not_finite);
}

TEST(PivotMonitor, EveryStateHasItsOwnName)
{
    std::set<std::string_view> names;
    for (const auto state : {PivotState::good, PivotState::large_growth, PivotState::large_multiplier,
                             PivotState::zero_pivot, PivotState::not_finite})
        names.insert(name(state));
    EXPECT_EQ(names.size(), 5);
    EXPECT_EQ(name(PivotState::zero_pivot), "zero_pivot");
}

}  // namespace
}  // namespace ilux::test
