// LinearSolver after a failure, an exception, or numbers that nobody asked a solution of.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/ilu0_first.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

TEST_F(Ilu0First, SolvesForAnotherBAfterTriesThatLeftNoFactors)
{
    LinearSolver solver = analysed(too_few_steps, too_few);
    EXPECT_TRUE(solver.factor().ready());
    for (int k = 0; k < 2; ++k) {
        const auto failed = solver.solve(b, x);
        EXPECT_FALSE(failed.converged());
        EXPECT_EQ(failed.attempts.back().report.outcome, Outcome::out_of_memory);
        const auto report = solver.solve(easy, x);
        EXPECT_TRUE(report.converged());
        EXPECT_EQ(report.result().plan.precond.kind, PrecondKind::ilu0);
    }
}

TEST_F(Ilu0First, AnswersNothingOfABThatAnExceptionBrokeOff)
{
    LinearSolver solver = analysed(too_few_steps);
    solver.listen(impatient());
    EXPECT_TRUE(solver.factor().ready());
    for (int k = 0; k < 2; ++k) {
        EXPECT_THROW((void)solver.solve(b, x), std::runtime_error);
        const auto report = solver.solve(easy, x);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_EQ(report.attempts.size(), 1u);
        EXPECT_EQ(report.stopped, "");
        EXPECT_EQ(x, easy);
    }
}

TEST_F(Ilu0First, HasNoAnswersWhereAnExceptionBrokeOffNewNumbers)
{
    LinearSolver solver = analysed();
    solver.listen(impatient());
    EXPECT_THROW(solver.factor(bad), std::runtime_error);
    for (int k = 0; k < 2; ++k) EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
    EXPECT_THROW((void)solver.refactor_and_solve(bad, b, x), std::runtime_error);
    for (int k = 0; k < 2; ++k) EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
    EXPECT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged());
}

TEST_F(Ilu0First, TellsNothingOfAFailureThatAnExceptionBrokeOff)
{
    LinearSolver solver = analysed();
    solver.listen({}, throw_enough);  // once ILU(0) has failed
    EXPECT_THROW(solver.factor(bad), std::runtime_error);
    solver.listen({});
    for (int k = 0; k < 2; ++k) EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
}

TEST_F(Ilu0First, TellsNothingOfTriesWhoseFactorsAnExceptionTook)
{
    LinearSolver solver = analysed(too_few_steps);
    EXPECT_TRUE(solver.factor(bad).ready());
    solver.listen(impatient());  // in the setup of a tighter M
    EXPECT_THROW((void)solver.solve(b, x), std::runtime_error);
    solver.listen({});
    const auto report = solver.solve(easy, x);
    EXPECT_TRUE(report.converged());
    ASSERT_EQ(report.attempts.size(), 2u);  // by the first plan once more
    EXPECT_EQ(report.attempts[0].plan.precond.kind, PrecondKind::ilu0);
    EXPECT_EQ(report.attempts[1].plan.precond.kind, PrecondKind::mlilu);
}

TEST_F(Ilu0First, TellsThePlanThatTheFactorsAreOf)
{
    LinearSolver solver = analysed();
    solver.listen(impatient());
    EXPECT_THROW(solver.factor(bad), std::runtime_error);
    solver.listen({});
    EXPECT_TRUE(solver.refactor(bad).ready());
    EXPECT_EQ(solver.refactor(A).action, SolverAction::lagged);
    const auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged());
    EXPECT_TRUE(solver.preconditioner()->mlilu);
    EXPECT_EQ(report.result().plan.precond.kind, PrecondKind::mlilu);
}

TEST_F(Ilu0First, TellsOfTriesThatLeftFactorsAfterABThatAnExceptionBrokeOff)
{
    LinearSolver solver = analysed();
    EXPECT_TRUE(solver.factor(bad).ready());
    solver.listen({}, throw_enough);
    EXPECT_THROW((void)solver.solve(b, x), std::runtime_error);
    solver.listen({});
    const auto report = solver.solve(b, x);
    ASSERT_EQ(report.attempts.size(), 2u);
    EXPECT_EQ(report.attempts[0].plan.precond.kind, PrecondKind::ilu0);
    EXPECT_EQ(report.attempts[0].report.outcome, Outcome::breakdown);
    EXPECT_EQ(report.attempts[1].plan.precond.kind, PrecondKind::mlilu);
}

