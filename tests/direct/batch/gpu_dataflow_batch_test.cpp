#include "ilux/direct/batch/gpu_dataflow_batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ilux/direct/dataflow/gpu_dataflow.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/tests/direct/batch/batch_systems.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/serial_in_float.hpp"

namespace ilux::test {
namespace {

/// A program on the device and the inputs of its members.
template <class T>
struct BatchOnDevice {
    BatchOnDevice(Gpu& gpu, const DataflowProgram& program, std::span<const double> inputs, Index members,
                  const BatchTuning& tuning = {})
        : input(inputs.size()),
          dataflow(gpu, program, members, inputs.size() / members, {}, {}, tuning),
          space(dataflow.template space<T>(gpu))
    {
        upload<double>(gpu, inputs, input);
    }
    std::vector<T> run(Gpu& gpu)
    {
        dataflow.run(gpu, input.data(), space);
        std::vector<T> found(space.v.size());
        download<T>(gpu, space.v, found);
        return found;
    }
    DeviceBuffer<double>  input;
    GpuDataflowBatch      dataflow;
    DataflowBatchSpace<T> space;
};

/// Entries of one member as run_serial has them.
std::vector<double> serial_entries(const DataflowProgram& program, std::span<const double> input,
                                   const double* a = nullptr)
{
    std::vector<double> v(program.slots()), entries;
    run_serial(program, input, a, v);
    for (const auto slot : program.slot_of) entries.push_back(v[slot]);
    return entries;
}

template <class T>
std::vector<double> entries_of_member(const DataflowProgram& program, const std::vector<T>& v, Index stride, Index m)
{
    std::vector<double> entries;
    for (const auto slot : program.slot_of) entries.push_back(static_cast<double>(v[std::size_t{slot} * stride + m]));
    return entries;
}

TEST(GpuDataflowBatch, GiveEveryMemberTheBitsThatItHasAlone)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        const DataflowProgram program = factor_dataflow(*system.F.pattern);
        for (const Index members : {1, 31, 32, 33, 70})
            for (const BatchTuning tuning :
                 {BatchTuning{}, BatchTuning{.lanes = 16, .cluster = 1}, BatchTuning{.lanes = 32, .cluster = 4}}) {
                SCOPED_TRACE(system.name + ", " + std::to_string(members) + ", lanes " + std::to_string(tuning.lanes));
                const auto            values = member_values(system.A.val, members);
                BatchOnDevice<double> device(gpu, program, values, members, tuning);
                const auto            found = device.run(gpu);
                for (Index m = 0; m<members; m += members> 33 ? 23 : 10)
                    ASSERT_TRUE(identical(entries_of_member(program, found, device.dataflow.stride(), m),
                                          serial_entries(program, member_of(values, members, m))))
                        << "member " << m;
            }
    }
}

TEST(GpuDataflowBatch, RepeatThemselves)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram program = factor_dataflow(*system.F.pattern);
        const Index           members = 40;
        BatchOnDevice<double> device(gpu, program, member_values(system.A.val, members), members);
        const auto            first = device.run(gpu);
        const int             times = program.slots() < 6000 ? repeats() : repeats() / 10;
        for (int repeat = 0; repeat < times; ++repeat) {
            const auto again = device.run(gpu);
            for (const auto slot : program.slot_of) {
                const std::size_t at = std::size_t{slot} * device.dataflow.stride();
                ASSERT_TRUE(identical(std::span(again).subspan(at, members), std::span(first).subspan(at, members)))
                    << "repeat " << repeat << ", slot " << slot;
            }
        }
    }
}

TEST(GpuDataflowBatch, RoundOnceWhereTheyStoreFloat)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram program = factor_dataflow(*system.F.pattern);
        const Index           members = 33;
        const auto            values = member_values(system.A.val, members);
        BatchOnDevice<float>  device(gpu, program, values, members);
        const auto            found = device.run(gpu);
        for (const Index m : {0, 31, 32}) {
            const FloatSlots expected(program, member_of(values, members, m));
            for (const auto slot : program.slot_of)
                ASSERT_EQ(found[std::size_t{slot} * device.dataflow.stride() + m], expected.slots()[slot])
                    << "member " << m;
        }
    }
}

