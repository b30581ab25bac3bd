#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

template <class S>
class GpuLuPatternOf : public testing::Test {};
TYPED_TEST_SUITE(GpuLuPatternOf, BothScalars, ScalarName);

TYPED_TEST(GpuLuPatternOf, ScattersInputsWithTheBitsOfTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(pattern_systems())) {
        SCOPED_TRACE(system.name);
        const LuPattern&   P = *system.F.pattern;
        const GpuLuPattern pattern(gpu, system.F.pattern);
        ASSERT_EQ(pattern.entries(), entries(P));
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); p += 7) values[p] = -0.0;  // 0 + (−0) is +0
        const auto device = on_device<S>(gpu, values);
        auto       val = on_device<S>(gpu, std::vector<S>(entries(P), nan));
        for (int repeat = 0; repeat < 3; ++repeat) {
            pattern.scatter<S>(gpu, device.data(), val);
            ASSERT_TRUE(same_numbers(on_host(gpu, val), scaled_inputs<S>(P, values))) << "repeat " << repeat;
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
