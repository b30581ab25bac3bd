#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

TEST(GpuLuPattern, ScattersInputsWithTheBitsOfTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : pattern_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&   P = *system.F.pattern;
        const GpuLuPattern pattern(gpu, system.F.pattern);
        ASSERT_EQ(pattern.entries(), entries(P));
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); p += 7) values[p] = -0.0;  // 0 + (−0) is +0
        const auto device = on_device(gpu, values);
        auto       val = on_device(gpu, std::vector<double>(entries(P), nan));
        for (int repeat = 0; repeat < 3; ++repeat) {
            pattern.scatter(gpu, device.data(), val);
            ASSERT_TRUE(identical(on_host(gpu, val), scaled_inputs(P, values))) << "repeat " << repeat;
        }
    }
}

TEST(GpuLuPattern, RefusesTooLittleRoom)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system("random", random_dominant(33, 3, 1));
    const GpuLuPattern   pattern(gpu, system.F.pattern);
    const auto           values = on_device(gpu, system.A.val);
    DeviceBuffer<double> val(pattern.entries() - 1);
    expect_refusal([&] { pattern.scatter(gpu, values.data(), val); }, {std::to_string(pattern.entries())});
}

}  // namespace
}  // namespace ilux::test
