// The one object through a series: what is kept, what is noticed, when the strategy changes.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "ilux/base/wall_clock.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/robustness/together.hpp"
#include "ilux/tests/solver/slow_lu.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// Full: random numbers and `changed` times others, and a large diagonal.
CsrMatrix<double> dense(Index n, int seed, double changed = 1)
{
    const auto entries = static_cast<Index>(n * n);
    const auto first = random_vector(entries, 1), second = random_vector(entries, seed);
    Dense      A{n, n, first};
    for (std::size_t k = 0; k < A.a.size(); ++k) A.a[k] += changed * second[k];
    for (Index i = 0; i < n; ++i) A(i, i) += 3.0 * n;
    return to_csr(A);
}

TEST(LinearSolver, WarnsOfMissingRankOnlyWhereItIsOfTheSystem)
{
    const auto          A = to_csr({3, 3, {.25, 0, 1, 0, 2, 0, 1, 0, 4}});
    LinearSolver        solver(serial({.mode = SolverMode::iterative}));
    std::vector<double> x(3);
    solver.analyse(A, 3);
    const std::vector<double> singular{.25, 1, 2, 1, 4}, regular{6, 1, 2, 1, 4}, b{1.25, 2, 5}, c{7, 2, 5};
    EXPECT_NE(solver.refactor_and_solve(singular, b, x).result().warning, "");
    const auto second = solver.refactor_and_solve(regular, c, x);
    EXPECT_TRUE(second.converged());
    EXPECT_EQ(second.result().warning, "");
    EXPECT_EQ(second.result().action, SolverAction::refresh);  // an M without rank is not kept
}

TEST(LinearSolver, KeepsThePreconditionerForEverWhereItsFirstSystemTookNoStep)
{
    const auto    A = gallery::build("convdiff2d:n=20");
    SolverOptions options{.mode = SolverMode::iterative};
    options.sequence.refresh_factor = INFINITY;
    LinearSolver              solver(serial(options));
    std::vector<double>       x(static_cast<std::size_t>(A.rows()));
    const std::vector<double> none(x.size(), 0.0), b = random_vector(A.rows(), 1);
    solver.analyse(A, 3);
    EXPECT_EQ(solver.refactor_and_solve(A.val(), none, x).steps(), 0);
    for (int k = 0; k < 2; ++k) {
        const auto report = solver.refactor_and_solve(A.val(), b, x);
        EXPECT_TRUE(report.converged());
        EXPECT_EQ(report.result().action, SolverAction::lagged);
    }
}

TEST(LinearSolver, KeepsAPreconditionerWhoseOwnSystemWasNeverSolved)
{
    const auto    A = gallery::build("convdiff2d:n=40");
    SolverOptions options = serial({.method = MethodChoice::gmres});
    options.precond.kind = PrecondKind::jacobi;  // many steps
    LinearSolver        solver(options);
    std::vector<double> x(static_cast<std::size_t>(A.rows()));
    const auto          b = random_vector(A.rows(), 1);
    solver.analyse(A, 4);
    EXPECT_TRUE(solver.factor().ready());
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(solver.refactor(A.val()).action, SolverAction::lagged);
        const auto report = solver.solve(b, x);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_GT(report.steps(), 20);
        EXPECT_EQ(report.result().action, SolverAction::lagged) << report.result().reason;
    }
}

TEST(LinearSolver, KeepsPivotsAndPreconditionersInASeries)
{
    auto       A = gallery::build("convdiff2d:n=20");
    const auto b = random_vector(A.rows(), 1);
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative}) {
        LinearSolver solver(serial({.mode = mode}));
        solver.analyse(A, 3);
        std::vector<double>       x(b.size());
        std::vector<SolverAction> actions;
        for (int k = 0; k < 3; ++k) {
            for (double& value : A.val()) value *= 1.001;
            const auto report = solver.refactor_and_solve(A.val(), b, x);
            EXPECT_TRUE(report.converged());
            EXPECT_LE(residual_of(A, x, b), 1e-8);
            actions.push_back(report.result().action);
        }
        const bool direct = mode == SolverMode::direct;
        EXPECT_EQ(actions[0], direct ? SolverAction::factor : SolverAction::refresh);
        EXPECT_EQ(actions[2], direct ? SolverAction::refactor : SolverAction::lagged);
    }
}