TEST_F(Ilu0First, BeginsAnewAfterNumbersThatNobodyAskedASolutionOf)
{
    LinearSolver solver = analysed(1000, too_few);
    EXPECT_FALSE(solver.factor(bad).ready());
    EXPECT_FALSE(solver.refactor(bad).ready());
    EXPECT_TRUE(solver.refactor(A).ready());
    const auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.stopped, "");
}

TEST(LinearSolverErrors, LeaveTheSecondsOfFactorsToBeTold)
{
    SolverOptions options{.mode = SolverMode::iterative, .retry = false};
    options.krylov.max_steps = 40;
    LinearSolver        solver(serial(options));
    const auto          A = gallery::build("poisson3d:n=16"), other = unsymmetric(A);
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    solver.analyse(A, 3);
    EXPECT_TRUE(solver.factor().ready());
    const auto broken_off_and_again = [&](const auto& call) {
        solver.listen({}, throw_enough);
        EXPECT_THROW((void)call(), std::runtime_error);
        solver.listen({});
        const auto report = solver.solve(b, x);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_EQ(report.attempts.size(), 1u);
        EXPECT_GT(report.result().seconds_factor, 0);
        EXPECT_GE(report.result().seconds, report.result().seconds_factor);
        EXPECT_LE(report.result().seconds, report.seconds);
    };
    broken_off_and_again([&] { return solver.solve(b, x); });
    broken_off_and_again([&] { return solver.refactor_and_solve(other.val(), b, x); });  // no longer symmetric
    std::vector<double> reversed(A.val().begin(), A.val().end());                        // where the former M is poor
    for (std::size_t p = 0; p < reversed.size(); ++p) reversed[p] = 2 * A.val()[p] - other.val()[p];
    EXPECT_EQ(solver.refactor(reversed).action, SolverAction::lagged);
    broken_off_and_again([&] { return solver.solve(b, x); });
}

TEST(LinearSolverErrors, AnOverflowingXHasNoResidual)
{
    LinearSolver              solver(serial({.mode = SolverMode::direct, .retry = false}));
    const auto                A = to_csr({2, 2, {1e-200, 0, 0, 1e-200}});
    const std::vector<double> b{1, 1}, large{1e200, 1e200};
    std::vector<double>       x(2);
    solver.analyse(A, 2);
    EXPECT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged());
    const auto report = solver.solve(large, x);
    EXPECT_EQ(report.outcome(), Outcome::not_finite) << report.why();
    EXPECT_TRUE(std::isnan(report.relative_residual()));
    EXPECT_TRUE(std::isnan(report.result().accuracy.rowwise));
}

TEST(LinearSolverErrors, AreToldWhereTheResidualOfAnLuLeavesTheRangeOfNumbers)
{
    // Rounding of 1e280 in row 1, beside ‖b‖ = 1e-320.
    LinearSolver solver(serial({.method = MethodChoice::lu, .retry = false}));
    solver.analyse(to_csr({2, 2, {3, 1e300, 0, 1e-300}}));
    EXPECT_TRUE(solver.factor().ready());
    std::vector<double> x(2);
    const auto          report = solver.solve(std::vector<double>{0, 1e-320}, x);
    EXPECT_EQ(report.outcome(), Outcome::not_finite);
    EXPECT_NE(report.why(), "");
}

TEST(LinearSolverErrors, AreOutcomesWhereTheNormOfAIsZeroOrOverflows)
{
    for (const double a : {0.0, 1.7e308}) {
        LinearSolver solver(serial({.method = MethodChoice::gmres, .krylov = {.stop = StopTest::backward_error}}));
        solver.analyse(CsrMatrix<double>::from_arrays(3, 3, {0, 1, 2, 3}, {0, 1, 2}, {a, a, a}));
        solver.factor();
        std::vector<double> x(3);
        EXPECT_EQ(solver.solve(std::vector<double>{1, 1, 1}, x).converged(), a > 0);
    }
}

}  // namespace
}  // namespace ilux
