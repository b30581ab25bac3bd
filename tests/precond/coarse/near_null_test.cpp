#include "ilux/precond/coarse/near_null.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/precond/coarse/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

NearNull<double> constants_of(const CsrMatrix<double>& A) { return constants<double>(A, nodes_of<double>(A)); }

TEST(NearNull, AScalarEquationHasOneConstant)
{
    const auto t = constants_of(gallery::poisson2d(20, 20));
    EXPECT_EQ(t.count, 1);
    EXPECT_EQ(t.values, std::vector<double>(400, 1.));
}

TEST(NearNull, ADisplacementHasAConstantForEachComponent)
{
    const auto A = gallery::elasticity2d({.n = 24});
    const auto t = constants_of(A);
    ASSERT_EQ(t.count, 2);
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_EQ(t(i, 0) + t(i, 1), 1);
        EXPECT_EQ(t(i, i % 2), 1);
    }
}

/// u and v do not see each other in a Stokes matrix but by the pressure.
TEST(NearNull, AFlowHasConstantsForItsVelocitiesAndItsPressure)
{
    const auto A = gallery::stokes2d({.n = 16});
    const auto t = constants_of(A);
    ASSERT_EQ(t.count, 3);
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_EQ(t(i, 0) + t(i, 1) + t(i, 2), 1);
        EXPECT_EQ(t(i, 2) == 1, A.at(i, i) == 0) << i;
    }
    EXPECT_TRUE(has_zero_diagonal<double>(A));
    EXPECT_FALSE(has_zero_diagonal<double>(gallery::poisson2d(3, 3)));
}

TEST(NearNull, TakesOneMoreVector)
{
    NearNull<double> t{.values = {1, 2, 3, 4}, .count = 2};
    t.append(std::vector<double>{7, 8});
    EXPECT_EQ(t.count, 3);
    EXPECT_EQ(t.values, (std::vector<double>{1, 2, 7, 3, 4, 8}));
}

}  // namespace
}  // namespace ilux
