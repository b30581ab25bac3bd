#include <algorithm>

#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/klu/both_ways.hpp"
#include "ilux/tests/direct/series.hpp"

namespace ilux::test {
namespace {

constexpr MatrixLayout both_layouts[] = {MatrixLayout::rows, MatrixLayout::columns};

std::vector<double> solved_once(const LuFactors<>& factors, std::span<const double> b,
                                Transpose transpose = Transpose::no)
{
    Cpu                 cpu(1);
    LuWorkspace<>       ws(factors.pattern->n);
    std::vector<double> x(b.size());
    lu_solve(cpu, factors, b, x, ws, transpose);
    return x;
}

/// A symbolic object that only holds the number of steps, and the target.
std::shared_ptr<const LuSymbolic> allowing(Index steps, double target = 0)
{
    auto s = std::make_shared<LuSymbolic>();
    s->options.refine_steps = steps;
    s->options.refine_target = target;
    return s;
}

TEST(LuRefine, UndoesAPerturbationOfTheFactors)
{
    for (const auto& shape : std::vector<std::vector<Index>>{{1}, {31}, {32}, {33}, {20, 1, 30}})
        for (const auto layout : both_layouts)
            for (const Transpose way : both_ways) {
                auto       made = random_factors(shape, 0.3, 6);
                const Held A(made.A, layout);
                Random     random(1);
                for (double& v : made.factors.val) v *= 1 + 1e-6 * random.uniform();
                const auto   b = random_vector(A.n, 2);
                auto         x = solved_once(made.factors, b, way);
                const bool   transpose = way == Transpose::yes;
                const double before = componentwise_error(A.view(), x, b, transpose);
                EXPECT_GT(before, 1e-12);

                Cpu           cpu(1);
                LuWorkspace<> ws(A.n);
                const auto    report = lu_refine(cpu, made.factors, A.view(), b, x, ws, way);
                EXPECT_TRUE(report.finite);
                EXPECT_GE(report.steps, 1);
                EXPECT_LE(report.steps, 5);
                EXPECT_LE(report.backward_error, 4 * eps);
                EXPECT_LE(componentwise_error(A.view(), x, b, transpose), 4 * eps);
                const Dense oracle = transpose ? transposed(made.A) : made.A;
                EXPECT_LE(relative_difference(x, dense_solve(oracle, b)), 1e-12);
            }
}

TEST(LuRefine, ReportsTheBackwardErrorOfTheXItLeaves)
{
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        auto         made = random_factors({15, 10}, 0.3, seed);
        const Held   A(made.A, both_layouts[seed % 2]);
        Random       random(seed);
        const double size = std::ldexp(1.0, -static_cast<int>(seed));  // hopeless at first, nearly exact at last
        for (double& v : made.factors.val) v *= 1 + size * random.uniform(-2, 4);
        const auto    b = random_vector(A.n, seed);
        auto          x = solved_once(made.factors, b);
        const double  before = componentwise_error(A.view(), x, b);
        Cpu           cpu(1);
        LuWorkspace<> ws(A.n);
        const auto    report = lu_refine(cpu, made.factors, A.view(), b, x, ws);
        const double  after = componentwise_error(A.view(), x, b);
        EXPECT_NEAR(report.backward_error, after, 2 * eps) << "seed " << seed;
        EXPECT_LE(after, before + 2 * eps) << "seed " << seed;
    }
}

TEST(LuRefine, KeepsXAndTellsTheTruthWhereTheFactorsAreHopeless)
{
    // Factors of −A/4: every correction goes the wrong way.
    const Dense A = dense(2, {4, 1, 1, 3});
    Dense       wrong = A;
    for (double& a : wrong.a) a *= -0.25;
    const auto                made = factored({.B = wrong});
    const std::vector<double> b{1, 2}, start{0.125, 0.5};
    auto                      x = start;
    Cpu                       cpu(1);
    LuWorkspace<>             ws(2);
    const Held                held(A, MatrixLayout::rows);
    const auto                report = lu_refine(cpu, made.factors, held.view(), b, x, ws);
    EXPECT_EQ(x, start);
    EXPECT_EQ(report.steps, 1);
    EXPECT_TRUE(report.finite);
    EXPECT_DOUBLE_EQ(report.backward_error, 0.375 / 3.625);  // of the second row; the first is solved
}

TEST(LuRefine, StopsWhereTheErrorNoLongerHalves)
{
    // Factors of A/4 turn e into −3 e; those of 4 A turn it into 3/4 e, which is kept, but ends the work.
    for (const auto& [factor, kept] : {std::pair{0.25, 0.0}, {4.0, 0.75}}) {
        const auto    made = factored({.B = dense(1, {2 * factor})});
        const Held    A(dense(1, {2}), MatrixLayout::rows);
        const auto    b = std::vector<double>{2};  // x = 1
        auto          x = std::vector<double>{1.0 + 1.0 / 64};
        Cpu           cpu(1);
        LuWorkspace<> ws(1);
        const auto    report = lu_refine(cpu, made.factors, A.view(), b, x, ws);
        EXPECT_EQ(report.steps, 1);
        EXPECT_EQ(x[0], kept == 0 ? 1.0 + 1.0 / 64 : 1 + kept / 64);
    }
}

TEST(LuRefine, WithoutStepsOnlyMeasures)
{
    auto made = random_factors({12}, 0.5, 3);
    made.factors.symbolic = allowing(0);
    const Held    A(made.A, MatrixLayout::rows);
    const auto    b = random_vector(12, 1), start = random_vector(12, 2);
    auto          x = start;
    Cpu           cpu(1);
    LuWorkspace<> ws(12);
    const auto    report = lu_refine(cpu, made.factors, A.view(), b, x, ws);
    EXPECT_EQ(report.steps, 0);
    EXPECT_EQ(x, start);
    EXPECT_NEAR(report.backward_error, componentwise_error(A.view(), x, b), 4 * eps);
    made.factors.symbolic = allowing(1);
    EXPECT_EQ(lu_refine(cpu, made.factors, A.view(), b, x, ws).steps, 1);
}

TEST(LuRefine, StopsAtTheTargetAndTakesNoStepWhereTheFirstSolveMeetsIt)
{
    for (const auto layout : both_layouts) {
        auto       made = random_factors({20}, 0.4, 3);
        const Held A(made.A, layout);
        Random     random(2);
        for (double& v : made.factors.val) v *= 1 + 1e-5 * random.uniform();
        const auto   b = random_vector(A.n, 1), start = solved_once(made.factors, b);
        const double before = componentwise_error(A.view(), start, b);
        EXPECT_GT(before, 1e-7);
        Index fewer = 0;
        for (const double target : {1.01 * before, before / 2, 1e-9, 1e-12, eps, 0.0}) {
            made.factors.symbolic = allowing(5, target);
            Cpu           cpu(1);
            LuWorkspace<> ws(A.n);
            auto          x = start;
            const auto    report = lu_refine(cpu, made.factors, A.view(), b, x, ws);
            EXPECT_LE(report.backward_error, std::max(target, 4 * eps));
            EXPECT_EQ(report.steps == 0, target > before);
            EXPECT_EQ(x == start, target > before);
            EXPECT_GE(report.steps, fewer);
            fewer = report.steps;
        }
        EXPECT_GT(fewer, 1);
    }
}

TEST(LuRefine, MeasuresRowsThatOverflowOrAreNextToUnderflow)
{
    // Row i is scaled by a power of two; the oracle's long double has room for all of them.
    const Index n = 6;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const auto layout : both_layouts)
            for (const Transpose way : both_ways) {
                auto                made = random_factors({n}, 0.7, seed);
                Dense               rows = made.A;
                std::vector<double> x = random_vector(n, seed), b(n);
                const int           exponents[] = {1022, 0, -1060, 1021, -970, -300};
                for (Index i = 0; i < n; ++i) {
                    double largest = 0, product = 0;
                    for (Index j = 0; j < n; ++j) largest = std::max(largest, std::abs(rows(i, j)));
                    for (Index j = 0; j < n; ++j) rows(i, j) = std::ldexp(rows(i, j) / largest, exponents[i]);
                    for (Index j = 0; j < n; ++j) product += std::ldexp(rows(i, j), -exponents[i]) * x[j];
                    b[i] = std::ldexp(product, exponents[i]) * (1 - 1e-4 * (i + 1));
                }
                ASSERT_TRUE(std::ranges::all_of(b, [](double b_i) { return std::isfinite(b_i); }));
                const bool   transpose = way == Transpose::yes;
                const Held   A(transpose ? transposed(rows) : rows, layout);
                const double exact = componentwise_error(A.view(), x, b, transpose);
                made.factors.symbolic = allowing(0);
                Cpu           cpu(1);
                LuWorkspace<> ws(n);
                const auto    report = lu_refine(cpu, made.factors, A.view(), b, x, ws, way);
                EXPECT_TRUE(report.finite);
                EXPECT_NEAR(report.backward_error, exact, 1e-11 + 1e-9 * exact) << "seed " << seed;
            }
}

