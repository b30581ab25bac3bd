#include "ilux/lab/suites/truth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using app::find_truth;
using app::true_error;
using app::TrueError;
using app::Truth;

TEST(Truth, IsKnownBeyondDoubles)
{
    // x₁ = 1/3, x₂ = (1 − 1/3) / 5 = 2/15, x₃ = 2/3 − 2/15 = 8/15, none of them a double.
    const auto  A = to_csr({3, 3, {3, 0, 0, 1, 5, 0, -2, 1, 1}});
    const Truth truth = find_truth(A, std::vector<double>{1, 1, 0}, 0);
    ASSERT_EQ(truth.why_not, "");
    const double times[] = {3, 15, 15}, wanted[] = {1, 2, 8};
    for (Index i = 0; i < 3; ++i) {
        const double product = times[i] * truth.x[i], lost = std::fma(times[i], truth.x[i], -product);
        EXPECT_NEAR((product - wanted[i]) + lost + times[i] * truth.rest[i], 0, 1e-30) << i;
        EXPECT_NE(truth.rest[i], 0);
    }
    EXPECT_EQ(truth.known(), 3);
    EXPECT_EQ(truth.counting(), 3);
    EXPECT_TRUE(truth.knows_norm());
}

/// 360360 times the 8×8 Hilbert matrix: whole numbers, of condition 1.5·10¹⁰.
CsrMatrix<double> whole_hilbert()
{
    Dense A{8, 8, std::vector<double>(64)};
    for (Index i = 0; i < 8; ++i)
        for (Index j = 0; j < 8; ++j) A(i, j) = 360360. / (i + j + 1);
    return to_csr(A);
}

TEST(Truth, IsThatOfAHilbertMatrix)
{
    // The first column of the inverse of order 8: (−1)ⁱ 8 C(8 + i, 7 − i) ... as published, whole numbers.
    const double        wanted[] = {64, -2016, 20160, -92400, 221760, -288288, 192192, -51480};
    std::vector<double> b(8);
    b[0] = 360360;
    const Truth truth = find_truth(whole_hilbert(), b, 0);
    ASSERT_EQ(truth.why_not, "");
    EXPECT_GT(truth.steps, 0);
    for (Index i = 0; i < 8; ++i) {
        EXPECT_EQ(truth.x[i], wanted[i]);
        EXPECT_LE(std::abs(truth.rest[i]), 1e-18 * std::abs(wanted[i]));
        EXPECT_GT(truth.movement[i], 1e-12 * std::abs(wanted[i]));  // about ε times the condition
        EXPECT_LT(truth.movement[i], 1e-4 * std::abs(wanted[i]));
    }
    EXPECT_EQ(truth.known(), 8);
}

TEST(Truth, KnowsNoComponentThatRoundingDecides)
{
    // x = (1, 1, 1); 1 ulp of a₂₂ more halves x₁ and x₂ or worse, and x₃ stands alone.
    constexpr double d = 0x1p-51;
    const auto       A = to_csr({3, 3, {1, 1, 0, 1, 1 + d, 0, 0, 0, 3}});
    const Truth      truth = find_truth(A, std::vector<double>{2, 2 + d, 3}, 0);
    ASSERT_EQ(truth.why_not, "");
    EXPECT_DOUBLE_EQ(truth.x[2], 1);
    EXPECT_EQ(truth.counting(), 3);
    EXPECT_EQ(truth.known(), 1);
    EXPECT_TRUE(truth.knows(2));
    EXPECT_FALSE(truth.knows_norm());
    EXPECT_EQ(true_error(truth, std::vector<double>{7, -5, 1}).off, (std::array<Index, 3>{0, 0, 0}));
}

TEST(Truth, IsMissingWithAReason)
{
    const auto singular = to_csr({2, 2, {1, 1, 1, 1}});
    EXPECT_EQ(find_truth(singular, std::vector<double>{1, 1}, 0).why_not, "A is singular: LU found no pivots");
    const auto small = to_csr({1, 1, {1e-300}}), large = to_csr({1, 1, {1e300}});
    EXPECT_EQ(find_truth(small, std::vector<double>{1e300}, 0).why_not, "x overflows");
    EXPECT_EQ(find_truth(large, std::vector<double>{1e-300}, 0).why_not, "x underflows");
    const auto  A = gallery::build("poisson2d:n=40");
    const Truth late = find_truth(A, std::vector<double>(1600, 1.), 1e-9);
    EXPECT_EQ(late.why_not, "LU took longer than the time limit");
    EXPECT_EQ(late.known(), 0);
    EXPECT_EQ(late.counting(), 0);
    EXPECT_FALSE(late.knows_norm());
}

TEST(Truth, OfNothingIsZero)
{
    const Truth truth = find_truth(to_csr({2, 2, {4, 1, 1, 3}}), std::vector<double>{0, 0}, 0);
    EXPECT_EQ(truth.why_not, "");
    EXPECT_EQ(truth.counting(), 0);
    EXPECT_EQ(true_error(truth, std::vector<double>{0, 0}).error, 0);
}

TEST(TrueError, CountsComponentsByHowFarTheyAreOff)
{
    // D x = b with x* = (1, 1, −1, 1, 1e-13), the last too small to count.
    const auto  D = to_csr({5, 5, {1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 1}});
    const Truth truth = find_truth(D, std::vector<double>{1, 2, -4, 8, 1e-13}, 0);
    EXPECT_EQ(truth.counting(), 4);
    EXPECT_EQ(truth.known(), 4);
    const TrueError injected = true_error(truth, std::vector<double>{1, 1.05, -1, 1 - 5e-5, 7e-13});
    EXPECT_EQ(injected.off, (std::array<Index, 3>{1, 1, 2}));
    EXPECT_EQ(injected.worst, 1);
    EXPECT_DOUBLE_EQ(injected.worst_error, 1.05 - 1);
    EXPECT_DOUBLE_EQ(injected.error, 1.05 - 1);
    const TrueError right = true_error(truth, truth.x);
    EXPECT_EQ(right.error, 0);
    EXPECT_EQ(right.worst, -1);
    const TrueError broken = true_error(truth, std::vector<double>{1, NAN, -1, 1, 0});
    EXPECT_EQ(broken.error, INFINITY);
    EXPECT_EQ(broken.off, (std::array<Index, 3>{1, 1, 1}));
}

TEST(TrueError, SeesWhatIsLostBelowTheLastDigit)
{
    const Truth     third = find_truth(to_csr({1, 1, {3}}), std::vector<double>{1}, 0);
    const TrueError nearest = true_error(third, std::vector<double>{1. / 3});
    EXPECT_NEAR(nearest.error, 0x1p-54, 1e-3 * 0x1p-54);  // 1/3 = 0.0101…01|01 in bits: off by a third of 2⁻⁵⁴, of 1/3
}

}  // namespace
}  // namespace ilux
