// N by itself, by hand: a chain of three unknowns, and one unknown alone.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/krylov/null_space.hpp"

namespace ilux {
namespace {

/// 1 −1 . .; −1 2 −1 .; . −1 1 .; . . . `last`
CsrMatrix<double> chain_and_one(double last)
{
    return CsrMatrix<double>::from_sorted(4, 4, {0, 2, 5, 7, 8}, {0, 1, 0, 1, 2, 1, 2, 3},
                                          {1, -1, -1, 2, -1, -1, 1, last});
}

std::vector<double> clear_of(const NullSpace<>& N, std::vector<double> v)
{
    Cpu serial(1);
    N.project(serial, v);
    return v;
}

TEST(NullSpace, HasTheConstantOfThePartThatIsSingular)
{
    const NullSpace<> N = NullSpace<>::of_constants(chain_and_one(5));
    EXPECT_EQ(N.count(), 1);
    EXPECT_TRUE(N.left());
    const std::vector<double> v = clear_of(N, {1, 2, 6, 7}), wanted{-2, -1, 3, 7};
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(v[i], wanted[i], 1e-14);
}

TEST(NullSpace, HasTheConstantOfEachPart)
{
    const NullSpace<> N = NullSpace<>::of_constants(chain_and_one(0));
    EXPECT_EQ(N.count(), 2);
    const std::vector<double> v = clear_of(N, {1, 2, 6, 7}), wanted{-2, -1, 3, 0};
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(v[i], wanted[i], 1e-14);
}

TEST(NullSpace, TakesVectorsThatAreNotOrthogonalAndRefusesThoseThatDepend)
{
    const CsrMatrix<double>   A = chain_and_one(0);
    const std::vector<double> two{1, 1, 1, 0, 1, 1, 1, 1}, twice{1, 1, 1, 0, -2, -2, -2, 0},
        wrong{1, 1, 1, 0, 1, 1, 2, 0};
    const std::vector<double> v = clear_of(NullSpace<>::of_vectors(A, two, 2), {1, 2, 6, 7}), wanted{-2, -1, 3, 0};
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(v[i], wanted[i], 1e-14);
    EXPECT_THROW((void)NullSpace<>::of_vectors(A, twice, 2), InvalidInput);
    EXPECT_THROW((void)NullSpace<>::of_vectors(A, wrong, 2), InvalidInput);
    EXPECT_THROW((void)NullSpace<>::of_vectors(A, std::vector<double>(4), 1), InvalidInput);
}

TEST(NullSpace, KnowsThatTheAdjointHasAnother)
{
    // rows sum to 0, columns do not
    const auto A = CsrMatrix<double>::from_sorted(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, -1, -3, 3});
    EXPECT_FALSE(NullSpace<>::of_constants(A).left());
}

}  // namespace
}  // namespace ilux
