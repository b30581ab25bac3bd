#include "ilux/krylov/gmres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/tests/krylov/runs.hpp"

namespace ilux {
namespace {

using namespace test::krylov;

using test::Dense;
using test::eps;

TEST(Gmres, TakesTheStepsComputedByHand)
{
    // A = [1 1; 0 1], b = e₂: A e₂ = (1, 1), y = 1/2, r₁ = (−1/2, 1/2); then x = (−1, 1).
    const auto A = dense(2, {1, 1, 0, 1});
    const auto one = run(Method::gmres, A, {0, 1}, {.max_steps = 1});
    EXPECT_LE(test::relative_difference(one.x, Vector{0, 0.5}), 4 * eps);
    EXPECT_NEAR(one.report.relative_residual, std::sqrt(0.5), 4 * eps);
    const auto two = run(Method::gmres, A, {0, 1}, {.max_steps = 2});
    EXPECT_EQ(two.report.outcome, Outcome::converged);
    EXPECT_LE(test::relative_difference(two.x, Vector{-1, 1}), 8 * eps);
}

TEST(Gmres, IsTheLeastSquaresSolutionOverTheKrylovSpace)
{
    const Index n = 12;
    const auto  A = test::random_dominant(n, 4, 3);
    const auto  b = test::random_vector(n, 4);
    const Dense D = test::to_dense(A);
    for (Index k : {1, 2, 3, 5}) {
        // K = [b, Ab, …], columns scaled; min ‖b − A K y‖ by its normal equations.
        Dense  K{n, k, Vector(static_cast<std::size_t>(n) * k)};
        Vector v = b;
        for (Index j = 0; j < k; ++j) {
            const double size = norm(v);
            for (Index i = 0; i < n; ++i) K(i, j) = v[i] / size;
            for (double& vi : v) vi /= size;
            v = test::multiply(D, v);
        }
        const Dense  AK = test::multiply(D, K), AKt = test::transposed(AK);
        const Vector y = test::dense_solve(test::multiply(AKt, AK), test::multiply(AKt, b));
        const Vector x = test::multiply(K, y);
        for (Orthogonalization ortho : {Orthogonalization::mgso, Orthogonalization::cgs2}) {
            const auto s = run(Method::gmres, A, b, {.rtol = 0, .max_steps = k, .ortho = ortho});
            EXPECT_EQ(s.report.steps, k);
            EXPECT_LE(test::relative_difference(s.x, x), 1e-8) << "k = " << k;
        }
    }
}

TEST(Gmres, ResidualNeverGrowsAndEstimatesAgreeWithRecomputedOnes)
{
    const auto A = test::random_dominant(80, 6, 3);
    const auto b = test::random_vector(80, 4);
    const auto s = run(Method::gmres, A, b, {.rtol = 1e-12, .restart = 4});
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_GT(s.report.restarts, 1);
    double before = 1;
    for (std::size_t i = 0; i < s.history.size(); ++i) {
        EXPECT_LE(s.history[i].residual, before * (1 + 1e-3) + 1e-15);
        before = s.history[i].residual;
        if (s.history[i].exact && i > 0) {
            EXPECT_NEAR(s.history[i].residual / s.history[i - 1].residual, 1, 1e-2);
        }
    }
}

TEST(Gmres, LeftAndRightAgreeWithoutAPreconditioner)
{
    const auto A = test::random_dominant(50, 4, 3);
    const auto b = test::random_vector(50, 4);
    const auto right = run(Method::gmres, A, b, {.restart = 6});
    const auto left = run(Method::gmres, A, b, {.restart = 6, .side = Side::left});
    EXPECT_EQ(left.report.steps, right.report.steps);
    EXPECT_LE(test::relative_difference(left.x, right.x), 1e-12);
}

TEST(Gmres, FromTheLeftJudgesTheTrueResidualHoweverMScalesIt)
{
    const auto A = test::random_dominant(60, 4, 3);
    const auto b = test::random_vector(60, 4);
    for (double size : {1e-9, 1e9}) {
        Given      M(60, [size](long, std::span<const double> r, std::span<double> z) {
            for (std::size_t i = 0; i < r.size(); ++i) z[i] = size * r[i] * (i % 2 ? 1 : 100);
        });
        const auto s = run(Method::gmres, A, M, b, Vector(60), {.side = Side::left});
        EXPECT_EQ(s.report.outcome, Outcome::converged);
        EXPECT_LE(true_residual(A, s.x, b), 1.001e-8);
    }
}

TEST(Gmres, StagnatesOnTheCyclicShiftUnlessItMayUseTheWholeSpace)
{
    // A e_{i+1} = e_i, b = e_n: no residual falls before step n.
    const Index        n = 20;
    std::vector<Index> row(n), col(n);
    for (Index i = 0; i < n; ++i) {
        row[i] = i;
        col[i] = (i + 1) % n;
    }
    const auto A = CsrMatrix<>::from_triplets(n, n, row, col, Vector(n, 1.));
    Vector     b(n);
    b[n - 1] = 1;
    const auto restarted = run(Method::gmres, A, b, {.restart = n - 1});
    EXPECT_EQ(restarted.report.outcome, Outcome::stagnated);
    EXPECT_EQ(restarted.report.restarts, 3);
    EXPECT_EQ(restarted.x, Vector(n));
    const auto full = run(Method::gmres, A, b, {.restart = n});
    EXPECT_EQ(full.report.outcome, Outcome::converged);
    EXPECT_EQ(full.report.steps, n);
}

TEST(Gmres, KeepsOnWhileProgressIsSlowButSteady)
{
    // GMRES(1) on [1 c; -c 1] reduces the residual by c/√(1+c²) each cycle: 0.2 % for c = 16.
    const double c = 16;
    const auto   s =
        run(Method::gmres, dense(2, {1, c, -c, 1}), {1, 1}, {.rtol = 1e-4, .max_steps = 20'000, .restart = 1});
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    const double steps = std::log(1e-4) / std::log(c / std::hypot(1, c));
    EXPECT_NEAR(s.report.steps, steps, 2);
}

TEST(Gmres, NamesAnInvariantSpaceWithoutASolution)
{
    const auto s = run(Method::gmres, dense(2, {0, 1, 0, 0}), {1, 0}, {});  // A b = 0
    EXPECT_EQ(s.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(s.report.detail, "the Krylov space is invariant without a solution: A or M is singular");
    EXPECT_EQ(s.x, Vector(2));
    Given zero(2, [](long, std::span<const double>, std::span<double> z) { z[0] = z[1] = 0; });
    for (Side side : {Side::left, Side::right}) {
        const auto t = run(Method::gmres, CsrMatrix<>::identity(2), zero, {1, 0}, Vector(2), {.side = side});
        EXPECT_EQ(t.report.outcome, Outcome::breakdown);
    }
}

TEST(Gmres, RefusesAWorkspaceOfAnotherRestartLength)
{
    const auto           A = test::random_spd(9, 2, 1);
    Cpu                  be(1);
    const MatrixOperator op(A);
    Identity<Cpu>        I(9);
    GmresWorkspace<Cpu>  ws(9, {.restart = 4});
    Vector               b(9, 1.), x(9);
    EXPECT_THROW((void)gmres(be, op, I, b, x, ws, {.restart = 5}), InvalidInput);
    EXPECT_EQ(gmres(be, op, I, b, x, ws, {.restart = 4}).outcome, Outcome::converged);
}

TEST(Fgmres, AllowsAnotherPreconditionerAtEveryStep)
{
    const auto   A = test::random_dominant(80, 5, 3);
    const auto   b = test::random_vector(80, 4);
    test::Random random(5);
    Given        M(80, [&](long call, std::span<const double> r, std::span<double> z) {
        for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] * (call % 3 + 1) * random.uniform(0.5, 1.5);
    });
    const auto   flexible = run(Method::fgmres, A, M, b, Vector(80), {.rtol = 1e-10});
    EXPECT_EQ(flexible.report.outcome, Outcome::converged);
    EXPECT_LE(true_residual(A, flexible.x, b), 1.001e-10);
}

TEST(Fgmres, DoesWhatGmresDoesForAFixedPreconditioner)
{
    const auto A = test::random_dominant(60, 5, 3);
    const auto b = test::random_vector(60, 4);
    auto       M = jacobi(A);
    const auto g = run(Method::gmres, A, M, b, Vector(60), {.restart = 7});
    const auto f = run(Method::fgmres, A, M, b, Vector(60), {.restart = 7});
    EXPECT_EQ(f.report.steps, g.report.steps);
    EXPECT_LE(test::relative_difference(f.x, g.x), 1e-12);
}

TEST(Stopping, TheLeastPositiveResidualIsNoProgress)
{
    const double least = std::numeric_limits<double>::denorm_min();
    Stopping     stop({.rtol = 1e-8}, 1e-320);  // whose target is 0
    for (int cycle = 0; cycle < 3; ++cycle) EXPECT_FALSE(stop.at_restart(least, 1)) << cycle;
    EXPECT_EQ(stop.at_restart(least, 1), Outcome::stagnated);
}

}  // namespace
}  // namespace ilux
