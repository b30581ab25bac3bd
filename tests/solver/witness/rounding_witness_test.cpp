// What the rounding of A and b leaves open: by hand, and of LU with matrices whose x is known exactly.

#include "ilux/solver/witness/rounding_witness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/solver/witness/known_systems.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

Residual<double> residual_of_x(const CsrMatrix<double>& A, const std::vector<double>& x, const std::vector<double>& b)
{
    Cpu      serial(1);
    Residual residual;
    (void)measure(serial, A, x, b, residual);
    return residual;
}

/// z ← a r of a dense 2 × 2.
Substitution<double> by_inverse(double a, double b, double c, double d)
{
    return [=](std::span<const double> r, std::span<double> z) {
        z[0] = a * r[0] + b * r[1];
        z[1] = c * r[0] + d * r[1];
    };
}

TEST(RoundingProbe, IsAFewRoundingErrorsOfEachRow)
{
    const auto                A = to_csr({2, 2, {4, -1, 1, 0x1p40}});
    const std::vector<double> x{1, 1}, b{3, 1 + 0x1p40};
    const double              size[]{8, 2 * (1 + 0x1p40)};  // |A||x| + |b|
    const auto                residual = residual_of_x(A, x, b);
    std::vector<double>       p(2), again(2);
    rounding_probe<double>(residual, p);
    rounding_probe<double>(residual, again);
    EXPECT_EQ(p, again);
    for (const int i : {0, 1}) {
        EXPECT_GE(std::abs(p[i]), 2 * eps * size[i]);
        EXPECT_LE(std::abs(p[i]), 6 * eps * size[i]);
    }
}

TEST(RoundingProbe, HasBothSignsAndDifferentSizes)
{
    // Equal rows, as of a Laplacian, must not have a probe that its sums take to 0.
    const auto                A = CsrMatrix<double>::identity(1000);
    const std::vector<double> x(1000, 1.);
    std::vector<double>       p(1000);
    rounding_probe<double>(residual_of_x(A, x, x), p);
    EXPECT_GT(std::ranges::count_if(p, [](double one) { return one > 0; }), 400);
    EXPECT_LT(std::ranges::count_if(p, [](double one) { return one > 0; }), 600);
    std::ranges::sort(p);
    EXPECT_EQ(std::ranges::adjacent_find(p), p.end());
}

TEST(IsWellDetermined, HoldsErrorsAgainstAThousandthOfEachUnknown)
{
    const auto                A = CsrMatrix<double>::identity(3);
    const std::vector<double> x{1, 1e3, 1e-9};
    const auto                residual = residual_of_x(A, x, x);
    const auto                is = [&](std::vector<double> e) { return is_well_determined<double>(x, e, residual); };
    EXPECT_TRUE(is({.9e-3, .9, .9e-12}));
    EXPECT_FALSE(is({1.1e-3, 0, 0}));
    EXPECT_FALSE(is({0, -1.1, 0}));
    EXPECT_FALSE(is({0, 0, nan}));
    EXPECT_FALSE(is({0, 0, infinity}));
    // The third is at the least size that counts, 1e-12 of the largest, whatever becomes of smaller ones.
    EXPECT_FALSE(is({0, 0, 1.1e-12}));
}

TEST(RoundingWarning, NamesTheUnknownsThatInexactFactorsOfASingularMatrixDoNotFindAgain)
{
    // A is singular; the factors are those of [1 1; 1 1 + 2⁻⁵²], as rounding may leave them: A e is a hundredth of what e was for.
    const auto                A = to_csr({2, 2, {1, 1, 1, 1}});
    const std::vector<double> x{3, 4}, b{7, 7};
    const auto                inverse = by_inverse(0x1p52 + 1, -0x1p52, -0x1p52, 0x1p52);
    std::vector<double>       room;
    const std::string         text = rounding_warning<double>(A, x, residual_of_x(A, x, b), inverse, room);
    EXPECT_NE(text.find("singular"), std::string::npos) << text;
    EXPECT_NE(text.find("2 of 2"), std::string::npos) << text;
}

TEST(RoundingWarning, TrustsFactorsThatFindAnErrorAgain)
{
    // [1 1; 1 1 + 2⁻⁵⁰] and its inverse to the last bit: refinement by it is right.
    const auto                A = to_csr({2, 2, {1, 1, 1, 1 + 0x1p-50}});
    const std::vector<double> x{3, 4}, b{7, 7 + 4 * 0x1p-50};
    const auto                inverse = by_inverse(0x1p50 + 1, -0x1p50, -0x1p50, 0x1p50);
    std::vector<double>       room;
    EXPECT_EQ(rounding_warning<double>(A, x, residual_of_x(A, x, b), inverse, room), "");
}

TEST(RoundingWarning, IsNoneWhereAIsFarFromSingularWhateverItsUnits)
{
    std::vector<double> room;
    for (const double unit : {1., 0x1p60, 0x1p-200}) {
        const auto                A = to_csr({2, 2, {2, unit, 1, unit}});
        const std::vector<double> x{1, 3 / unit}, b{5, 4};
        const auto                inverse = by_inverse(1, -1, -1 / unit, 2 / unit);
        EXPECT_EQ(rounding_warning<double>(A, x, residual_of_x(A, x, b), inverse, room), "") << unit;
    }
}

/// A transformer's inductances, resistances and a capacitance, each in its unit.
TEST(RoundingOfLu, IsNoAlarmForAConditionThatComesOfUnitsAlone)
{
    const WholeMatrix whole{.entries = entries_of({3, 3, {4, 1, 0, 1, 4, 1, 0, 1, 4}}), .n = 3, .symmetric = true};
    const auto        base = whole.entries.matrix(3, 3);
    const int         unit[]{0, -66, 66};
    for (const MethodChoice method : {MethodChoice::lu, MethodChoice::automatic}) {
        std::vector<double> val(base.val().begin(), base.val().end()), x(3), b(3);
        const double        y[]{1, -2, 3};
        for (Index i = 0; i < 3; ++i) {
            for (Offset p = base.row_ptr()[i]; p < base.row_ptr()[i + 1]; ++p) {
                b[i] += std::ldexp(val[p] * y[base.col()[p]], unit[i]);
                val[p] = std::ldexp(val[p], unit[i] + unit[base.col()[p]]);
            }
        }
        const auto   A = base.with_values(val);
        LinearSolver solver(serial({.method = method}));
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        const auto report = solver.solve(b, x);
        EXPECT_TRUE(report.converged());
        EXPECT_EQ(report.result().warning, "");
        for (Index i = 0; i < 3; ++i) EXPECT_NEAR(std::ldexp(x[i], unit[i]), y[i], 1e-12);
    }
}

}  // namespace
}  // namespace ilux
