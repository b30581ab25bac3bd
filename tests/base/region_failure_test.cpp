#include "ilux/base/region_failure.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using ilux::RegionFailure;

TEST(RegionFailure, BringsTheFirstExceptionOfARegionToTheThreadThatOpenedIt)
{
    RegionFailure failure;
    int           done = 0;
#pragma omp parallel for num_threads(4) reduction(+ : done)
    for (int i = 0; i < 100; ++i)
        failure.run([&] {
            if (i % 10 == 3) throw std::runtime_error("piece " + std::to_string(i));
            ++done;
        });
    EXPECT_EQ(done, 90);
    EXPECT_TRUE(failure.met());
    try {
        failure.rethrow();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& why) {
        EXPECT_EQ(std::string(why.what()).substr(0, 6), "piece ");
    }
}

TEST(RegionFailure, KeepsTheFirstOfOneThread)
{
    RegionFailure failure;
    failure.run([] { throw 1; });
    failure.run([] { throw 2; });
    EXPECT_THROW(
        {
            try {
                failure.rethrow();
            } catch (int number) {
                EXPECT_EQ(number, 1);
                throw;
            }
        },
        int);
}

TEST(RegionFailure, IsSilentWhereNothingFailed)
{
    RegionFailure failure;
    failure.run([] {});
    EXPECT_FALSE(failure.met());
    EXPECT_NO_THROW(failure.rethrow());
}