TEST(LuRefine, OfEntriesFromTheSmallestToTheLargestIsExactWhereTheProductsAre)
{
    const auto    made = factored({.B = dense(2, {1e-320, 0, 0, 1e308})});
    Cpu           cpu(1);
    LuWorkspace<> ws(2);
    for (const auto layout : both_layouts) {
        const Held                A(dense(2, {1e-320, 0, 0, 1e308}), layout);
        const std::vector<double> b{1e-320, 1e308};
        auto                      x = std::vector<double>{1, 1};
        const auto                report = lu_refine(cpu, made.factors, A.view(), b, x, ws);
        EXPECT_TRUE(report.finite);
        EXPECT_EQ(report.backward_error, 0);
        EXPECT_EQ(report.steps, 0);
    }
}

TEST(LuRefine, CountsZeroOverZeroAsZero)
{
    const auto    made = factored({.B = dense(2, {2, 0, 0, 1})});
    Cpu           cpu(1);
    LuWorkspace<> ws(2);
    for (const auto layout : both_layouts)
        for (const Transpose way : both_ways) {
            const Held          empty_row(dense(2, {2, 0, 0, 0}), layout), A(dense(2, {2, 0, 0, 1}), layout);
            std::vector<double> x{0.5, 0.0};
            EXPECT_EQ(lu_refine(cpu, made.factors, A.view(), std::vector<double>{1, 0}, x, ws, way).backward_error, 0);
            EXPECT_EQ(lu_refine(cpu, made.factors, empty_row.view(), std::vector<double>{1, 0}, x, ws, way)
                          .backward_error,
                      0);
            EXPECT_EQ(lu_refine(cpu, made.factors, empty_row.view(), std::vector<double>{1, 1}, x, ws, way)
                          .backward_error,
                      1);
        }
}

