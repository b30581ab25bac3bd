#include "ilux/direct/gpu_dots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ilux/direct/lu_dots.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

/// A program on the device, its input, and what the serial twin says.
struct DotsOnDevice {
    DotsOnDevice(Gpu& gpu, const DotProgram& program, std::span<const double> values, const DotsTrial& trial = {})
        : dots(gpu, program, {}, {}, trial), input(values.size()), v(dots.workspace(gpu)), expected(program.slots())
    {
        upload<double>(gpu, values, input);
        run_serial(program, values, nullptr, expected);
    }
    std::vector<double> run(Gpu& gpu)
    {
        dots.run(gpu, input.data(), nullptr, v, nullptr);
        std::vector<double> found(v.size());
        download<double>(gpu, v, found);
        found.resize(dots.slots());
        return found;
    }

    GpuDots              dots;
    DeviceBuffer<double> input, v;
    std::vector<double>  expected;
};

TEST(GpuDots, HaveTheBitsOfTheirSerialTwinEveryTime)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DotSystem& system : dot_systems()) {
        SCOPED_TRACE(system.name);
        DotsOnDevice device(gpu, factor_dots(*system.F.pattern), system.A.val);
        for (int repeat = 0; repeat < repeats(); ++repeat)
            ASSERT_TRUE(identical(device.run(gpu), device.expected)) << "repeat " << repeat;
    }
}

/// From as many warps as fit to one block a multiprocessor.
TEST(GpuDots, HaveThoseBitsWhereWarpsAreLateAndFew)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DotSystem& system : dot_systems())
        for (const DotsTrial& trial :
             {DotsTrial{.delay = 500}, DotsTrial{.delay = 500, .shared_bytes = 60'000},
              DotsTrial{.shared_bytes = 200'000}, DotsTrial{.delay = 5000, .shared_bytes = 200'000}}) {
            SCOPED_TRACE(system.name + ", delay " + std::to_string(trial.delay) + ", " +
                         std::to_string(trial.shared_bytes));
            DotsOnDevice device(gpu, factor_dots(*system.F.pattern), system.A.val, trial);
            for (int repeat = 0; repeat < repeats(20); ++repeat)
                ASSERT_TRUE(identical(device.run(gpu), device.expected)) << "repeat " << repeat;
        }
}

TEST(GpuDots, SolveWithFactorsOfTheDevice)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DotSystem& system : dot_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const DotProgram factor = factor_dots(P);
        DotsOnDevice     factors(gpu, factor, system.A.val);
        factors.run(gpu);
        const auto b = random_vector(P.n, 3);
        for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
            const SolveDots      solve = solve_dots(P, factor, transpose);
            const GpuDots        dots(gpu, solve.dots, solve.out_index, solve.out_scale);
            auto                 v = dots.workspace(gpu);
            DeviceBuffer<double> rhs(b.size()), x(b.size());
            upload<double>(gpu, b, rhs);
            for (int repeat = 0; repeat < 20; ++repeat) {
                dots.run(gpu, rhs.data(), factors.v.data(), v, x.data());
                std::vector<double> found(b.size()), expected(b.size()), slots(solve.dots.slots());
                download<double>(gpu, x, found);
                run_serial(solve.dots, b, factors.expected.data(), slots);
                for (std::size_t s = 0; s < slots.size(); ++s)
                    if (solve.out_index[s] >= 0) expected[solve.out_index[s]] = solve.out_scale[s] * slots[s];
                ASSERT_TRUE(identical(found, expected)) << "repeat " << repeat;
            }
        }
    }
}

/// Zero pivots, overflow, NaN and Inf run through to the end and come out as the serial twin has them.
TEST(GpuDots, EndWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu              gpu;
    const DotSystem  system = dot_system("circuit", gallery::mna_random({.n = 200}));
    const DotProgram program = factor_dots(*system.F.pattern);
    for (const double bad :
         {0.0, 1e300, 1e-320, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        SCOPED_TRACE(bad);
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); p += 3) values[p] = bad;
        DotsOnDevice device(gpu, program, values);
        const auto   found = device.run(gpu);
        for (const auto slot : program.slot_of)
            if (!std::isnan(device.expected[slot])) {
                ASSERT_EQ(found[slot], device.expected[slot]) << "slot " << slot;
            } else {
                ASSERT_TRUE(std::isnan(found[slot])) << "slot " << slot;
            }
    }
}

TEST(GpuDots, RunOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu              first, second;
    const DotSystem  system = dot_system("grid", gallery::power_grid({}));
    const DotProgram program = factor_dots(*system.F.pattern);
    auto             moved = system.A.val;
    for (double& value : moved) value *= 1.5;
    DotsOnDevice a(first, program, system.A.val), b(second, program, moved);
    for (int repeat = 0; repeat < 50; ++repeat) {
        a.dots.run(first, a.input.data(), nullptr, a.v, nullptr);
        b.dots.run(second, b.input.data(), nullptr, b.v, nullptr);
    }
    EXPECT_TRUE(identical(a.run(first), a.expected));
    EXPECT_TRUE(identical(b.run(second), b.expected));
}

}  // namespace
}  // namespace ilux::test
