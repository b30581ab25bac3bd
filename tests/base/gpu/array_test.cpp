#include "ilux/base/gpu/array.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

constexpr double infinity = std::numeric_limits<double>::infinity();

static_assert(std::is_convertible_v<std::vector<double>&, Array<double>>);
static_assert(std::is_convertible_v<const std::vector<double>&, Array<const double>>);
static_assert(std::is_convertible_v<std::span<double>, Array<const double>>);
static_assert(std::is_convertible_v<Array<double>, Array<const double>>);
static_assert(!std::is_convertible_v<Array<const double>, Array<double>>);
static_assert(!std::is_convertible_v<const std::vector<double>&, Array<double>>);
static_assert(!std::is_convertible_v<std::vector<float>&, Array<double>>);
static_assert(!std::is_convertible_v<DeviceSpan<double>, Array<double>>);  // whose stream it is has to be said

TEST(Array, OfTheHostIsAView)
{
    std::vector<double> numbers = {1, 2, 3, 4};
    const Array<double> all(numbers), none;
    EXPECT_EQ(all.size(), 4u);
    EXPECT_EQ(none.size(), 0u);
    EXPECT_EQ(all.gpu(), nullptr);
    const Array<double> two = all.subspan(1, 2);
    two.host()[0] = 7;
    EXPECT_EQ(numbers, (std::vector<double>{1, 7, 3, 4}));
    EXPECT_EQ(two.size(), 2u);
}

TEST(Array, IsFiniteWithoutNanAndInf)
{
    EXPECT_TRUE(is_finite(Array<double>()));
    for (const std::size_t n : {1, 31, 32, 33})
        for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
            std::vector<double> numbers(n, 1);
            EXPECT_TRUE(is_finite(Array<const double>(numbers)));
            numbers.back() = bad;
            EXPECT_FALSE(is_finite(Array<const double>(numbers)));
            std::vector<std::complex<double>> complex(n);
            complex.back() = {0, bad};
            EXPECT_FALSE(is_finite(Array<std::complex<double>>(complex)));
        }
}

TEST(GpuArray, IsOfOneMemory)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                 gpu;
    std::vector<double> host(33, 1);
    auto                numbers = on_device<double>(gpu, host);
    const Array<double> here(host), there(gpu, numbers);
    EXPECT_EQ(there.size(), 33u);
    EXPECT_NO_THROW(require_one_memory(here, here, "b", "x"));
    EXPECT_NO_THROW(require_one_memory(there, there, "b", "x"));
    expect_refusal([&] { require_one_memory(here, there, "b", "x"); }, {"b and x are in different memories"});
    expect_refusal([&] { require_one_memory(there, here, "b", "x"); }, {"b and x are in different memories"});
    EXPECT_TRUE(is_finite(there));
    fill<double>(gpu, infinity, there.subspan(32, 1).there());
    EXPECT_FALSE(is_finite(there));
    EXPECT_TRUE(is_finite(there.subspan(0, 32)));
}

}  // namespace
}  // namespace ilux