TEST(LuRefine, MakesRoundingErrorsZeroWhereTheExactNumbersAre)
{
    for (const auto layout : both_layouts)
        for (const Transpose way : both_ways) {
            // x = (0, 3, 0): b₂ = 0, and row 2 is all rounding.
            const Dense rows = dense(3, {20, 2, -3, 0, 20, -1, 3, 0, 21});
            const Held  A(way == Transpose::yes ? transposed(rows) : rows, layout);
            auto        made = factored({.B = way == Transpose::yes ? transposed(rows) : rows});
            made.factors.symbolic = allowing(0);
            Cpu           cpu(1);
            LuWorkspace<> ws(3);
            const auto    refined = [&](std::vector<double> b, std::vector<double>& x) {
                const auto report = lu_refine(cpu, made.factors, A.view(), b, x, ws, way);
                EXPECT_NEAR(report.backward_error, componentwise_error(A.view(), x, b, way == Transpose::yes), 2 * eps);
                return report.backward_error;
            };
            for (const std::vector<double>& start :
                 {std::vector<double>{0x1p-60, 3, 0}, {0, 3, 0x1p-60}, {0x1p-60, 3, -0x1p-62}}) {
                auto x = start;
                EXPECT_EQ(refined({6, 60, 0}, x), 0);
                EXPECT_EQ(x, (std::vector<double>{0, 3, 0}));
            }
            // Not where b₂ says how large x₂ should be: |r₂| = 20·2⁻⁶⁰ of 22·2⁻⁶⁰.
            std::vector<double> x{0, 3, 0x1p-60};
            EXPECT_DOUBLE_EQ(refined({6, 60, 0x1p-60}, x), 20.0 / 22);
            EXPECT_EQ(x[2], 0x1p-60);
            // Where zeros are better, but not right, the error says so: x = (−7 δ, 3 + δ, δ).
            const double delta = 0x1p-30;
            x = {-delta, 3 + delta, delta};
            EXPECT_GT(refined({6 - 141 * delta, 60 + 19 * delta, 0}, x), 1e-12);
        }
}