/// Zero pivots, overflow, NaN and Inf run through to the end, and neighbours do not see them.
TEST(GpuDataflowBatch, EndWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                         gpu;
    const DataflowSystem        system = dataflow_system("circuit", gallery::mna_random({.n = 200}));
    const DataflowProgram       program = factor_dataflow(*system.F.pattern);
    const Index                 members = 37;
    auto                        values = member_values(system.A.val, members);
    const std::array<double, 5> bad{0.0, 1e300, 1e-320, std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
    for (Index m = 1; m < members; m += 2)
        for (std::size_t p = 0; p < system.A.val.size(); p += 3)
            values[m * system.A.val.size() + p] = bad[m / 2 % bad.size()];
    BatchOnDevice<double> device(gpu, program, values, members);
    const auto            v = device.run(gpu);
    for (Index m = 0; m < members; ++m) {
        SCOPED_TRACE(m);
        const auto found = entries_of_member(program, v, device.dataflow.stride(), m);
        const auto expected = serial_entries(program, member_of(values, members, m));
        for (std::size_t e = 0; e < found.size(); ++e)
            if (std::isnan(expected[e])) {
                ASSERT_TRUE(std::isnan(found[e])) << "entry " << e;
            } else {
                ASSERT_EQ(found[e], expected[e]) << "entry " << e;
            }
    }
}

TEST(GpuDataflowBatch, SolveForManyRightHandSidesOfOneFactorization)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&      P = *system.F.pattern;
        const DataflowProgram program = factor_dataflow(P);
        const GpuDataflow     factors(gpu, program);
        DeviceBuffer<double>  values(system.A.val.size());
        auto                  a = factors.workspace(gpu);
        upload<double>(gpu, system.A.val, values);
        factors.run(gpu, values.data(), nullptr, a, nullptr);
        std::vector<double> serial_a(program.slots());
        run_serial(program, system.A.val, nullptr, serial_a);
        const Index members = 35;
        const auto  b = random_vector(P.n * members, 3);
        for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
            const SolveDataflow    solve = solve_dataflow(P, program, transpose);
            const GpuDataflowBatch dataflow(gpu, solve.dataflow, members, P.n, solve.out_index, solve.out_scale);
            auto                   space = dataflow.space<double>(gpu);
            DeviceBuffer<double>   rhs(b.size()), x(b.size());
            upload<double>(gpu, b, rhs);
            dataflow.run(gpu, rhs.data(), GivenFactors<double>{a.data(), 0}, space, x.data());
            std::vector<double> found(b.size()), slots(solve.dataflow.slots()), expected(P.n);
            download<double>(gpu, x, found);
            for (Index m = 0; m < members; ++m) {
                run_serial(solve.dataflow, member_of(b, members, m), serial_a.data(), slots);
                for (std::size_t s = 0; s < slots.size(); ++s)
                    if (solve.out_index[s] >= 0) expected[solve.out_index[s]] = solve.out_scale[s] * slots[s];
                ASSERT_TRUE(identical(member_of(found, members, m), expected)) << "member " << m;
            }
        }
    }
}

TEST(GpuDataflowBatch, RunOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   first, second;
    const DataflowSystem  system = dataflow_system("grid", gallery::power_grid({}));
    const DataflowProgram program = factor_dataflow(*system.F.pattern);
    const Index           members = 64;
    const auto            values = member_values(system.A.val, members);
    auto                  moved = values;
    for (double& value : moved) value *= 1.5;
    BatchOnDevice<double> a(first, program, values, members), b(second, program, moved, members);
    for (int repeat = 0; repeat < 50; ++repeat) {
        a.dataflow.run(first, a.input.data(), a.space);
        b.dataflow.run(second, b.input.data(), b.space);
    }
    const auto found_a = a.run(first), found_b = b.run(second);
    for (const Index m : {0, 63}) {
        EXPECT_TRUE(identical(entries_of_member(program, found_a, 64, m),
                              serial_entries(program, member_of(values, members, m))));
        EXPECT_TRUE(identical(entries_of_member(program, found_b, 64, m),
                              serial_entries(program, member_of(moved, members, m))));
    }
}

TEST(GpuDataflowBatch, RefuseSizesThatThereIsNoKernelFor)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    expect_refusal([&] { GpuDataflowBatch(gpu, DataflowProgram{}, 0, 0); }, {"0 members"});
    expect_refusal([&] { GpuDataflowBatch(gpu, DataflowProgram{}, 4, 0, {}, {}, {.lanes = 4}); }, {"4 members"});
    expect_refusal([&] { GpuDataflowBatch(gpu, DataflowProgram{}, 4, 0, {}, {}, {.cluster = 3}); }, {"3 blocks"});
}

}  // namespace
}  // namespace ilux::test
