#include "ilux/lab/model/measure_device.hpp"

#include <chrono>
#include <cmath>

#include "ilux/direct/published/refactor_left.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

TEST(GpuDeviceParameters, AreMeasuredInTwoSecondsAndAgainTheSame)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto warm = measure_device(gpu);  // modules are loaded
    const auto begin = std::chrono::steady_clock::now();
    const auto p = measure_device(gpu);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 2);
    const auto agree = [](double a, double b, const char* name) { EXPECT_LT(std::abs(std::log(a / b)), 0.4) << name; };
    agree(p.clock, warm.clock, "clock");
    agree(p.bandwidth, warm.bandwidth, "bandwidth");
    agree(p.cache_bandwidth, warm.cache_bandwidth, "cache_bandwidth");
    agree(p.comp_cycle, warm.comp_cycle, "comp_cycle");
    agree(p.flag, warm.flag, "flag");
    agree(p.launch, warm.launch, "launch");
    agree(p.barrier, warm.barrier, "barrier");
    for (std::size_t t = 0; t < p.transactions.size(); ++t) {
        agree(p.cache_cycle[t], warm.cache_cycle[t], "cache_cycle");
        agree(p.global_cycle[t], warm.global_cycle[t], "global_cycle");
    }
}

TEST(GpuDeviceParameters, AreOfAGpu)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto p = measure_device(gpu);
    EXPECT_NO_THROW(require_sensible(p));
    EXPECT_EQ(p.resident_warps * p.multiprocessors, LeftRefactor<>::resident_warps(gpu));
    EXPECT_GT(p.clock, 0.3e9);
    EXPECT_LT(p.clock, 4e9);
    EXPECT_GT(p.cache_bandwidth, p.bandwidth);
    EXPECT_GT(p.flag, 0.1e-6);
    EXPECT_LT(p.flag, 5e-6);
    EXPECT_GE(p.barrier, 0.9 * p.launch);
    EXPECT_GT(p.call, p.launch);
    EXPECT_GE(p.cache_cycle.back(), p.cache_cycle.front());
    for (std::size_t t = 0; t < p.transactions.size(); ++t) {
        EXPECT_GT(p.cache_cycle[t], 50);
        EXPECT_GT(p.global_cycle[t], 1.2 * p.cache_cycle[t]) << p.transactions[t] << " transactions";
        EXPECT_LT(p.miss.front()[t], 0.15) << p.transactions[t] << " transactions";
        EXPECT_GT(p.miss.back()[t], 0.5) << p.transactions[t] << " transactions";
    }
}

}  // namespace
}  // namespace ilux::test
