// The try by ILU(0) that comes first: when it is begun, and when it ends.

#include "ilux/solver/policy/quick_attempt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/slow_lu.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

/// Steps until it is given up or has converged. @param residual  of a step; one takes a second  @param begun  seconds
/// of M
template <class Residual>
Index steps_until_the_end(double seconds, const Residual& residual, double begun = 0)
{
    QuickProgress progress(1e-8, seconds);
    Index         step = 0;
    while (step < 1000 && progress.goes_on(step, residual(step), begun + step) && residual(step) > 1e-8) ++step;
    return step;
}

TEST(QuickProgress, GoesOnWhileItsRateLeadsToRtolInTime)
{
    const auto rate = [](double digits) { return [=](Index step) { return std::pow(10., -digits * step); }; };
    EXPECT_EQ(steps_until_the_end(200, rate(0.1)), 80);
    EXPECT_EQ(steps_until_the_end(140, rate(0.1)), 80);      // 80 of 84 seconds
    EXPECT_EQ(steps_until_the_end(120, rate(0.1)), 25);      // more than 72, which is certain from 24 seconds on
    EXPECT_EQ(steps_until_the_end(200, rate(0.01)), 21);     // 800 steps: hopeless as soon as it has looked around
    EXPECT_EQ(steps_until_the_end(200, rate(0.1), 50), 10);  // what M has taken counts
}

TEST(QuickProgress, LooksAroundBeforeItJudges)
{
    const auto late = [](Index step) { return step < 15 ? 1. : std::pow(10., -0.5 * (step - 15)); };
    EXPECT_EQ(steps_until_the_end(200, late), 31);
    EXPECT_EQ(steps_until_the_end(50, late), 10);  // ten steps, though a tenth of the seconds is over
    EXPECT_EQ(steps_until_the_end(1000, [](Index) { return 1.; }), 101);
}

TEST(QuickProgress, GoesByTheSmallestResidualSoFar)
{
    const auto wild = [](Index step) { return std::pow(10., -0.1 * step) * (step % 3 == 1 ? 1e4 : 1); };
    EXPECT_GT(steps_until_the_end(300, wild), 75);
}

TEST(QuickProgress, StaysAsItEnded)
{
    QuickProgress converged(1e-8, 1), lost(1e-8, 1);
    EXPECT_TRUE(converged.goes_on(0, 1, 0.1));
    EXPECT_TRUE(converged.goes_on(1, 1e-9, 0.1));
    EXPECT_TRUE(converged.goes_on(2, 1, 100));  // of a correction
    EXPECT_FALSE(converged.given_up());
    for (Index step = 0; step < 10; ++step) EXPECT_TRUE(lost.goes_on(step, 1, 2)) << step;
    EXPECT_FALSE(lost.goes_on(10, 1, 2));
    EXPECT_FALSE(lost.goes_on(11, 1e-9, 2));
    EXPECT_TRUE(lost.given_up());
}

ChoiceFacts of_a_grid(double rows)
{
    ChoiceFacts facts;
    facts.lu = {.entries = 7 * rows, .arcs = 7 * rows, .nnz = 300 * rows, .flops = 20 * rows * rows};
    facts.iteration = {.entries = 8 * rows, .rows = rows, .radius = std::cbrt(rows)};
    return facts;
}

TEST(QuickAttempt, IsWorthItWhereItTakesLittleBesideWhatWasChosen)
{
    const Expected expected = expect(of_a_grid(1e5), Rates());
    const double   chosen = worth_a_quick_attempt(of_a_grid(1e5), Rates());
    EXPECT_EQ(chosen, std::min(expected.direct, expected.iteration));
    EXPECT_GT(chosen, 0.5);
    EXPECT_EQ(worth_a_quick_attempt(of_a_grid(1e4), Rates()), 0);  // too short to matter
    ChoiceFacts other[8];
    std::ranges::fill(other, of_a_grid(1e5));
    other[0].iteration.entries *= 3;             // long rows
    other[1].iteration.radius = std::sqrt(1e5);  // too many steps
    other[2].iteration.radius = 0;               // not known
    other[3].iteration.hermitian = true;         // for CG with the diagonal, or a better M
    other[4].iteration.positive = false;
    other[5].place.gpu = true;
    other[6].ahead = {10, 1};
    other[7].ahead = {1, 10};
    for (const ChoiceFacts& facts : other) EXPECT_EQ(worth_a_quick_attempt(facts, Rates()), 0) << &facts - other;
}