TEST(LuRefine, ReportsWhatIsNotFinite)
{
    const auto    made = factored({.B = dense(2, {2, 0, 0, 1})});
    Cpu           cpu(1);
    LuWorkspace<> ws(2);
    for (const auto layout : both_layouts)
        for (const Transpose way : both_ways) {
            const Held huge(dense(2, {1e300, 0, 0, 1}), layout), empty_column(dense(2, {2, 0, 0, 0}), layout);
            const auto refined = [&](const Held& A, std::vector<double> b, std::vector<double> x) {
                return lu_refine(cpu, made.factors, A.view(), b, x, ws, way);
            };
            for (const auto& report : {refined(huge, {1, 1}, {1e10, 1}), refined(huge, {1, 1}, {0, nan}),
                                       refined(huge, {infinity, 1}, {0, 1}), refined(huge, {1, nan}, {0, 1}),
                                       refined(empty_column, {2, 0}, {1, infinity})}) {
                EXPECT_FALSE(report.finite);
                EXPECT_EQ(report.backward_error, infinity);
            }
        }
}

TEST(LuRefine, OfNothingIsExact)
{
    const auto    none = random_factors({}, 1, 1);
    const Held    A(none.A, MatrixLayout::rows);
    Cpu           cpu(1);
    LuWorkspace<> ws(0);
    const auto    report = lu_refine(cpu, none.factors, A.view(), {}, {}, ws);
    EXPECT_EQ(report.backward_error, 0);
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(condition_estimate(cpu, none.factors, A.view(), ws), 1);
}

TEST(LuRefine, RefusesWhatDoesNotSuitTheFactors)
{
    const auto          made = random_factors({3}, 1, 1), other = random_factors({2}, 1, 1);
    const Held          A(made.A, MatrixLayout::rows), B(other.A, MatrixLayout::rows);
    Cpu                 cpu(1);
    LuWorkspace<>       ws(3), small(2);
    std::vector<double> b(3), x(6);
    MatrixView<>        pattern = A.view();
    pattern.val = {};
    const auto refine = [&](const MatrixView<>& with, std::size_t of_x, LuWorkspace<>& space) {
        static_cast<void>(lu_refine(cpu, made.factors, with, b, std::span(x).first(of_x), space));
    };
    expect_refusal([&] { refine(B.view(), 3, ws); }, {"n = 2", "n = 3"});
    expect_refusal([&] { refine(pattern, 3, ws); }, {"0 values"});
    expect_refusal([&] { refine(A.view(), 6, ws); }, {"6", "n = 3"});
    expect_refusal([&] { refine(A.view(), 3, small); }, {"2", "n = 3"});
    expect_refusal([&] { static_cast<void>(condition_estimate(cpu, made.factors, pattern, ws)); }, {"0 values"});
    expect_refusal([&] { static_cast<void>(condition_estimate(cpu, made.factors, A.view(), small)); }, {"n = 2"});
}

double norm1(const Dense& A)
{
    double largest = 0;
    for (Index j = 0; j < A.cols; ++j) {
        double sum = 0;
        for (Index i = 0; i < A.rows; ++i) sum += std::abs(A(i, j));
        largest = std::max(largest, sum);
    }
    return largest;
}

