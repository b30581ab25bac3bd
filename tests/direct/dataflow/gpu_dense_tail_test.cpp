#include "ilux/direct/dataflow/gpu_dense_tail.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ilux/direct/dataflow/gpu_dataflow.hpp"
#include "ilux/tests/direct/dataflow/tail_systems.hpp"
#include "ilux/tests/direct/repeats.hpp"

namespace ilux::test {
namespace {

std::vector<double> download_all(Gpu& gpu, const DeviceBuffer<double>& v)
{
    std::vector<double> host(v.size());
    download<double>(gpu, v, host);
    return host;
}

/// A tail alone, in shuffled slots.
struct LoneTail {
    LoneTail(Index size, std::uint64_t seed)
    {
        const auto order = random_permutation(size * size, seed);
        tail.size = size;
        for (const Index at : order)
            tail.slot.push_back(DataflowProgram::first_slot + static_cast<DataflowProgram::Slot>(at));
        v = random_vector(static_cast<Index>(DataflowProgram::first_slot) + size * size, seed + 1);
        v[DataflowProgram::zero_slot] = 0;
        for (Index k = 0; k < size; ++k) at(k, k) += 2 * std::sqrt(double(size));
    }
    DataflowProgram::Slot slot(Index i, Index k) const
    {
        return tail.slot[static_cast<std::size_t>(k * tail.size + i)];
    }
    double&             at(Index i, Index k) { return v[slot(i, k)]; }
    std::vector<double> expected() const
    {
        std::vector<double> factored = v;
        run_tail_serial(tail, factored);
        return factored;
    }

    DenseTail           tail;
    std::vector<double> v;
};

TEST(GpuDenseTail, HasTheBitsOfItsSerialTwinEveryTime)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const Index size : {1, 2, 7, 8, 9, 16, 31, 32, 33, 48, 63, 64, 65, 80, 96, 97, 112, 128, 129, 144, 159, 160}) {
        SCOPED_TRACE(size);
        const LoneTail       lone(size, 40 + size);
        const auto           expected = lone.expected();
        const GpuDenseTail   tail(gpu, lone.tail);
        DeviceBuffer<double> v(lone.v.size());
        for (int repeat = 0; repeat < repeats(); ++repeat) {
            upload<double>(gpu, lone.v, v);
            tail.run(gpu, v.data());
            ASSERT_TRUE(identical(download_all(gpu, v), expected)) << "repeat " << repeat;
        }
    }
}

TEST(GpuDenseTail, BehindTheDataflowHasTheBitsOfTheirSerialTwins)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : tail_systems())
        for (const TailColumns columns : forced_tails(*system.F.pattern)) {
            SCOPED_TRACE(system.name + ", tail " + std::to_string(columns.size));
            const TailProgram    program(*system.F.pattern, columns);
            const GpuDataflow    dataflow(gpu, program.dataflow);
            const GpuDenseTail   tail(gpu, program.tail);
            DeviceBuffer<double> input(system.A.val.size()), v = dataflow.workspace(gpu);
            upload<double>(gpu, system.A.val, input);
            const auto expected = program.run(system.A.val);
            for (int repeat = 0; repeat < 3; ++repeat) {
                dataflow.run(gpu, input.data(), nullptr, v, nullptr);
                tail.run(gpu, v.data());
                auto found = download_all(gpu, v);
                found.resize(dataflow.slots());  // without the ticket
                ASSERT_TRUE(identical(found, expected)) << "repeat " << repeat;
            }
        }
}

/// Members side by side, each a multiple of the lone tail; member 1 is singular, member 2 holds NaN.
template <class T>
std::vector<T> tails_of_members(const LoneTail& lone, Index members, Index stride)
{
    std::vector<T> all(lone.v.size() * stride, T{7});
    for (Index m = 0; m < members; ++m)
        for (std::size_t s = 0; s < lone.v.size(); ++s) all[s * stride + m] = static_cast<T>(lone.v[s] * (1 + 0.1 * m));
    const Index last = lone.tail.size - 1;
    if (members > 1)
        for (Index i = 0; i <= last; ++i) all[std::size_t{lone.slot(i, last / 2)} * stride + 1] = 0;
    if (members > 2) all[std::size_t{lone.slot(last, 0)} * stride + 2] = std::numeric_limits<T>::quiet_NaN();
    return all;
}

