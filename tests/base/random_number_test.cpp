// Numbers of an index: the constants of splitmix64, their ranges, and that sums of equal terms do not vanish.

#include <gtest/gtest.h>

#include "ilux/base/random_number.hpp"

namespace ilux {
namespace {

TEST(RandomNumber, IsSplitmix64)
{
    EXPECT_EQ(random_bits(0), 0xe220a8397b1dcdafu);  // the first number of the generator seeded with 0, as published
}

TEST(RandomNumber, StaysInItsRangeAndHasBothSigns)
{
    Index  positive = 0;
    double sum = 0;
    for (Index i = 0; i < 10'000; ++i) {
        positive += random_sign(i) > 0;
        EXPECT_GE(random_share(i), 0);
        EXPECT_LT(random_share(i), 1);
        EXPECT_GE(std::abs(random_factor(i)), 1);
        EXPECT_LT(std::abs(random_factor(i)), 2);
        sum += random_share(i);
    }
    EXPECT_NEAR(positive, 5000, 250);  // five standard deviations
    EXPECT_NEAR(sum, 5000, 5 * 100 * 0.2887);
}

}  // namespace
}  // namespace ilux