TEST(QuickAttempt, IsLeftByOptionsThatAskForNothing)
{
    SolverOptions options;
    EXPECT_TRUE(leaves_quick_attempt(options));
    SolverOptions precond = options, stop = options, once = options, method = options, mixed = options;
    precond.precond.mlilu.drop_tol = 1e-3;
    stop.krylov.stop = StopTest::error;
    once.retry = false;
    method.method = MethodChoice::gmres;
    mixed.krylov.precision = KrylovPrecision::mixed;
    for (const SolverOptions& one : {precond, stop, once, method, mixed}) EXPECT_FALSE(leaves_quick_attempt(one));
}

/// @param heard  the steps
SolverReport solved(LinearSolver<>& solver, const CsrMatrix<double>& A, const ProgressListener& heard = {})
{
    const test::SlowLu        slow(1e6, true);  // for ages, so that no clock decides
    const std::vector<double> b = test::random_vector(A.rows(), 1);
    std::vector<double>       x(b.size());
    solver.listen({.on_progress = heard});
    solver.analyse(A);
    solver.factor();
    return solver.solve(b, x);
}

/// A quick try is of the host.
SolverOptions on_host() { return {.device = DeviceChoice::cpu}; }

TEST(QuickAttempt, ComesFirstAndMaySuffice)
{
    LinearSolver solver(on_host());
    const auto   report = solved(solver, gallery::build("convdiff3d:n=20"));
    EXPECT_TRUE(report.converged());
    ASSERT_EQ(report.attempts.size(), 1);
    EXPECT_EQ(report.result().plan.precond.kind, PrecondKind::ilu0);
    EXPECT_GT(report.result().plan.quick, 0);
}

TEST(QuickAttempt, GivesWayToWhatWasChosen)
{
    SolverOptions few = on_host();
    few.krylov.max_steps = 5;
    LinearSolver solver(few);
    const auto   report = solved(solver, gallery::build("convdiff3d:n=20"));
    EXPECT_TRUE(report.converged());
    ASSERT_GE(report.attempts.size(), 2);
    EXPECT_GT(report.attempts[0].plan.quick, 0);
    EXPECT_EQ(report.attempts[0].report.outcome, Outcome::max_steps);
    EXPECT_EQ(report.attempts[1].plan.quick, 0);
    EXPECT_NE(report.attempts[1].plan.precond.kind, PrecondKind::ilu0);
}

TEST(QuickAttempt, IsGivenUpWhereItsStepsLeadNowhere)
{
    auto A = gallery::build("helmholtz2d:n=150");
    A.val()[1] *= 1.001;  // not symmetric
    const test::SlowLu slow(30, true);
    SolverOptions      endless = on_host();
    endless.krylov.max_steps = 1'000'000;
    LinearSolver        solver(endless);
    std::vector<double> b = test::random_vector(A.rows(), 1), x(b.size());
    solver.analyse(A);
    solver.factor();
    const auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged());
    ASSERT_GE(report.attempts.size(), 2);
    EXPECT_GT(report.attempts[0].plan.quick, 0);
    EXPECT_TRUE(report.attempts[0].given_up);
    EXPECT_NE(report.attempts[0].explanation.find("did not promise"), std::string::npos)
        << report.attempts[0].explanation;
    EXPECT_EQ(report.attempts[1].plan.quick, 0);
}

TEST(QuickAttempt, EndsAllWhenTheCallerAsksForIt)
{
    LinearSolver solver;
    StopSource   source;
    solver.stop_by(source.token());
    const auto report = solved(solver, gallery::build("convdiff3d:n=20"), [&](const Progress& now) {
        if (now.phase == Progress::Phase::solve && now.done == 3) source.request_stop();
    });
    EXPECT_EQ(report.outcome(), Outcome::cancelled);
    EXPECT_EQ(report.attempts.size(), 1);
}

TEST(QuickAttempt, ServesTheNextNumbersOfASeriesToo)
{
    const auto          A = gallery::build("convdiff3d:n=20");
    LinearSolver        solver(on_host());
    std::vector<double> b = test::random_vector(A.rows(), 2), x(b.size()), values(A.val().begin(), A.val().end());
    EXPECT_TRUE(solved(solver, A).converged());
    for (double& value : values) value *= 1.5;
    EXPECT_TRUE(solver.refactor(values).ready());
    const auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.result().plan.precond.kind, PrecondKind::ilu0);
}

}  // namespace
}  // namespace ilux
