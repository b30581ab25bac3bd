// A matrix that is symmetric but for rounding is solved as a symmetric one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/engine/report/solver_report.hpp"
#include "ilux/tests/solver/rounded.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

CsrMatrix<double> shifted(CsrMatrix<double> A, double shift)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] -= shift;
    return A;
}

TEST(RoundedSymmetry, IsGoodEnoughForCg)
{
    const auto A = test::rounded(gallery::build("poisson2d:n=30"));
    ASSERT_FALSE(is_symmetric(A));
    const auto b = test::random_vector(A.rows(), 1);
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::cg}) {
        LinearSolver<> solver(test::serial({.mode = SolverMode::iterative, .method = method, .retry = false}));
        solver.analyse(A);
        solver.factor();
        std::vector<double> x(b.size());
        const auto          report = solver.solve(b, x);
        EXPECT_EQ(report.result().report.outcome, Outcome::converged);
        EXPECT_EQ(report.result().plan.method, MethodChoice::cg);
        EXPECT_TRUE(report.result().plan.precond.mlilu.definite);
        // Judged by A as it was given.
        const auto Ax = test::times(A, x);
        double     r = 0, size = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            r = std::hypot(r, b[i] - Ax[i]);
            size = std::hypot(size, b[i]);
        }
        EXPECT_LE(r, 1e-8 * size);
        EXPECT_NEAR(report.relative_residual(), r / size, 1e-3 * r / size);
        EXPECT_FALSE(test::mentions(all_decisions(report), "although A is not symmetric"));
        const auto said = [](const std::string& one) { return one.starts_with("A is symmetric but for rounding"); };
        const auto all = all_decisions(report);
        EXPECT_EQ(std::ranges::count_if(all, said), 1);
    }
}

TEST(RoundedSymmetry, LetsMBeStoredByHalf)
{
    const auto    A = test::rounded(gallery::build("poisson2d:n=30"));
    SolverOptions options{.method = MethodChoice::gmres, .retry = false};
    options.precond.mlilu.half = true;
    options.precond.mlilu.definite = true;
    LinearSolver<> solver(test::serial(options));
    solver.analyse(A);
    solver.factor();
    const auto          b = test::random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    const auto          report = solver.solve(b, x);
    EXPECT_EQ(report.result().report.outcome, Outcome::converged);
    EXPECT_FALSE(test::mentions(all_decisions(report), "half has no effect"));
}

TEST(RoundedSymmetry, IsGoodEnoughForMinresAndSqmr)
{
    const auto A = test::rounded(shifted(gallery::build("poisson2d:n=20"), 1.3));
    ASSERT_FALSE(is_symmetric(A));
    const auto b = test::random_vector(A.rows(), 2);
    for (const MethodChoice method : {MethodChoice::minres, MethodChoice::sqmr}) {
        LinearSolver<> solver(test::serial({.method = method, .retry = false}));
        solver.analyse(A);
        solver.factor();
        std::vector<double> x(b.size());
        const auto          report = solver.solve(b, x);
        EXPECT_EQ(report.result().report.outcome, Outcome::converged);
        EXPECT_FALSE(test::mentions(all_decisions(report), "although A is not symmetric"));
    }
}

TEST(RoundedSymmetry, IsNotThatOfAnUnsymmetricMatrix)
{
    auto A = gallery::build("poisson2d:n=10");
    A.val()[1] *= 1 + 1e-12;
    LinearSolver<> solver(test::serial({.mode = SolverMode::iterative, .retry = false}));
    solver.analyse(A);
    solver.factor();
    const auto          b = test::random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    const auto          report = solver.solve(b, x);
    EXPECT_EQ(report.result().plan.method, MethodChoice::gmres);
    EXPECT_TRUE(test::mentions(all_decisions(report), "method gmres: A is not symmetric"));
}

}  // namespace
}  // namespace ilux
