// Oracle: a clock that says what it is told.

#include "ilux/solver/calibration/calibration.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ilux {
namespace {

/// Seconds that probes are said to take; they are not run.
ProbeClock saying(const std::map<std::string, double, std::less<>>& seconds, double otherwise)
{
    return [=](std::string_view probe, const std::function<void()>&) {
        const auto found = seconds.find(probe);
        return found == seconds.end() ? otherwise : found->second;
    };
}

TEST(Calibration, ScalesTheRatesOfEachEngineByItsOwnProbe)
{
    const Rates all = calibrated(saying({}, 1)), slower = calibrated(saying({{"LU by fronts", 2}, {"order", 3}}, 1));
    EXPECT_DOUBLE_EQ(slower.front_flop, 2 * all.front_flop);
    EXPECT_DOUBLE_EQ(slower.front_number, 2 * all.front_number);
    EXPECT_DOUBLE_EQ(slower.front_solve, 2 * all.front_solve);
    EXPECT_DOUBLE_EQ(slower.order_arc, 3 * all.order_arc);
    EXPECT_DOUBLE_EQ(slower.entry_flop, all.entry_flop);
    EXPECT_DOUBLE_EQ(slower.crout_entry, all.crout_entry);
    EXPECT_DOUBLE_EQ(slower.rounds_entry, all.rounds_entry);
    EXPECT_DOUBLE_EQ(slower.step_number, all.step_number);
    EXPECT_DOUBLE_EQ(slower.gpu_front_flop, Rates().gpu_front_flop) << "there is no GPU";
    const Rates twice = calibrated(saying({}, 2));
    EXPECT_DOUBLE_EQ(twice.entry_flop, 2 * all.entry_flop);
    EXPECT_DOUBLE_EQ(twice.crout_entry, 2 * all.crout_entry);
    EXPECT_DOUBLE_EQ(twice.iteration_entry, 2 * all.iteration_entry);
    EXPECT_EQ(all.origin, "of a calibration");
}

TEST(Calibration, OfThisMachineIsWithinReason)
{
    const Rates rates = calibrated(wall_clock_of_three()), built_in;
    const auto  expect_near = [](double rate, double usual) {  // of sanitizers and slow machines, too
        EXPECT_GT(rate, usual / 50);
        EXPECT_LT(rate, usual * 1000);
    };
    expect_near(rates.entry_flop, built_in.entry_flop);
    expect_near(rates.front_flop, built_in.front_flop);
    expect_near(rates.order_arc, built_in.order_arc);
    expect_near(rates.crout_entry, built_in.crout_entry);
    expect_near(rates.rounds_entry, built_in.rounds_entry);
    expect_near(rates.step_number, built_in.step_number);
}

}  // namespace
}  // namespace ilux
