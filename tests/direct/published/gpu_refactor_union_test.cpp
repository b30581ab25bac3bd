#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "ilux/direct/published/refactor_union.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/gpu/union_systems.hpp"
#include "ilux/tests/direct/published/right_systems.hpp"
#include "ilux/tests/direct/repeats.hpp"

namespace ilux::test {
namespace {

template <class S>
class GpuRefactorUnionOf : public testing::Test {};
TYPED_TEST_SUITE(GpuRefactorUnionOf, BothScalars, ScalarName);

/// A refactorization and the memory that it works in.
template <class S = double>
struct OnDevice {
    OnDevice(Gpu& gpu, std::shared_ptr<const GpuLuPattern> given, const UnionTuning& tuning,
             const detail::KernelTrial& trial = {})
        : pattern(std::move(given)), refactor(gpu, pattern, tuning, trial), val(pattern->entries())
    {}
    OnDevice(Gpu& gpu, const SystemOf<S>& system, const UnionTuning& tuning, const detail::KernelTrial& trial = {})
        : OnDevice(gpu, std::make_shared<GpuLuPattern>(gpu, system.F.pattern), tuning, trial)
    {}
    std::vector<S> run(Gpu& gpu, const std::vector<S>& start)
    {
        upload<S>(gpu, start, val);
        refactor.run(gpu, val);
        std::vector<S> found(val.size());
        download<S>(gpu, val, found);
        return found;
    }

    std::shared_ptr<const GpuLuPattern> pattern;
    UnionRefactor<S>                    refactor;
    DeviceBuffer<S>                     val;
};

template <class S>
std::vector<S> start_of(const SystemOf<S>& system)
{
    return scattered<S>(*system.F.pattern, system.A.val);
}

/// L + U of refactor_serial, and behind it what `start` has there.
template <class S>
std::vector<S> finish_of(const SystemOf<S>& system, const std::vector<S>& start)
{
    LuFactors<S> F = system.F;
    refactor_serial<S>(system.A.val, F);
    std::copy(start.begin() + F.pattern->nnz(), start.end(), std::back_inserter(F.val));
    return {F.val.begin(), F.val.end()};
}

TYPED_TEST(GpuRefactorUnionOf, HasTheBitsOfTheSerialOneInEveryEncoding)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(union_systems())) {
        SCOPED_TRACE(system.name);
        const auto start = start_of(system), finish = finish_of(system, start);
        const auto pattern = std::make_shared<GpuLuPattern>(gpu, system.F.pattern);
        for (const UnionIndex index : every_union_index) {
            SCOPED_TRACE(static_cast<int>(index));
            OnDevice<S> device(gpu, pattern, {.forced = index});
            for (int repeat = 0; repeat < 2; ++repeat) ASSERT_TRUE(same_numbers(device.run(gpu, start), finish));
        }
        for (const std::size_t limit : limits_of(*system.F.pattern)) {
            SCOPED_TRACE(limit);
            OnDevice<S> device(gpu, pattern, {.memory_limit = limit});
            ASSERT_TRUE(same_numbers(device.run(gpu, start), finish));
        }
    }
}

TYPED_TEST(GpuRefactorUnionOf, HasThemEveryTimeHoweverWarpsAreDelayed)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system :
         systems_of<S>({dataflow_system("circuit", gallery::mna_random({.n = 400, .decades = 6})),
                        dataflow_system_as_it_stands("full", random_dominant(70, 70, 5))})) {
        SCOPED_TRACE(system.name);
        const auto start = start_of(system), finish = finish_of(system, start);
        for (const UnionIndex index : every_union_index)
            for (const unsigned delay : {0u, 500u}) {
                OnDevice<S> device(gpu, system, {.forced = index}, {.delay = delay});
                for (int repeat = 0; repeat < repeats(); ++repeat)
                    ASSERT_TRUE(same_numbers(device.run(gpu, start), finish))
                        << "encoding " << static_cast<int>(index) << ", repeat " << repeat;
            }
    }
}

/// Zero pivots, overflow, NaN and Inf run through to the end.
TYPED_TEST(GpuRefactorUnionOf, EndsWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu         gpu;
    SystemOf<S> system = system_of<S>(dataflow_system("circuit", gallery::mna_random({.n = 200})));
    const auto  values = system.A.val;
    OnDevice<S> device(gpu, system, {});
    for (const double bad :
         {0.0, 1e300, 1e-320, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        SCOPED_TRACE(bad);
        system.A.val = values;
        for (std::size_t p = 0; p < values.size(); p += 3) system.A.val[p] = bad;
        const auto start = start_of(system), expected = eliminated(*system.F.pattern, start);
        const auto found = device.run(gpu, start);
        for (std::size_t p = 0; p < found.size(); ++p) {
            ASSERT_EQ(is_nan(found[p]), is_nan(expected[p])) << "entry " << p;
            if (!is_nan(expected[p])) {
                ASSERT_EQ(found[p], expected[p]) << "entry " << p;
            }
        }
    }
}

TEST(GpuRefactorUnion, FollowsItsValuesToAnotherArray)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system("grid", gallery::power_grid({}));
    const auto           start = start_of(system), finish = finish_of(system, start);
    OnDevice<>           device(gpu, system, {});
    ASSERT_TRUE(same_numbers(device.run(gpu, start), finish));
    DeviceBuffer<double> other(start.size());
    upload<double>(gpu, start, other);
    device.refactor.run(gpu, other);
    std::vector<double> found(start.size());
    download<double>(gpu, other, found);
    EXPECT_TRUE(identical(found, finish));
    EXPECT_TRUE(identical(device.run(gpu, start), finish));
    expect_refusal([&] { device.refactor.run(gpu, DeviceSpan<double>(other).first(1)); }, {"1 entries"});
}

TEST(GpuRefactorUnion, RunsOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu            first, second;
    DataflowSystem system = dataflow_system("grid", gallery::power_grid({}));
    OnDevice<>     a(first, system, {}), b(second, a.pattern, {.forced = UnionIndex::lookup});
    const auto     start_a = start_of(system), finish_a = finish_of(system, start_a);
    for (double& value : system.A.val) value *= 1.5;
    const auto start_b = start_of(system), finish_b = finish_of(system, start_b);
    for (int repeat = 0; repeat < repeats(); ++repeat) {
        upload<double>(first, start_a, a.val);
        upload<double>(second, start_b, b.val);
        a.refactor.run(first, a.val);
        b.refactor.run(second, b.val);
        std::vector<double> found_a(start_a.size()), found_b(start_b.size());
        download<double>(first, a.val, found_a);
        download<double>(second, b.val, found_b);
        ASSERT_TRUE(identical(found_a, finish_a)) << "repeat " << repeat;
        ASSERT_TRUE(identical(found_b, finish_b)) << "repeat " << repeat;
    }
}

}  // namespace
}  // namespace ilux::test