template <class T>
void expect_members_as_alone(Gpu& gpu, const LoneTail& lone, Index members, Index stride)
{
    SCOPED_TRACE(std::to_string(lone.tail.size) + " columns, " + std::to_string(members) + " members");
    const GpuDenseTail   tail(gpu, lone.tail);
    const std::vector<T> before = tails_of_members<T>(lone, members, stride);
    std::vector<T>       found(before.size());
    DeviceBuffer<T>      v(before.size());
    upload<T>(gpu, before, v);
    tail.run(gpu, v.data(), members, stride);
    download<T>(gpu, v, found);
    std::vector<double> own(lone.v.size());
    for (Index m = 0; m < stride; ++m) {
        for (std::size_t s = 0; s < own.size(); ++s) own[s] = static_cast<double>(before[s * stride + m]);
        if (m < members) run_tail_serial(lone.tail, own);
        for (std::size_t s = 0; s < own.size(); ++s) {
            const T expected = static_cast<T>(own[s]), x = found[s * stride + m];
            ASSERT_TRUE(std::isnan(expected) ? std::isnan(x) : x == expected) << "member " << m << ", slot " << s;
        }
    }
}

TEST(GpuDenseTail, GivesEveryMemberTheBitsThatItHasAlone)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const Index size : {1, 33, 80, 160}) {
        const LoneTail lone(size, 60 + size);
        for (const Index members : {1, 31, 32, 33}) {
            expect_members_as_alone<double>(gpu, lone, members, (members + 31) / 32 * 32);
            expect_members_as_alone<float>(gpu, lone, members, (members + 31) / 32 * 32);
        }
        expect_members_as_alone<double>(gpu, lone, 300, 301);  // more than a GPU has multiprocessors
    }
}

/// Zero pivots, overflow, NaN and Inf run through to the end and come out as the serial twin has them.
TEST(GpuDenseTail, EndsWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const Index size : {1, 33, 70, 128, 160})
        for (const double bad : {0.0, -0.0, 1e300, 1e-320, 5e-324, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()})
            for (const Index k : {0, size / 2, size - 1}) {
                LoneTail lone(size, 3);
                for (Index i = 0; i < size; ++i) lone.at(i, k) = bad;
                lone.at(k, k / 2) = bad;
                const auto           expected = lone.expected();
                const GpuDenseTail   tail(gpu, lone.tail);
                DeviceBuffer<double> v(lone.v.size());
                upload<double>(gpu, lone.v, v);
                tail.run(gpu, v.data());
                const auto found = download_all(gpu, v);
                for (std::size_t s = 0; s < found.size(); ++s)
                    ASSERT_TRUE(std::isnan(expected[s]) ? std::isnan(found[s]) : found[s] == expected[s])
                        << size << " columns, " << bad << " in column " << k << ", slot " << s;
            }
}

TEST(GpuDenseTail, OfNothingLeavesEverythingAsItIs)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const LoneTail       lone(4, 1);
    DeviceBuffer<double> v(lone.v.size());
    upload<double>(gpu, lone.v, v);
    GpuDenseTail().run(gpu, v.data());
    GpuDenseTail(gpu, DenseTail{}).run(gpu, v.data());
    EXPECT_TRUE(identical(download_all(gpu, v), lone.v));
}

TEST(GpuDenseTail, RunsOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  first, second;
    const LoneTail       a(160, 7), b(160, 8);
    const GpuDenseTail   tail_a(first, a.tail), tail_b(second, b.tail);
    const auto           of_a = a.expected(), of_b = b.expected();
    DeviceBuffer<double> v(a.v.size()), w(b.v.size());
    for (int repeat = 0; repeat < repeats(); ++repeat) {
        upload<double>(first, a.v, v);
        upload<double>(second, b.v, w);
        tail_a.run(first, v.data());
        tail_b.run(second, w.data());
        ASSERT_TRUE(identical(download_all(first, v), of_a));
        ASSERT_TRUE(identical(download_all(second, w), of_b));
    }
}

}  // namespace
}  // namespace ilux::test