double condition(const Dense& A)
{
    Dense inverse = A;
    for (Index j = 0; j < A.rows; ++j) {
        std::vector<double> e(A.rows);
        e[j] = 1;
        const auto column = dense_solve(A, e);
        for (Index i = 0; i < A.rows; ++i) inverse(i, j) = column[i];
    }
    return norm1(A) * norm1(inverse);
}

double estimated(const DenseFactors& made, MatrixLayout layout)
{
    Cpu           cpu(1);
    LuWorkspace<> ws(made.A.rows);
    const Held    A(made.A, layout);
    return condition_estimate(cpu, made.factors, A.view(), ws);
}

TEST(ConditionEstimate, IsExactForDiagonalMatrices)
{
    for (const Index n : {1, 2, 31, 32, 33}) {
        Dense D = dense(n, std::vector<double>(n * n));
        for (Index i = 0; i < n; ++i) D(i, i) = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, 7 * i % 40 - 20);
        double least = infinity, largest = 0;
        for (Index i = 0; i < n; ++i) {
            least = std::min(least, std::abs(D(i, i)));
            largest = std::max(largest, std::abs(D(i, i)));
        }
        for (const auto layout : both_layouts) EXPECT_EQ(estimated(factored({.B = D}), layout), largest / least);
    }
}

TEST(ConditionEstimate, DoesNotDependOnTheSizeOfTheMatrix)
{
    for (const auto layout : both_layouts) {
        for (const double a : {1e-320, 1e-309, 1e-300, 1.0, 1e300, 1.7e308})
            EXPECT_DOUBLE_EQ(estimated(factored({.B = dense(1, {a})}), layout), 1) << a;
        for (const int e : {-1020, -600, 0, 600, 1000}) {
            const double a = std::ldexp(1.0, e);
            EXPECT_DOUBLE_EQ(estimated(factored({.B = dense(2, {4 * a, 2 * a, 0, a / 2})}), layout), 12) << e;
        }
    }
}

TEST(ConditionEstimate, OfHilbertLikeMatricesIsWithinAFactorOfThree)
{
    for (Index n = 2; n <= 8; ++n) {
        Dense H = dense(n, std::vector<double>(n * n));
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) H(i, j) = 1.0 / (i + j + 1);
        for (const auto layout : both_layouts) {
            const double ratio = estimated(factored({.B = H}), layout) / condition(H);
            EXPECT_GE(ratio, 1.0 / 3) << "n = " << n;
            EXPECT_LE(ratio, 1.001) << "n = " << n;  // both sides have lost digits
        }
    }
}

TEST(ConditionEstimate, OfUnsymmetricMatricesInBlocksIsALowerBoundWithinTen)
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto   made = random_factors({8, 1, 15}, 0.4, seed);
        const double exact = condition(made.A), estimate = estimated(made, both_layouts[seed % 2]);
        EXPECT_GE(estimate, exact / 10) << "seed " << seed;
        EXPECT_LE(estimate, exact * (1 + 1e-10)) << "seed " << seed;
    }
}

TEST(ConditionEstimate, IsNotFooledWhereTheAscentIs)
{
    // A⁻¹ = diag(2, I + θ [1 −1; −1 1]): from e/3 it climbs to e₁, whose gradient shows nothing of θ.
    const double theta = 1e4, c = theta / (1 + 2 * theta);
    const Dense  A = dense(3, {0.5, 0, 0, 0, 1 - c, c, 0, c, 1 - c});
    for (const auto layout : both_layouts) {
        const double estimate = estimated(factored({.B = A}), layout), exact = 1 + 2 * theta;  // ‖A‖₁ = 1
        EXPECT_GE(estimate, exact / 3);
        EXPECT_LE(estimate, exact * (1 + 1e-9));
    }
}

TEST(ConditionEstimate, IsInfiniteWhereItOverflows)
{
    for (const auto layout : both_layouts) {
        EXPECT_EQ(estimated(factored({.B = dense(2, {1e300, 0, 0, 1e-300})}), layout), infinity);
        EXPECT_EQ(estimated(factored({.B = dense(2, {1, 1e200, 0, 1e-200})}), layout), infinity);
    }
}

}  // namespace
}  // namespace ilux::test
