#include "ilux/lab/model/perf_methods.hpp"

#include <algorithm>

#include "ilux/direct/lu/refactor_choice.hpp"
#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/lab/model/plain_device.hpp"

namespace ilux::test {
namespace {

/// With more multiprocessors than there are blocks.
DeviceParameters roomy_device()
{
    DeviceParameters device = plain_device(1e5);
    device.call = 1e6;
    device.barrier = 1000;
    device.launch = 10;
    return device;
}

TEST(PerfMethods, AskNothingOfColumnsThatTouchNoOther)
{
    const auto             P = dataflow_system("", CsrMatrix<double>::identity(70)).F.pattern;
    const DeviceParameters device = roomy_device();
    EXPECT_DOUBLE_EQ(glu1_seconds(*P, device), 1e6 + 1000);
    EXPECT_DOUBLE_EQ(glu3_seconds(*P, device), 1e6 + 1000);
    EXPECT_DOUBLE_EQ(islu_seconds(*P, device), 1e6 + 1000 + 300);
    const auto none = dataflow_system("", random_dominant(0, 0, 1)).F.pattern;
    for (const MethodPrediction& found : predict_methods(*none, device, 1))
        EXPECT_EQ(found.seconds, found.method == RefactorMethod::cpu ? 0 : 1e6) << static_cast<int>(found.method);
}

TEST(PerfMethods, PayForAHubAsByHand)
{
    // 999 columns of one multiplier, and the last with an update by each of them: two levels.
    const auto P = dataflow_system_as_it_stands("", arrow_down(1000, 3)).F.pattern;
    ASSERT_EQ(P->upper_count(999), 999);
    const DeviceParameters device = roomy_device();
    // islu, whose steps are 2 · 100 + 50, a barrier after each 40: 300 + 100 for quotients; 300, 32 batches of 300, 999
    // steps.
    EXPECT_DOUBLE_EQ(islu_seconds(*P, device), 1e6 + 2 * 1000 + 400 + 300 + 32 * 300 + 999 * (250 + 40));
    // glu1: quotients 300 + 100, one subcolumn of at most 999 entries below: 300, 32 steps; two barriers. The last has
    // no L.
    const double column = 400 + 300 + 32 * 250 + 2 * 40;
    EXPECT_DOUBLE_EQ(glu1_seconds(*P, device), 1e6 + 2 * 1000 + column);
    // glu3: the same in larger blocks; the last column is alone in its level: stream mode, and nothing to do.
    EXPECT_DOUBLE_EQ(glu3_seconds(*P, device), 1e6 + 2 * 1000 + column);
}

TEST(PerfMethods, StreamsTakeThreeLaunchesAColumn)
{
    // 3 ← 0; L(:,0) has one entry, column 3 one below (0, 3).
    const auto P = dataflow_system_as_it_stands("", arrow_down(2, 3)).F.pattern;
    // Divide 300 + 100, subtract 300 + 250, and three launches.
    EXPECT_DOUBLE_EQ(glu3_seconds(*P, roomy_device()), 1e6 + 2 * 1000 + 3 * 10 + 400 + 550);
}

TEST(PerfMethods, TakeAllColumnsTogetherWhereTheyFillTheDevice)
{
    const auto       P = dataflow_system_as_it_stands("", arrow_down(4000, 3)).F.pattern;
    DeviceParameters small = plain_device(1), roomy = plain_device(1e5);
    EXPECT_GT(glu1_seconds(*P, small), 100 * glu1_seconds(*P, roomy));
}

TEST(PerfMethods, AreAllPredicted)
{
    const auto             P = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const DeviceParameters device;
    const auto             all = predict_methods(*P, device, 2);
    ASSERT_EQ(all.size(), names(RefactorMethod{}).size());
    const auto of = [&](RefactorMethod method) {
        return std::ranges::find(all, method, &MethodPrediction::method)->seconds;
    };
    const DataflowPrediction dots = predict_dataflow(*P);
    EXPECT_EQ(of(RefactorMethod::automatic), device.call + dots.waits + dots.work);
    EXPECT_EQ(of(RefactorMethod::cpu), detail::expected_seconds(*P, 2));
    EXPECT_EQ(of(RefactorMethod::left), LeftModel(*P, device).predict(0).seconds);
    EXPECT_EQ(of(RefactorMethod::glu1), glu1_seconds(*P, device));
    EXPECT_EQ(of(RefactorMethod::glu3), glu3_seconds(*P, device));
    EXPECT_EQ(of(RefactorMethod::islu), islu_seconds(*P, device));
}

}  // namespace
}  // namespace ilux::test
