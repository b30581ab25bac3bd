#include "ilux/precond/coarse/near_null.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

NearNull<Cpu, double> constants_of(const CsrMatrix<double>& A)
{
    Cpu be(1);
    return constants<double>(be, A, nodes_of<double>(A), looks_like_saddle_point<double>(be, A));
}

double at(const NearNull<Cpu, double>& t, Index i, Index c) { return column(t, c)[i]; }

TEST(NearNull, AScalarEquationHasOneConstant)
{
    const auto t = constants_of(gallery::poisson2d(20, 20));
    EXPECT_EQ(t.count, 1);
    EXPECT_EQ(t.values, std::vector<double>(400, 1.));
}

TEST(NearNull, RowsThatAreFarFromItAreThoseAtABoundary)
{
    Cpu        be(2);
    const auto far = [&](const CsrMatrix<double>& A) { return nearness<double>(be, A, constants_of(A)).far_rows; };
    EXPECT_NEAR(far(gallery::poisson2d(50, 50)), 1 - 48. * 48 / 2500, 1e-12);
    EXPECT_LT(far(gallery::elasticity3d({.n = 12})), 0.15);
    EXPECT_EQ(far(gallery::poisson2d(1, 1)), 1);  // a number is far from 0
    auto A = gallery::poisson2d(10, 10);
    for (double& value : A.val()) value = std::abs(value);
    EXPECT_EQ(far(A), 1);
    for (double& value : A.val()) value = 0;
    EXPECT_EQ(far(A), 1);  // nothing to be near to
}

TEST(NearNull, AConstantOfNegativeEnergyTellsAnIndefiniteMatrix)
{
    Cpu        be(1);
    const auto indefinite = [&](const CsrMatrix<double>& A) {
        return nearness<double>(be, A, constants_of(A)).indefinite;
    };
    EXPECT_TRUE(indefinite(gallery::build("helmholtz2d:n=60,k=40")));
    EXPECT_FALSE(indefinite(gallery::poisson2d(30, 30)));
    EXPECT_FALSE(indefinite(gallery::elasticity2d({.n = 24})));
}

TEST(NearNull, ADisplacementHasAConstantForEachComponent)
{
    const auto A = gallery::elasticity2d({.n = 24});
    const auto t = constants_of(A);
    ASSERT_EQ(t.count, 2);
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_EQ(at(t, i, 0) + at(t, i, 1), 1);
        EXPECT_EQ(at(t, i, i % 2), 1);
    }
}

/// u and v do not see each other in a Stokes matrix but by the pressure.
TEST(NearNull, AFlowHasConstantsForItsVelocitiesAndItsPressure)
{
    const auto A = gallery::stokes2d({.n = 16});
    const auto t = constants_of(A);
    ASSERT_EQ(t.count, 3);
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_EQ(at(t, i, 0) + at(t, i, 1) + at(t, i, 2), 1);
        EXPECT_EQ(at(t, i, 2) == 1, A.at(i, i) == 0) << i;
    }
}

TEST(NearNull, TellsASaddlePoint)
{
    using Entries = std::vector<std::tuple<Index, Index, double>>;
    Cpu        be(2);
    const auto looks = [&](Index n, const Entries& entries) {
        test::EntryList list;
        for (const auto& [i, j, a] : entries) {
            list.add(i, j, a);
            if (i != j) list.add(j, i, a);
        }
        return looks_like_saddle_point<double>(be, list.matrix(n, n));
    };
    EXPECT_TRUE(looks_like_saddle_point<double>(be, gallery::stokes2d({.n = 16})));
    EXPECT_TRUE(looks(3, {{0, 0, 4}, {1, 1, 4}, {0, 1, -1}, {0, 2, 9}}));
    EXPECT_FALSE(looks_like_saddle_point<double>(be, gallery::poisson2d(3, 3)));
    EXPECT_FALSE(looks(0, {}));
    EXPECT_FALSE(looks(2, {{0, 1, 1}}));                                      // no diagonal at all
    EXPECT_FALSE(looks(4, {{0, 0, 4}, {1, 1, 4}, {2, 3, 1}}));                // two without one see each other alone
    EXPECT_FALSE(looks(3, {{0, 0, 4}, {1, 1, 4}}));                           // an empty row
    EXPECT_FALSE(looks(3, {{0, 0, 4}, {1, 1, -4}, {0, 2, 1}}));               // of both signs
    EXPECT_FALSE(looks(3, {{0, 0, 4}, {1, 1, 0.01}, {0, 1, 1}, {0, 2, 1}}));  // a small one
}

}  // namespace
}  // namespace ilux
