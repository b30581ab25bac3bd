#include "ilux/direct/lu/system_values.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

template <class S>
std::vector<S> counted(std::size_t count, double first)
{
    std::vector<S> values(count);
    for (std::size_t k = 0; k < count; ++k) values[k] = S(first + double(k));
    return values;
}

template <class S>
std::vector<S> of_the_host(const SystemValues<S>& values)
{
    return {values.host().begin(), values.host().end()};
}

template <class S>
class SystemValuesOf : public testing::Test {};
TYPED_TEST_SUITE(SystemValuesOf, BothScalars, ScalarName);

TYPED_TEST(SystemValuesOf, TakesValuesAndHasNoneBefore)
{
    for (const std::size_t count : {0, 1, 31, 33, 1000}) {
        SystemValues<TypeParam> values(count);
        EXPECT_EQ(values.bytes(), 0);
        EXPECT_TRUE(values.host().empty());
        for (const double first : {1.0, 5.0, -3.0}) {
            const auto given = counted<TypeParam>(count, first);
            values.take(given);
            EXPECT_EQ(of_the_host(values), given);
            EXPECT_TRUE(count == 0 || values.host().data() != given.data());
        }
        EXPECT_TRUE(values.there().empty());
        EXPECT_EQ(values.device_bytes(), 0);
    }
}

TEST(SystemValues, CopiesNothingThatIsWrittenInPlaceOrIsThereAlready)
{
    SystemValues<> values(3);
    values.take(counted<double>(3, 1));
    const double* const former = values.host().data();
    const auto          next = values.next();
    std::ranges::copy(counted<double>(3, 7), next.begin());
    EXPECT_EQ(of_the_host(values), counted<double>(3, 1));  // these are the last ones until the next are taken
    values.take(next);
    EXPECT_EQ(values.host().data(), next.data());
    EXPECT_EQ(of_the_host(values), counted<double>(3, 7));
    const int slot = values.slot();
    values.take(values.host());
    EXPECT_EQ(values.slot(), slot);
    EXPECT_EQ(values.next().data(), former);
}

TEST(SystemValues, RefusesAnotherNumberOfThem)
{
    SystemValues<> values(3);
    values.take(counted<double>(3, 1));
    expect_refusal([&] { values.take(counted<double>(4, 1)); }, {"4 values", "3 entries"});
    EXPECT_EQ(of_the_host(values), counted<double>(3, 1));
    EXPECT_THROW(SystemValues<>(static_cast<std::size_t>(-1)).take(counted<double>(1, 1)), InvalidInput);
    EXPECT_THROW((void)SystemValues<>(static_cast<std::size_t>(-1)).next(), std::bad_alloc);
}

TYPED_TEST(SystemValuesOf, BringsThemToAGpuOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu, callers;
    for (const std::size_t count : {1, 31, 600, 100'000}) {
        SystemValues<S> values(count);
        values.take(counted<S>(count, 1));
        const S* const place = values.host().data();
        values.use_gpu(gpu);
        EXPECT_EQ(values.host().data(), place);  // who looks at them need not know
        EXPECT_EQ(on_host<S>(gpu, values.there()), counted<S>(count, 1));
        for (int k = 2; k < 8; ++k) {
            const auto given = counted<S>(count, k);
            const auto before = host_transfers();
            if (k % 2 == 0) values.take(given);
            else {
                const std::span<S> next = values.next();
                std::ranges::copy(given, next.begin());
                values.take(next);
            }
            EXPECT_EQ(host_transfers().to_device - before.to_device, count * sizeof(S));
            EXPECT_EQ(host_transfers().to_host, before.to_host);
            EXPECT_EQ(of_the_host(values), given);
            EXPECT_EQ(on_host<S>(gpu, values.there()), given);
        }
        const auto given = counted<S>(count, -4);
        const auto there = on_device<S>(callers, std::span<const S>(given));
        const auto before = host_transfers();
        values.take(Array<const S>(callers, there));
        EXPECT_EQ(host_transfers().to_device, before.to_device);
        EXPECT_EQ(host_transfers().to_host - before.to_host, count * sizeof(S));
        EXPECT_EQ(of_the_host(values), given);
        EXPECT_EQ(on_host<S>(gpu, values.there()), given);
        values.leave_gpu();
        EXPECT_EQ(of_the_host(values), given);
        EXPECT_EQ(values.device_bytes(), 0);
    }
}

TEST(SystemValues, TakesOthersThanThoseThatTravelled)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu            gpu;
    SystemValues<> values(50'000);
    values.use_gpu(gpu);
    const auto there = on_device<double>(gpu, std::span<const double>(counted<double>(50'000, 2)));
    (void)values.bring_next({gpu, there});  // and refused by who looked at them
    std::ranges::copy(counted<double>(50'000, 4), values.next().begin());
    values.take(values.next());
    EXPECT_EQ(on_host<double>(gpu, values.there()), counted<double>(50'000, 4));
}

TEST(SystemValues, StaysOnTheHostWhereAGpuLacksMemory)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu            gpu;
    SystemValues<> values(1000);
    values.take(counted<double>(1000, 1));
    for (long refused = 1; refused <= 2; ++refused) {
        detail::fail_device_allocations(refused, 1);
        EXPECT_THROW(values.use_gpu(gpu), OutOfMemory);
        EXPECT_EQ(detail::fail_device_allocations(0, 0), 1);
        EXPECT_EQ(values.gpu(), nullptr);
        EXPECT_EQ(of_the_host(values), counted<double>(1000, 1));
    }
    values.use_gpu(gpu);
    detail::fail_device_allocations(1, 1);
    EXPECT_THROW(values.take(counted<double>(1000, 2)), OutOfMemory);
    detail::fail_device_allocations(0, 0);
    EXPECT_EQ(on_host<double>(gpu, values.there()), counted<double>(1000, 1));
    values.take(counted<double>(1000, 2));
    EXPECT_EQ(on_host<double>(gpu, values.there()), counted<double>(1000, 2));
}

}  // namespace
}  // namespace ilux::test
