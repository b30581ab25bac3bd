#include "ilux/direct/solve/row_residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/solve/residual_systems.hpp"

namespace ilux::test {
namespace {

/// Of a full row.
RowResidual<> residual_of(const std::vector<double>& a, const std::vector<double>& x, double b)
{
    std::vector<Index> idx(a.size());
    std::iota(idx.begin(), idx.end(), 0);
    return row_residual(idx, a, x, b);
}

TEST(RowResidual, IsTakenByItsFormula)
{
    const RowResidual<> row = residual_of({3, -1}, {1, 2}, 4);  // 4 − (3 − 2) of 4 + 3 + 2
    EXPECT_EQ(row.r, 3);
    EXPECT_EQ(row.size, 9);
    EXPECT_DOUBLE_EQ(row.error, 1.0 / 3);
    EXPECT_EQ(residual_of({}, {}, 0).error, 0);
    EXPECT_EQ(residual_of({}, {}, -7).error, 1);
    EXPECT_EQ(residual_of({2, 0}, {0, 5}, 0).error, 0);
}

TEST(RowResidual, LosesNothingToCancellation)
{
    const RowResidual<> row = residual_of({1, 1, -1}, {0x1p60, 1, 0x1p60}, 0);  // plain sums lose the 1
    EXPECT_EQ(row.r, -1);
    EXPECT_DOUBLE_EQ(row.error, 1 / (1 + 0x1p61));
}

TEST(RowResidual, HasTheSameErrorWhateverTheScale)
{
    // Factors of powers of two round nothing, so the error is that of numbers near 1.
    for (Index n = 1; n < 10; ++n) {
        const auto   a = random_vector(n, 2 * n), x = random_vector(n, 2 * n + 1);
        const double error = residual_of(a, x, 0).error;
        EXPECT_GT(error, 0);
        for (const auto& [of_a, of_x] : {std::pair{-500, -460},
                                         {-560, -560},
                                         {-900, -1000},
                                         {-1000, 5},
                                         {-1000, 500},
                                         {900, 100},
                                         {1000, -1000},
                                         {-1000, 1000},
                                         {20, 1000}}) {
            auto scaled_a = a, scaled_x = x;
            for (double& a_j : scaled_a) a_j = std::ldexp(a_j, of_a);
            for (double& x_j : scaled_x) x_j = std::ldexp(x_j, of_x);
            EXPECT_NEAR(residual_of(scaled_a, scaled_x, 0).error, error, 4 * n * eps) << of_a << ' ' << of_x;
        }
    }
}

/// 3 x = 5 units in the last place of subnormal numbers: 2 of them are as near as x gets, 3 of them are not.
TEST(RowResidual, BearsWithWhatASubnormalCannotSay)
{
    const double unit = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(residual_of({3}, {2 * unit}, 5 * unit).r, -unit);
    EXPECT_EQ(residual_of({3}, {2 * unit}, 5 * unit).error, 0);
    EXPECT_EQ(residual_of({3}, {3 * unit}, 5 * unit).error, 4.0 / 14);
    EXPECT_EQ(residual_of({3}, {0}, unit).error, 0);  // 1/3 of a unit is rounded to 0
    EXPECT_EQ(residual_of({0.25}, {0}, unit).error, 1);
    EXPECT_GT(residual_of({0x1p-1074}, {3}, 5 * unit).error, 0.1);    // here x has all its digits
    EXPECT_EQ(residual_of({1e10, 1e-300}, {0, 0}, 1e-305).error, 1);  // the second x could do better
    EXPECT_EQ(residual_of({1e10, 1e-300}, {0, 1e-5}, 0).error, 1);
}

TEST(RowResidual, IsNoNumberWhereTheResidualIsNone)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(std::isnan(residual_of({0x1p1000}, {0x1p1000}, 1).error));  // overflows
    for (const double bad : {infinity, -infinity, double{NAN}}) {
        EXPECT_TRUE(std::isnan(residual_of({bad, 1}, {1, 1}, 1).error));
        EXPECT_TRUE(std::isnan(residual_of({1, 0}, {1, bad}, 1).error));
        EXPECT_TRUE(std::isnan(residual_of({1, 1}, {1, 1}, bad).error));
    }
}

TEST(LuRefine, MeasuresProductsBeyondTheRangeOfNumbers)
{
    // Row 1: b₁ − 2ᵉ (3·1 − 1·2), so |r₁| / (|A||x|)₁ = 1/5 whatever e, unless b₁ hides it; row 2 is solved.
    LuFactors<> factors = factored({.B = dense(2, {1, 0, 0, 1})}).factors;
    auto        only_measured = std::make_shared<LuSymbolic>();
    only_measured->options.refine_steps = 0;
    factors.symbolic = only_measured;
    Cpu           cpu(1);
    LuWorkspace<> ws(2);
    for (const auto layout : both_layouts)
        for (const Transpose way : both_ways) {
            const auto error = [&](double a_11, double a_12, std::vector<double> x, double b_1) {
                const Dense         rows = dense(2, {a_11, a_12, 0, 1});
                const Held          A(way == Transpose::yes ? transposed(rows) : rows, layout);
                std::vector<double> b{b_1, x[1]};
                const auto          report = lu_refine(cpu, factors, A.view(), b, x, ws, way);
                return report.finite ? report.backward_error : -1;
            };
            for (const int a : {-1074, -1000, -700, -540, -200})
                for (const int of_x : {-1074, -900, -540, -530}) {
                    const double one = std::ldexp(1, a), x = std::ldexp(1, of_x);
                    EXPECT_DOUBLE_EQ(error(3 * one, -one, {x, 2 * x}, 0), 0.2) << a << ' ' << of_x;
                    EXPECT_EQ(error(2 * one, -one, {x, 2 * x}, 0), 0) << a << ' ' << of_x;
                    EXPECT_EQ(error(one, one, {0, 0}, 0), 0);
                }
            const double tiny = 0x1p-550;  // b₁ = 2⁻¹⁰⁷⁴, the products 3·2⁻¹¹⁰⁰ and −2·2⁻¹¹⁰⁰
            EXPECT_DOUBLE_EQ(error(3 * tiny, -tiny, {tiny, 2 * tiny}, 0x1p-1074), (1 - 0x1p-26) / (1 + 5 * 0x1p-26));
            const double huge = 0x1p1000;
            EXPECT_EQ(error(2 * huge, -huge, {huge, 2 * huge}, 0), 0);
            EXPECT_EQ(error(3 * huge, -huge, {huge, 2 * huge}, 0), -1);  // r₁ overflows
        }
}

/// x_i ← 900 x_{i−1} − c_i x_{n−2} + d_i x_{n−1}, x_{n−1} given: x loses digits, and all products are of `size` times
/// x.
CsrMatrix<double> growing(Index n, double size, Random& random)
{
    Dense A{n, n, std::vector<double>(n * n)};
    for (Index i = 0; i + 1 < n; ++i) {
        A(i, i) = size;
        if (i > 0) A(i, i - 1) = -900 * size;
        A(i, n - 2) += random.uniform(0.5, 1) * size;
        A(i, n - 1) = random.uniform() * size;
    }
    A(n - 1, n - 1) = 1;
    return to_csr(A);
}

TEST(Lu, MeasuresRowsWhoseProductsVanish)
{
    Cpu    be(1);
    Random random(1);
    int    wrong = 0;
    for (const auto& [size, x_last] : {std::pair{1e-210, 1e-120}, {1e-165, 1e-165}, {1e-300, 1e-20}, {1e-300, 1e-300}})
        for (Index n = 3; n <= 9; ++n) {
            const Series series(growing(n, size, random), 1);
            Lu           lu(be, analyse(series.view(), {.ordering = LuOrdering::none}));
            ASSERT_EQ(lu.factor(series.view().val).outcome, Outcome::converged);
            std::vector<double> b(n), x(n);
            b[n - 1] = x_last;
            const auto   report = lu.solve(b, x);
            const double exact = componentwise_error(series.view(), x, b);  // long double has the exponents
            EXPECT_NEAR(report.refine.backward_error, exact, 2 * eps + 1e-9 * exact) << "n = " << n << ", " << size;
            EXPECT_EQ(report.outcome == Outcome::converged, exact <= 1e-12);
            wrong += exact > 1e-12;
        }
    EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace ilux::test