TEST(LinearSolver, StaysWithTheStrategyThatSolvedWhatTheOtherCouldNot)
{
    const test::SlowLu slow;
    const auto         hard = gallery::build("convdiff3d:n=22");  // no M but an exact one solves that in two steps
    auto               easy = hard;                               // all but diagonal
    SolverOptions      options;
    options.krylov.max_steps = 2;
    options.krylov.rtol = 1e-12;
    for (Index i = 0; i < easy.rows(); ++i)
        for (Offset p = easy.row_ptr()[i]; p < easy.row_ptr()[i + 1]; ++p)
            if (easy.col()[p] != i) easy.val()[p] *= 1e-14;
    LinearSolver solver(serial(options));
    solver.analyse(easy);
    const auto          b = random_vector(hard.rows(), 1);
    std::vector<double> x(b.size());
    const auto          first = solver.refactor_and_solve(easy.val(), b, x);
    EXPECT_FALSE(first.result().plan.direct()) << testing::PrintToString(first.decisions);
    const auto second = solver.refactor_and_solve(hard.val(), b, x);
    EXPECT_TRUE(second.converged()) << testing::PrintToString(second.decisions);
    EXPECT_TRUE(second.result().plan.direct()) << testing::PrintToString(second.decisions);
    EXPECT_GT(second.attempts.size(), 1u);
    EXPECT_LE(residual_of(hard, x, b), 1e-10);
    const auto third = solver.refactor_and_solve(hard.val(), b, x);
    EXPECT_TRUE(third.result().plan.direct());
    EXPECT_EQ(third.attempts.size(), 1u);
}

/// A series of 2 x 2 systems without matching and scaling; by the pivots of `definite`, `indefinite` loses all digits.
class TinySeries : public testing::Test {
protected:
    LinearSolver<> analysed(SolverMode mode) const
    {
        SolverOptions options{.mode = mode};
        options.lu.matching = LuMatching::off;
        options.lu.scaling = LuScaling::none;
        LinearSolver solver(serial(options));
        solver.analyse(to_csr({2, 2, definite}), 20);
        return solver;
    }

    const std::vector<double> definite{1, 1, 1, 2}, indefinite{1e-16, 1, 1, 2.5}, b{1, 2}, none{0, 0};
    std::vector<double>       x = none;
};

