#include "ilux/direct/model/perf_methods.hpp"

#include <algorithm>
#include <limits>

#include "ilux/direct/model/refactor_choice.hpp"
#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/model/plain_device.hpp"

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
    // islu, whose steps are 2 · 100 + 50, a barrier after each 40: 300 + 100 for quotients; 300, 32 batches of 300, 999 steps.
    EXPECT_DOUBLE_EQ(islu_seconds(*P, device), 1e6 + 2 * 1000 + 400 + 300 + 32 * 300 + 999 * (250 + 40));
    // glu1: quotients 300 + 100, one subcolumn of at most 999 entries below: 300, 32 steps; two barriers. The last has no L.
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

TEST(PerfMethods, CountLevelsAndWorkOfDotProducts)
{
    using namespace dataflow_rule;
    DeviceParameters   device;
    const auto         diagonal = dataflow_system("", CsrMatrix<double>::identity(70)).F.pattern;
    DataflowPrediction found = predict_dataflow(*diagonal, device);
    EXPECT_DOUBLE_EQ(found.waits, level_seconds);
    EXPECT_DOUBLE_EQ(found.work, 70 / task_entries * task_seconds);
    EXPECT_DOUBLE_EQ(found.seconds, device.call + found.waits + found.work);
    const auto full =
        dataflow_system_as_it_stands("", random_dominant(150, 150, 5)).F.pattern;  // all of it is dense tail
    found = predict_dataflow(*full, device);
    EXPECT_LT(found.waits, 150 * level_seconds);
    EXPECT_DOUBLE_EQ(found.work,
                     (full->multiply_adds() / task_products + double(full->nnz()) / task_entries) * task_seconds);
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
    EXPECT_EQ(of(RefactorMethod::automatic), predict_dataflow(*P, device).seconds);
    EXPECT_EQ(of(RefactorMethod::cpu), detail::expected_seconds(*P, 2));
    EXPECT_EQ(of(RefactorMethod::left), LeftModel(*P, device).predict(0).seconds);
    EXPECT_EQ(of(RefactorMethod::glu1), glu1_seconds(*P, device));
    EXPECT_EQ(of(RefactorMethod::glu3), glu3_seconds(*P, device));
    EXPECT_EQ(of(RefactorMethod::islu), islu_seconds(*P, device));
}

// --- what auto takes -----------------------------------------------------------------------------------------------

constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST(GpuCost, IsOfDotProductsOnACircuit)
{
    const auto    P = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const GpuCost cost = gpu_cost(*P, unlimited);
    EXPECT_EQ(cost.method, RefactorMethod::automatic);
    EXPECT_DOUBLE_EQ(cost.seconds, refactor_rule::transfer_seconds + predict_dataflow(*P, {}).seconds);
    EXPECT_GT(cost.setup, 0);
    EXPECT_GT(cost.bytes, 0);
}

TEST(GpuCost, OfComplexValuesIsAMultipleAndTakesMoreMemory)
{
    const auto    P = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const GpuCost real = gpu_cost(*P, unlimited), complex = gpu_cost<std::complex<double>>(*P, unlimited);
    const double  transfer = refactor_rule::transfer_seconds;
    EXPECT_EQ(complex.method, RefactorMethod::automatic);
    EXPECT_DOUBLE_EQ(complex.seconds - transfer, refactor_rule::complex_by_dot_products * (real.seconds - transfer));
    EXPECT_EQ(complex.setup, real.setup);
    EXPECT_DOUBLE_EQ(complex.bytes - real.bytes, 8. * double(P->nnz() + P->nnz_F()));
}

TEST(GpuCost, IsOfAsManyMultiprocessorsAsTheGpuHas)
{
    const Index     n = 1000;  // enough work that few multiprocessors take longer
    const LuPattern full = pattern_of(Stored(n, std::vector<char>(n, 1)));
    const auto      dot_products = predict_dataflow(full, {.multiprocessors = 7});
    EXPECT_DOUBLE_EQ(dot_products.work, predict_dataflow(full, {}).work * usual_multiprocessors / 7);
    EXPECT_DOUBLE_EQ(gpu_cost(full, unlimited, 7).seconds,
                     refactor_rule::transfer_seconds +
                         std::min(dot_products.seconds, LeftModel(full, {.multiprocessors = 7}).predict(0).seconds));
    EXPECT_GT(gpu_cost(full, unlimited, 7).seconds, gpu_cost(full, unlimited).seconds);
    EXPECT_NE(why_cpu(full, 64, 1e6, unlimited, 1), why_cpu(full, 64, 1e6, unlimited));
}

TEST(GpuCost, OfThePreparationGrowsWithEntriesAndProducts)
{
    using namespace refactor_rule;
    const LuPattern four = pattern_of({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
    EXPECT_DOUBLE_EQ(gpu_cost(four, unlimited).setup, setup_start + 4 * setup_entry);
    const LuPattern full = pattern_of(Stored(4, std::vector<char>(4, 1)));  // 9 + 4 + 1 products
    EXPECT_DOUBLE_EQ(gpu_cost(full, unlimited).setup, setup_start + 16 * setup_entry + 14 * setup_product);
}

TEST(GpuCost, IsOfLeftWhereAProgramWouldTakeTooMuchMemory)
{
    const auto    circuit = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const GpuCost tight = gpu_cost(*circuit, 1000), wide = gpu_cost(*circuit, unlimited);
    EXPECT_EQ(tight.method, RefactorMethod::left);
    EXPECT_DOUBLE_EQ(tight.seconds, refactor_rule::transfer_seconds + LeftModel(*circuit, {}).predict(0).seconds);
    EXPECT_EQ(gpu_cost(*circuit, wide.bytes).method, RefactorMethod::automatic);
    EXPECT_EQ(gpu_cost(*circuit, 0.99 * wide.bytes).method, RefactorMethod::left);
}

}  // namespace
}  // namespace ilux::test
