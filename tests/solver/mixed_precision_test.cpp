// LinearSolver with krylov.precision=mixed, held to what it promises of double.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/mixed_checks.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using Vector = std::vector<double>;

SolverOptions mixed(const char* method, const char* precond = "mlilu", double rtol = 1e-10)
{
    return test::mixed(serial(), method, precond, rtol);
}

TEST(MixedPrecision, ReachesTheToleranceByEveryMethodAndPreconditioner)
{
    const auto A = gallery::poisson2d(24, 24);
    const auto b = random_vector(A.rows(), 1);
    for (const char* method : {"gmres", "fgmres", "bicg", "bicgstab", "cg", "minres", "sqmr", "cocg"})
        for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"}) {
            Vector     x, reference;
            const auto report = solve_once<double>(A, b, x, mixed(method, precond));
            ASSERT_TRUE(report.converged()) << method << " " << precond << ": " << report.why();
            EXPECT_EQ(about_precision(report), "") << method << " " << precond;
            EXPECT_LE(residual_of(A, x, b), 1.001e-10) << method << " " << precond;
            auto options = mixed(method, precond);
            options.krylov.precision = KrylovPrecision::in_double;
            ASSERT_TRUE(solve_once<double>(A, b, reference, options).converged());
            EXPECT_LE(relative_difference(x, reference), 1e-10 * 1000) << method << " " << precond;  // cond(A) is 250
        }
}

TEST(MixedPrecision, ReachesTheToleranceWithComplexValues)
{
    expect_complex_tolerance([](auto... names) { return mixed(names...); });
}

TEST(MixedPrecision, SolvesWhatDoesNotFitSinglePrecision)
{
    const auto   A = gallery::convdiff2d({.n = 16});
    const auto   ones = random_vector(A.rows(), 2);
    const double sizes[] = {1e-200, 1e-30, 1, 1e30, 1e200};
    for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"})
        for (const double of_A : sizes)
            for (const double of_b : sizes) {
                if (of_A * of_b > 1e250 || of_A * of_b < 1e-250 || of_b / of_A > 1e250 || of_b / of_A < 1e-250)
                    continue;
                CsrMatrix<> scaled = A;
                for (double& value : scaled.val()) value *= of_A;
                Vector b = times(A, ones), x;
                for (double& value : b) value *= of_b;
                const auto report = solve_once<double>(scaled, b, x, mixed("gmres", precond));
                ASSERT_TRUE(report.converged()) << precond << ' ' << of_A << ' ' << of_b << ": " << report.why();
                EXPECT_EQ(about_precision(report), "") << precond << ' ' << of_A << ' ' << of_b;
                for (double& value : x) value *= of_A / of_b;
                EXPECT_LE(relative_difference(x, ones), 1e-6) << precond << ' ' << of_A << ' ' << of_b;
            }
}

TEST(MixedPrecision, IsGivenUpWhereItsCopyOfMPassesTheMemoryLimit)
{
    const auto A = gallery::poisson2d(40, 40);
    const auto b = random_vector(A.rows(), 2);
    auto       options = mixed("gmres", "ilu0");
    Vector     x;
    const auto in_double = [&] {
        auto same = options;
        same.krylov.precision = KrylovPrecision::in_double;
        return solve_once<double>(A, b, x, same).result().factor_bytes;
    }();
    ASSERT_GT(solve_once<double>(A, b, x, options).result().factor_bytes, in_double + 1000);
    options.memory_limit = {in_double + 1000};
    const auto report = solve_once<double>(A, b, x, options);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_EQ(report.result().factor_bytes, in_double);
    EXPECT_NE(about_precision(report).find("memory_limit"), std::string::npos) << about_precision(report);
}

/// Rows of 1e±60: a residual in ‖b‖ sees the largest alone.
TEST(MixedPrecision, MeetsTheStandardOfRowsAndUnknownsToo)
{
    auto A = gallery::convdiff2d({.n = 12});
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) A.val()[p] *= std::pow(10., i % 3 * 60 - 60);
    const auto b = times(A, random_vector(A.rows(), 3));
    for (const StopTest stop : {StopTest::rowwise, StopTest::error}) {
        auto options = mixed("gmres");
        options.krylov.stop = stop;
        Vector     x;
        const auto report = solve_once<double>(A, b, x, options);
        EXPECT_TRUE(report.converged()) << field_text(stop) << ": " << report.why();
    }
}