TEST_F(TinySeries, PausesAfterAChangeOfStrategyThatDidNotSolve)
{
    for (const auto& first_b : {b, none}) {
        LinearSolver solver = analysed(SolverMode::automatic);
        solver.listen({}, [](const Attempt& one) {  // an LU that takes longer than any iteration is expected to
            if (one.plan.direct()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        });
        std::vector<int> changed;
        // Where A is not definite, CG breaks down, and no other iteration is tried before LU.
        for (int k = 0; k < 12; ++k) {
            solver.refactor(k == 0 ? definite : indefinite);
            std::size_t tries = 0;
            for (const auto& each : {first_b, b}) {
                const auto report = solver.solve(each, x);
                EXPECT_TRUE(report.converged());
                tries = std::max(tries, report.attempts.size());
            }
            if (tries > 1) changed.push_back(k);
        }
        EXPECT_EQ(changed, (std::vector<int>{2, 4, 7}));  // pauses of 1, 2, 4
    }
}

TEST_F(TinySeries, CountsRepivotsThroughAnotherAnalysis)
{
    const std::vector<double> tiny{1e-200, 1e-200, 1e-200, 2e-200}, singular{1, 1, 1, 1}, large{1e308, 1e308};
    LinearSolver              solver = analysed(SolverMode::direct);
    const auto                repivots = [&](std::span<const double> values, std::span<const double> rhs) {
        const SolverReport report = solver.refactor_and_solve(values, rhs, x);
        const auto&        last = report.attempts.back();
        return last.lu ? last.lu->repivots : -1;
    };
    EXPECT_EQ(repivots(definite, b), 0);
    EXPECT_EQ(repivots(indefinite, b), 1);
    const Index before = repivots(tiny, large);  // x overflows, and other pivots are tried by another analysis
    EXPECT_EQ(before, 2);
    EXPECT_EQ(repivots(singular, b), before);
    EXPECT_EQ(repivots(definite, b), before);
}

TEST(LinearSolver, TakesAnLuOfEarlierNumbersAsPreconditioner)
{
    const test::SlowLu  fast(1e-3);  // so LU is chosen
    const Index         n = 500;     // factoring takes much longer than solving, whatever the machine
    LinearSolver        solver(serial({.lu = {.supernodes = LuSupernodes::off}}));
    const auto          b = random_vector(n, 3);
    std::vector<double> x(b.size());
    solver.analyse(dense(n, 2, 0), 10);
    std::vector<SolverAction> actions;
    for (int k = 0; k < 4; ++k) {
        const auto A = dense(n, 2, 1e-3 * k);
        const auto report = solver.refactor_and_solve(A.val(), b, x);
        ASSERT_TRUE(report.converged()) << testing::PrintToString(report.decisions);
        EXPECT_LE(residual_of(A, x, b), 1e-8);
        actions.push_back(report.result().action);
        const IterationReport& solve = report.result().report;
        const double           worth = report.result().seconds_factor * (1 + solve.steps) / solve.seconds.solve;
        if (k == 1 && worth < 15) GTEST_SKIP()
        << "a refactorization takes no longer here than " << worth << " solves";
        if (!report.result().plan.direct() || report.attempts.size() > 1) GTEST_SKIP()
        << "LU is so slow here that another way is tried: " << report.decisions.back();
    }
    EXPECT_EQ(actions[1], SolverAction::refactor);
    EXPECT_EQ(actions[2], SolverAction::stale);
    EXPECT_EQ(actions[3], SolverAction::stale);
    const auto          like = dense(n, 2, 4e-3);  // members of a batch, which is not by that LU
    std::vector<double> values(2 * like.val().size()), B(2 * b.size(), 1), X(B.size());
    for (std::size_t p = 0; p < values.size(); ++p) values[p] = like.val()[p % like.val().size()];
    EXPECT_EQ(solver.solve_batch(2, values, B, X).counts.at_once, 0);
    auto       A = dense(n, 7, 1e4);  // other numbers altogether
    const auto report = solver.refactor_and_solve(A.val(), b, x);
    EXPECT_TRUE(report.converged());
    EXPECT_LE(residual_of(A, x, b), 1e-8);
    EXPECT_NE(report.result().action, SolverAction::stale);
    EXPECT_NE(report.result().reason.find("with the former one"), std::string::npos) << report.result().reason;
}

TEST(LinearSolver, TwoOnTwoThreadsDoNotDisturbOneAnother)
{
    const auto series = [](SolverMode mode, const CsrMatrix<double>& A) {
        return [mode, A] {
            LinearSolver        solver(serial({.mode = mode}));
            const auto          b = random_vector(A.rows(), 1);
            std::vector<double> x(b.size());
            Answers             answers;
            solver.analyse(A, 20);
            for (int k = 0; k < 20; ++k) {
                EXPECT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged());
                answers.push_back(x);
            }
            return answers;
        };
    };
    expect_same_answers_together(series(SolverMode::direct, gallery::build("convdiff2d:n=30")),
                                 series(SolverMode::iterative, gallery::build("convdiff3d:n=12")));
}

