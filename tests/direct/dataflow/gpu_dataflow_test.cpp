#include "ilux/direct/dataflow/gpu_dataflow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

/// A program on the device, its input, and what the serial twin says.
struct DataflowOnDevice {
    DataflowOnDevice(Gpu& gpu, const DataflowProgram& program, std::span<const double> values,
                     const detail::DataflowTrial& trial = {})
        : dataflow(gpu, program, {}, {}, trial),
          input(values.size()),
          v(dataflow.workspace(gpu)),
          expected(program.slots())
    {
        upload<double>(gpu, values, input);
        run_serial(program, values, nullptr, expected);
    }
    std::vector<double> run(Gpu& gpu)
    {
        dataflow.run(gpu, input.data(), nullptr, v, nullptr);
        std::vector<double> found(v.size());
        download<double>(gpu, v, found);
        found.resize(dataflow.slots());
        return found;
    }

    GpuDataflow          dataflow;
    DeviceBuffer<double> input, v;
    std::vector<double>  expected;
};

TEST(GpuDataflow, HaveTheBitsOfTheirSerialTwinEveryTime)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        DataflowOnDevice device(gpu, factor_dataflow(*system.F.pattern), system.A.val);
        for (int repeat = 0; repeat < repeats(); ++repeat)
            ASSERT_TRUE(identical(device.run(gpu), device.expected)) << "repeat " << repeat;
    }
}

/// From as many warps as fit to one block a multiprocessor.
TEST(GpuDataflow, HaveThoseBitsWhereWarpsAreLateAndFew)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems())
        for (const auto& trial :
             std::initializer_list<detail::DataflowTrial>{{.delay = 500},
                                                          {.delay = 500, .shared_bytes = 60'000},
                                                          {.shared_bytes = 200'000},
                                                          {.delay = 5000, .shared_bytes = 200'000}}) {
            SCOPED_TRACE(system.name + ", delay " + std::to_string(trial.delay) + ", " +
                         std::to_string(trial.shared_bytes));
            DataflowOnDevice device(gpu, factor_dataflow(*system.F.pattern), system.A.val, trial);
            for (int repeat = 0; repeat < repeats(20); ++repeat)
                ASSERT_TRUE(identical(device.run(gpu), device.expected)) << "repeat " << repeat;
        }
}

TEST(GpuDataflow, SolveWithFactorsOfTheDevice)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&      P = *system.F.pattern;
        const DataflowProgram factor = factor_dataflow(P);
        DataflowOnDevice      factors(gpu, factor, system.A.val);
        factors.run(gpu);
        const auto b = random_vector(P.n, 3);
        for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
            const SolveDataflow  solve = solve_dataflow(P, factor, transpose);
            const GpuDataflow    dataflow(gpu, solve.dataflow, solve.out_index, solve.out_scale);
            auto                 v = dataflow.workspace(gpu);
            DeviceBuffer<double> rhs(b.size()), x(b.size());
            upload<double>(gpu, b, rhs);
            for (int repeat = 0; repeat < 20; ++repeat) {
                dataflow.run(gpu, rhs.data(), factors.v.data(), v, x.data());
                std::vector<double> found(b.size()), expected(b.size()), slots(solve.dataflow.slots());
                download<double>(gpu, x, found);
                run_serial(solve.dataflow, b, factors.expected.data(), slots);
                for (std::size_t s = 0; s < slots.size(); ++s)
                    if (solve.out_index[s] >= 0) expected[solve.out_index[s]] = solve.out_scale[s] * slots[s];
                ASSERT_TRUE(identical(found, expected)) << "repeat " << repeat;
            }
        }
    }
}

/// Zero pivots, overflow, NaN and Inf run through to the end and come out as the serial twin has them.
TEST(GpuDataflow, EndWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   gpu;
    const DataflowSystem  system = dataflow_system("circuit", gallery::mna_random({.n = 200}));
    const DataflowProgram program = factor_dataflow(*system.F.pattern);
    for (const double bad :
         {0.0, 1e300, 1e-320, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        SCOPED_TRACE(bad);
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); p += 3) values[p] = bad;
        DataflowOnDevice device(gpu, program, values);
        const auto       found = device.run(gpu);
        for (const auto slot : program.slot_of)
            if (!std::isnan(device.expected[slot])) {
                ASSERT_EQ(found[slot], device.expected[slot]) << "slot " << slot;
            } else {
                ASSERT_TRUE(std::isnan(found[slot])) << "slot " << slot;
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
    DataflowOnDevice a(first, program, system.A.val), b(second, program, moved);
    for (int repeat = 0; repeat < 50; ++repeat) {
        a.dataflow.run(first, a.input.data(), nullptr, a.v, nullptr);
        b.dataflow.run(second, b.input.data(), nullptr, b.v, nullptr);
    }
    EXPECT_TRUE(identical(a.run(first), a.expected));
    EXPECT_TRUE(identical(b.run(second), b.expected));
}

}  // namespace
}  // namespace ilux::test