TEST(MixedPrecision, SolvesWithRowsAndColumnsOfAnySize)
{
    auto A = gallery::convdiff2d({.n = 16});
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            A.val()[p] *= std::ldexp(1., (i * 37) % 201 - 100) * std::ldexp(1., (A.col()[p] * 53) % 41 - 20);
    const Vector b = times_ones(A);
    for (const char* precond : {"mlilu", "ilu0", "jacobi"}) {
        Vector     x;
        auto       options = mixed("gmres", precond);
        const auto report = solve_once<double>(A, b, x, options);
        options.krylov.precision = KrylovPrecision::in_double;
        Vector     reference;
        const auto in_double = solve_once<double>(A, b, reference, options);
        if (in_double.converged()) {
            EXPECT_TRUE(report.converged()) << precond << ": " << report.why();
        }
        if (report.converged()) {
            EXPECT_LE(residual_of(A, x, b), 1.001e-10) << precond;
        }
    }
}

/// Unknowns in strongly coupled pairs: what couples the pairs, 1 beside 1e8, is lost in single precision.
CsrMatrix<> pairs()
{
    constexpr double strong = 1e8;
    auto             A = gallery::poisson2d(20, 20);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.col()[p] == i) A.val()[p] += strong;
            if (A.col()[p] == (i ^ 1)) A.val()[p] -= strong;
        }
    return A;
}

TEST(MixedPrecision, GoesOnInDoubleWhereSingleDoesNotSuffice)
{
    const auto A = pairs();
    const auto b = times(A, random_vector(A.rows(), 3));
    Vector     x;
    auto       options = mixed("gmres", "mlilu", 1e-12);
    const auto report = solve_once<double>(A, b, x, options);
    EXPECT_NE(about_precision(report), "");
    ASSERT_TRUE(report.converged()) << report.why();
    EXPECT_LE(residual_of(A, x, b), 1.001e-12);

    options.retry = false;
    const auto alone = solve_once<double>(A, b, x, options);
    EXPECT_FALSE(alone.converged());
    EXPECT_NE(alone.why(), "");
}

TEST(MixedPrecision, ServesASeries)
{
    auto         A = gallery::convdiff2d({.n = 24});
    LinearSolver solver(mixed("gmres"));
    solver.analyse(A, 4);
    for (int k = 0; k < 4; ++k) {
        for (double& value : A.val()) value *= 1 + 1e-3 * k;
        const auto b = random_vector(A.rows(), 10 + k);
        Vector     x(b.size());
        ASSERT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged()) << k;
        EXPECT_LE(residual_of(A, x, b), 1.001e-10) << k;
        const auto other = random_vector(A.rows(), 20 + k);
        ASSERT_TRUE(solver.solve(other, x).converged()) << k;
        EXPECT_LE(residual_of(A, x, other), 1.001e-10) << k;
    }
}

TEST(MixedPrecision, TakesAwkwardSizes)
{
    for (const Index n : {0, 1, 31, 32, 33})
        for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"}) {
            const auto A = n == 0 ? CsrMatrix<>::identity(0) : gallery::poisson2d(n, 1);
            const auto b = random_vector(n, 2);
            Vector     x;
            const auto report = solve_once<double>(A, b, x, mixed("gmres", precond));
            EXPECT_TRUE(report.converged()) << n << ' ' << precond << ": " << report.why();
            if (n > 0) {
                EXPECT_LE(residual_of(A, x, b), 1.001e-10) << n << ' ' << precond;
            }
        }
}

TEST(MixedPrecision, SolvesForZero)
{
    const auto A = gallery::poisson2d(8, 8);
    Vector     x, b(64, 0.);
    ASSERT_TRUE(solve_once<double>(A, b, x, mixed("gmres")).converged());
    EXPECT_TRUE(identical(x, b));
}

TEST(MixedPrecision, HoldsXToEveryStandard)
{
    const auto A = gallery::convdiff2d({.n = 20});
    const auto b = random_vector(A.rows(), 4);
    for (const char* stop : {"residual", "backward_error", "rowwise", "error"}) {
        auto options = mixed("gmres", "ilu0", 1e-9);
        parse_field("krylov.stop", stop, options.krylov.stop);
        Vector     x;
        const auto report = solve_once<double>(A, b, x, options);
        ASSERT_TRUE(report.converged()) << stop << ": " << report.why();
        EXPECT_LE(backward_error(A, x, b), 1.001e-9) << stop;
        if (stop == std::string("rowwise")) {
            EXPECT_LE(report.result().accuracy.rowwise_counting, 1e-9);
        }
    }
}

TEST(MixedPrecision, AsksAStopToken)
{
    const auto   A = gallery::poisson2d(30, 30);
    const auto   b = random_vector(A.rows(), 5);
    LinearSolver solver(mixed("gmres", "none", 1e-12));
    solver.analyse(A);
    solver.factor();
    Vector           x(b.size());
    std::atomic<int> asked;
    solver.stop_by(stop_at(20, asked));
    const auto report = solver.solve(b, x);
    EXPECT_EQ(report.outcome(), Outcome::cancelled);
    EXPECT_EQ(about_precision(report), "");
}

}  // namespace
}  // namespace ilux