TEST(LinearSolver, LeavesCgWhereALaterSystemIsNotSymmetric)
{
    const test::SlowLu slow;
    const auto         first = gallery::build("poisson3d:n=24"), then = unsymmetric(first);
    const auto         b = times(then, random_vector(then.rows(), 1));
    for (const SolverMode mode : {SolverMode::iterative, SolverMode::automatic}) {
        LinearSolver solver(serial({.mode = mode, .retry = false}));  // so that no M is given up for LU
        solver.analyse(first, 3);
        std::vector<double> x(b.size());
        EXPECT_EQ(solver.refactor_and_solve(first.val(), b, x).result().plan.method, MethodChoice::cg);
        for (const SolverAction action : {SolverAction::refresh, SolverAction::lagged}) {
            const auto report = solver.refactor_and_solve(then.val(), b, x);
            EXPECT_TRUE(report.converged()) << report.why();
            EXPECT_LE(residual_of(then, x, b), 1e-8);
            EXPECT_EQ(report.result().plan.method, MethodChoice::gmres);
            EXPECT_EQ(report.result().action, action) << report.result().reason;
        }
    }
    LinearSolver solver(serial({.method = MethodChoice::cg}));  // as asked, whatever comes of it
    solver.analyse(first, 2);
    std::vector<double> x(b.size());
    EXPECT_TRUE(solver.refactor_and_solve(first.val(), b, x).converged());
    const auto report = solver.refactor_and_solve(then.val(), b, x);
    EXPECT_EQ(report.result().plan.method, MethodChoice::cg);
    EXPECT_FALSE(report.result().plan.precond.mlilu.definite);
}

TEST(LinearSolver, LeavesAnAbsoluteMWhereALaterSystemIsNotSymmetric)
{
    auto first = gallery::build("poisson2d:n=30");
    for (Index i = 0; i < first.rows(); ++i)
        for (Offset p = first.row_ptr()[i]; p < first.row_ptr()[i + 1]; ++p)
            if (first.col()[p] == i) first.val()[p] = i % 7 == 0 ? -4 : 4;
    const auto          then = unsymmetric(first);
    const auto          b = times(then, random_vector(then.rows(), 1));
    std::vector<double> x(b.size());
    LinearSolver        solver(serial({.method = MethodChoice::minres, .retry = false}));
    solver.analyse(first, 2);
    const auto before = solver.refactor_and_solve(first.val(), b, x);
    EXPECT_TRUE(before.converged()) << before.why();
    EXPECT_TRUE(before.result().plan.precond.mlilu.absolute);
    EXPECT_FALSE(solver.refactor_and_solve(then.val(), b, x).result().plan.precond.mlilu.absolute);
}

/// Winds in one pattern: by the rounds for the first one GMRES(30) takes 21 steps with the second, by its own 12, and
/// by M for the first one more than 200.
class ChangingWind : public testing::Test {
protected:
    SolverReport solve(double peclet, bool exact_for_rounds = false)
    {
        const auto A = gallery::convdiff2d({.n = 120, .peclet = peclet});
        const auto b = exact_for_rounds ? times_ones(A) : random_vector(A.rows(), 1);
        if (!solver) {
            options.mode = SolverMode::iterative;
            options.retry = false;
            solver.emplace(serial(options));
            solver->analyse(CsrMatrix<double>(A), 4);
            x.resize(b.size());
        }
        SolverReport report = solver->refactor_and_solve(A.val(), b, x);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_LE(residual_of(A, x, b), 1e-8);
        return report;
    }
    static bool replayed(const SolverReport& report) { return report.result().mlilu->replayed; }

    SolverOptions                 options;
    std::optional<LinearSolver<>> solver;
    std::vector<double>           x;
};

TEST_F(ChangingWind, IsSolvedByTheRoundsOfTheFirst)
{
    EXPECT_FALSE(replayed(solve(10)));
    const auto second = solve(1000);
    EXPECT_EQ(second.result().action, SolverAction::refresh);
    EXPECT_TRUE(replayed(second));
    EXPECT_NE(second.result().reason.find("with the former one; its rounds serve again"), std::string::npos)
        << second.result().reason;
    EXPECT_EQ(solve(1100).result().action, SolverAction::lagged);
}

TEST_F(ChangingWind, HasRoundsOfItsOwnOnceThoseOfTheFirstServeBadly)
{
    EXPECT_EQ(solve(10, true).steps(), 1);  // many more are too many
    EXPECT_TRUE(replayed(solve(1000)));
    const auto third = solve(1000);
    EXPECT_EQ(third.result().action, SolverAction::refresh);
    EXPECT_FALSE(replayed(third));
    EXPECT_EQ(third.result().reason.find("serve again"), std::string::npos) << third.result().reason;
}

TEST_F(ChangingWind, HasRoundsOfItsOwnWhereFactorIsAsked)
{
    EXPECT_TRUE(solve(10).converged());
    (void)solver->factor();
    EXPECT_FALSE(solver->solve(random_vector(static_cast<Index>(x.size()), 1), x).result().mlilu->replayed);
}

