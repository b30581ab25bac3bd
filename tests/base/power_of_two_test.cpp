// Oracle: values by hand; the definition, tried on both neighbours.

#include "ilux/base/power_of_two.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ilux {
namespace {

TEST(PowerOfTwo, IsTheNearestInRatio)
{
    for (const auto& [x, nearest] :
         {std::pair{1., 1.}, {1.41, 1.}, {1.42, 2.}, {3., 4.}, {0.7, 0.5}, {0.71, 1.}, {1e3, 1024.}})
        EXPECT_EQ(nearest_power_of_two(x), nearest) << x;
    for (const double unit : {std::numeric_limits<double>::min(), 1., 0x1p1000})
        for (double x = unit; x < 2 * unit; x += 0.03 * unit) {
            const double found = nearest_power_of_two(x), ratio = found > x ? found / x : x / found;
            EXPECT_EQ(std::exp2(std::round(std::log2(found))), found) << x;
            EXPECT_LE(ratio, std::numbers::sqrt2 * (1 + 1e-15)) << x;
        }
    EXPECT_EQ(nearest_power_of_two(std::numeric_limits<double>::denorm_min()),
              std::numeric_limits<double>::denorm_min());
}

}  // namespace
}  // namespace ilux
