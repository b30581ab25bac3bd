#include "ilux/direct/dataflow/gpu_dataflow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/complex_systems.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

template <class S>
class GpuDataflowOf : public testing::Test {};
TYPED_TEST_SUITE(GpuDataflowOf, BothScalars, ScalarName);

/// A program on the device, its input, and what the serial twin says.
template <class S>
struct DataflowOnDevice {
    DataflowOnDevice(Gpu& gpu, const DataflowProgram& program, std::span<const S> values,
                     const detail::DataflowTrial& trial = {})
        : dataflow(gpu, program, {}, {}, trial),
          input(values.size()),
          v(dataflow.template workspace<S>(gpu)),
          expected(program.slots())
    {
        upload<S>(gpu, values, input);
        run_serial<S>(program, values, nullptr, expected);
    }
    std::vector<S> run(Gpu& gpu)
    {
        dataflow.run(gpu, input.data(), nullptr, v, nullptr);
        std::vector<S> found(v.size());
        download<S>(gpu, v, found);
        found.resize(dataflow.slots());
        return found;
    }

    GpuDataflow     dataflow;
    DeviceBuffer<S> input, v;
    std::vector<S>  expected;
};

TYPED_TEST(GpuDataflowOf, HaveTheBitsOfTheirSerialTwinEveryTime)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(dataflow_systems())) {
        SCOPED_TRACE(system.name);
        DataflowOnDevice<S> device(gpu, factor_dataflow(*system.F.pattern), system.A.val);
        for (int repeat = 0; repeat < repeats(); ++repeat)
            ASSERT_TRUE(same_numbers(device.run(gpu), device.expected)) << "repeat " << repeat;
    }
}

/// From as many warps as fit to one block a multiprocessor.
TYPED_TEST(GpuDataflowOf, HaveThoseBitsWhereWarpsAreLateAndFew)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(dataflow_systems()))
        for (const auto& trial :
             std::initializer_list<detail::DataflowTrial>{{.delay = 500},
                                                          {.delay = 500, .shared_bytes = 60'000},
                                                          {.shared_bytes = 200'000},
                                                          {.delay = 5000, .shared_bytes = 200'000}}) {
            SCOPED_TRACE(system.name + ", delay " + std::to_string(trial.delay) + ", " +
                         std::to_string(trial.shared_bytes));
            DataflowOnDevice<S> device(gpu, factor_dataflow(*system.F.pattern), system.A.val, trial);
            for (int repeat = 0; repeat < repeats(20); ++repeat)
                ASSERT_TRUE(same_numbers(device.run(gpu), device.expected)) << "repeat " << repeat;
        }
}

TYPED_TEST(GpuDataflowOf, SolveWithFactorsOfTheDevice)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(dataflow_systems())) {
        SCOPED_TRACE(system.name);
        const LuPattern&      P = *system.F.pattern;
        const DataflowProgram factor = factor_dataflow(P);
        DataflowOnDevice<S>   factors(gpu, factor, system.A.val);
        factors.run(gpu);
        const auto b = random_numbers<S>(P.n, 3);
        for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
            const SolveDataflow solve = solve_dataflow(P, factor, transpose);
            const GpuDataflow   dataflow(gpu, solve.dataflow, solve.out_index, solve.out_scale);
            auto                v = dataflow.template workspace<S>(gpu);
            DeviceBuffer<S>     rhs(b.size()), x(b.size());
            upload<S>(gpu, b, rhs);
            for (int repeat = 0; repeat < 20; ++repeat) {
                dataflow.run(gpu, rhs.data(), factors.v.data(), v, x.data());
                std::vector<S> found(b.size()), expected(b.size()), slots(solve.dataflow.slots());
                download<S>(gpu, x, found);
                run_serial<S>(solve.dataflow, b, factors.expected.data(), slots);
                for (std::size_t s = 0; s < slots.size(); ++s)
                    if (solve.out_index[s] >= 0) expected[solve.out_index[s]] = solve.out_scale[s] * slots[s];
                ASSERT_TRUE(same_numbers(found, expected)) << "repeat " << repeat;
            }
        }
    }
}

/// Zero pivots, overflow, NaN and Inf run through to the end and come out as the serial twin has them.
TYPED_TEST(GpuDataflowOf, EndWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu                   gpu;
    const SystemOf<S>     system = system_of<S>(dataflow_system("circuit", gallery::mna_random({.n = 200})));
    const DataflowProgram program = factor_dataflow(*system.F.pattern);
    for (const double bad :
         {0.0, 1e300, 1e-320, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        SCOPED_TRACE(bad);
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); p += 3) values[p] = bad;
        DataflowOnDevice<S> device(gpu, program, values);
        const auto          found = device.run(gpu);
        for (const auto slot : program.slot_of) {
            const std::span<const S> one(&found[slot], 1), expected(&device.expected[slot], 1);
            for (std::size_t part = 0; part < parts_of(one).size(); ++part)
                if (const double x = parts_of(expected)[part]; !std::isnan(x)) {
                    ASSERT_EQ(parts_of(one)[part], x) << "slot " << slot;
                } else {
                    ASSERT_TRUE(std::isnan(parts_of(one)[part])) << "slot " << slot;
                }
        }
    }
}

/// Without imaginary parts complex numbers are the real ones.
TEST(GpuDataflow, HaveTheBitsOfRealNumbersWhereImaginaryPartsAreZero)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram     program = factor_dataflow(*system.F.pattern);
        const ComplexVector       values = widened(system.A.val);
        DataflowOnDevice<double>  real(gpu, program, system.A.val);
        DataflowOnDevice<Complex> complex(gpu, program, values);
        const auto                x = real.run(gpu);
        const auto                z = complex.run(gpu);
        for (std::size_t s = 0; s < x.size(); ++s) {
            ASSERT_EQ(z[s].real(), x[s]) << "slot " << s;
            ASSERT_EQ(z[s].imag(), 0) << "slot " << s;
        }
    }
}

TEST(GpuDataflow, RunOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   first, second;
    const DataflowSystem  system = dataflow_system("grid", gallery::power_grid({}));
    const DataflowProgram program = factor_dataflow(*system.F.pattern);
    auto                  moved = system.A.val;
    for (double& value : moved) value *= 1.5;
    DataflowOnDevice<double> a(first, program, system.A.val), b(second, program, moved);
    for (int repeat = 0; repeat < 50; ++repeat) {
        a.dataflow.run(first, a.input.data(), nullptr, a.v, nullptr);
        b.dataflow.run(second, b.input.data(), nullptr, b.v, nullptr);
    }
    EXPECT_TRUE(identical(a.run(first), a.expected));
    EXPECT_TRUE(identical(b.run(second), b.expected));
}

}  // namespace
}  // namespace ilux::test