TEST_F(ChangingWind, HasRoundsOfItsOwnWhereThoseOfTheFirstFail)
{
    options.krylov.max_steps = 15;
    EXPECT_EQ(solve(10, true).steps(), 1);
    const auto second = solve(1000);  // by the former M, by its rounds, by neither
    EXPECT_EQ(second.attempts.size(), 1);
    EXPECT_FALSE(replayed(second));
    EXPECT_NE(second.result().reason.find("max_steps after 15 steps with the rounds of an earlier one"),
              std::string::npos)
        << second.result().reason;
    EXPECT_GT(second.steps(), 2 * 15);
}

TEST(LinearSolver, NeverRefreshesWhereThatIsAsked)
{
    for (const double factor : {1e7, 1e10, 1e300}) {
        SolverOptions options{.mode = SolverMode::iterative};
        options.precond.kind = PrecondKind::jacobi;
        options.sequence.refresh_factor = factor;
        LinearSolver solver(serial(options));
        const auto   A = gallery::build("convdiff2d:n=30");
        const auto   b = times_ones(A);
        solver.analyse(A, 3);
        std::vector<double> x(b.size());
        for (int k = 0; k < 3; ++k) {
            const auto report = solver.refactor_and_solve(A.val(), b, x);
            EXPECT_TRUE(report.converged());
            EXPECT_EQ(report.result().action, k == 0 ? SolverAction::refresh : SolverAction::lagged);
        }
    }
}

TEST(LinearSolver, TellsSecondsOfFactorsOnce)
{
    const auto          A = gallery::build("convdiff2d:n=40"), other = unsymmetric(A);
    const auto          b = random_vector(A.rows(), 1);
    SolverOptions       options{.mode = SolverMode::iterative};
    LinearSolver        solver(serial(options));
    std::vector<double> x(b.size());
    solver.analyse(A, 2);
    EXPECT_GT(solver.refactor_and_solve(A.val(), b, x).result().seconds_factor, 0);
    EXPECT_EQ(solver.solve(b, x).result().seconds_factor, 0);
    solver.refactor(other);
    for (int k = 0; k < 2; ++k) {
        const auto report = solver.solve(b, x);
        EXPECT_TRUE(report.converged());
        EXPECT_LE(report.result().seconds, report.seconds);
    }
}

TEST(LinearSolver, SecondsBetweenCallsAreNotOfTheBudget)
{
    SolverOptions options{.mode = SolverMode::direct, .retry = false, .time_limit = 0.5};
    options.lu.growth_limit = 1e300;  // the pivots hold until x proves them wrong
    options.lu.matching = LuMatching::off;
    options.lu.ordering = LuOrdering::none;
    options.lu.scaling = LuScaling::none;
    const auto                A = to_csr({3, 3, {4, 1, 1, 1, 2, 3, 1, 5, 8}});
    const std::vector<double> small_pivot{1e-16, 1, 1, 1, 2, 3, 1, 5, 8}, b{2, 6, 14};
    LinearSolver              solver(serial(options));
    std::vector<double>       x(3);
    solver.analyse(A, 2);
    solver.factor();
    EXPECT_EQ(solver.refactor(small_pivot).action, SolverAction::refactor);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    const auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_EQ(report.result().action, SolverAction::repivot);
    EXPECT_EQ(report.result().reason.find("no success either"), std::string::npos) << report.result().reason;
}

TEST(LinearSolver, NewNumbersHaveATimeLimitOfTheirOwn)
{
    constexpr double          limit = 0.5;
    const auto                A = gallery::poisson2d(30, 30);
    const std::vector<double> b = times_ones(A);
    std::vector<double>       x(b.size());
    LinearSolver              solver(serial({.mode = SolverMode::direct, .time_limit = limit}));
    solver.analyse(A);
    const WallClock clock;
    while (clock.seconds() < 2 * limit) {
        solver.factor();
        const auto report = solver.solve(b, x);
        ASSERT_TRUE(report.converged()) << report.why();
    }
}

}  // namespace
}  // namespace ilux
