#include <gtest/gtest.h>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

TEST(TransposeByThreads, HasTheBitsOfTheSerialOne)
{
    for (auto [rows, cols] : {std::pair<Index, Index>{40'000, 30'000}, {20, 60'000}, {60'000, 20}, {3, 2}, {0, 5}})
        for (int threads : {1, 2, 3, 16, 33}) {
            Cpu        be(threads);
            const auto A = test::random_matrix(rows, cols, rows < 100 ? cols : 5, 1);
            EXPECT_TRUE(test::identical(transpose(be, A), transpose(A))) << rows << " x " << cols << ", " << threads;
        }
}

TEST(TransposeByThreads, SaysSoWhenAnyAllocationFails)
{
    const auto A = test::random_matrix(30'000, 100, 5, 1);
    Cpu        be(2);
    EXPECT_GT(test::fail_each_allocation([&] { transpose(be, A); }), 3);
}

}  // namespace
}  // namespace ilux
