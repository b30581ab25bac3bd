// The one object: phases, choices, fallbacks, budgets.

#include "ilux/solver/linear_solver.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/solver/slow_lu.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// Analyses, factors and solves for the b of a random x; a success is checked.
SolverReport solved(LinearSolver<>& solver, const CsrMatrix<double>& A)
{
    const auto          b = times(A, random_vector(A.rows(), 1));
    std::vector<double> x(b.size(), NAN);
    solver.analyse(A);
    solver.factor();
    SolverReport report = solver.solve(b, x);
    if (report.converged()) {
        EXPECT_LE(residual_of(A, x, b), 1e-7);
    }
    return report;
}

SolverReport solved(const SolverOptions& options, const CsrMatrix<double>& A)
{
    LinearSolver solver(serial(options));
    return solved(solver, A);
}

TEST(LinearSolver, BorrowsTheMatrixAndCopiesNewValues)
{
    const CsrMatrix<double> A = gallery::poisson2d(6, 6);
    const auto              b = times_ones(A);
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative, SolverMode::automatic}) {
        LinearSolver        solver(serial({.mode = mode}));
        std::vector<double> x(b.size());
        solver.analyse(A);
        EXPECT_EQ(solver.matrix().col().data(), A.col().data());
        EXPECT_EQ(solver.matrix().val().data(), A.val().data());
        {
            std::vector<double> twice(A.val().begin(), A.val().end());
            for (double& value : twice) value *= 2;
            EXPECT_TRUE(solver.factor(twice).ready());
            std::ranges::fill(twice, 0);
        }
        EXPECT_TRUE(solver.solve(b, x).converged());
        for (const double value : x) EXPECT_NEAR(value, 0.5, 1e-6);
        EXPECT_TRUE(solver.refactor(solver.matrix()).ready()) << "its own values again";
    }
}

TEST(LinearSolver, KeepsAMatrixThatIsGivenAway)
{
    LinearSolver solver(serial({}));
    solver.analyse(gallery::poisson2d(6, 6));
    const auto          b = times_ones(gallery::poisson2d(6, 6));
    std::vector<double> x(b.size());
    LinearSolver        moved = std::move(solver);
    EXPECT_TRUE(moved.factor().ready());
    EXPECT_TRUE(moved.solve(b, x).converged());
    for (const double value : x) EXPECT_NEAR(value, 1, 1e-6);
}

TEST(LinearSolver, TakesArraysOfOtherProgramsWithNarrowRowPointers)
{
    const CsrMatrix<double>         A = gallery::poisson2d(6, 6);
    const std::vector<std::int32_t> row_ptr(A.row_ptr().begin(), A.row_ptr().end());
    const WidenedCsr<double>        given(A.rows(), A.cols(), row_ptr, A.col(), A.val());
    const auto                      b = times_ones(A);
    std::vector<double>             x(b.size());
    LinearSolver                    solver(serial({}));
    solver.analyse(given);
    EXPECT_TRUE(solver.factor().ready());
    EXPECT_TRUE(solver.solve(b, x).converged());
    for (const double value : x) EXPECT_NEAR(value, 1, 1e-6);
}

TEST(LinearSolver, RefusesAGpusRefactorizationWithoutAGpu)
{
    if (gpu_count() > 0) GTEST_SKIP()
    << "there is one";
    SolverOptions options;
    options.lu.refactor = RefactorMethod::left;
    for (const SolverMode mode : {SolverMode::direct, SolverMode::automatic}) {
        options.mode = mode;
        LinearSolver solver(options);
        EXPECT_THROW(solver.analyse(gallery::poisson2d(4, 4)), DeviceError);
    }
}

TEST(LinearSolver, RefusesPhasesOutOfOrder)
{
    LinearSolver        solver(serial());
    const auto          A = gallery::poisson2d(4, 4);
    std::vector<double> b(16, 1.0), x(16);
    EXPECT_THROW(solver.factor(), InvalidInput);
    EXPECT_THROW(solver.factor(A.val()), InvalidInput);
    EXPECT_THROW(solver.refactor(A), InvalidInput);
    EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
    EXPECT_THROW((void)solver.device(), InvalidInput);
    solver.analyse(A);
    EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
    EXPECT_TRUE(solver.factor().ready());
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_THROW((void)solver.solve(std::span(b).first(15), x), InvalidInput);
    b[3] = NAN;
    EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
}

TEST(LinearSolver, RefusesAnotherPatternAndWhatIsNotFinite)
{
    LinearSolver solver(serial());
    const auto   A = gallery::poisson2d(4, 4);
    solver.analyse(A);
    EXPECT_TRUE(solver.factor().ready());
    expect_refusal<InvalidInput>([&] { solver.refactor(gallery::poisson2d(8, 2)); }, {"row", "another pattern"});
    expect_refusal<InvalidInput>([&] { solver.refactor(gallery::poisson2d(4, 3)); }, {"12 x 12", "16 x 16"});
    expect_refusal<InvalidInput>([&] { solver.refactor(A.val().first(7)); }, {"7 values"});
    auto bad = A;
    bad.val()[5] = INFINITY;
    EXPECT_THROW(solver.refactor(bad), InvalidInput);
    EXPECT_THROW(solver.analyse(bad), InvalidInput);
    EXPECT_TRUE(solver.refactor(A).ready());
}

TEST(LinearSolver, RefusesAModeThatContradictsTheMethod)
{
    EXPECT_THROW(LinearSolver({.mode = SolverMode::direct, .method = MethodChoice::gmres}), InvalidOption);
    EXPECT_THROW(LinearSolver({.mode = SolverMode::iterative, .method = MethodChoice::lu}), InvalidOption);
}

TEST(LinearSolver, TakesTheWayItIsTold)
{
    const auto A = gallery::build("convdiff2d:n=12");
    EXPECT_TRUE(solved({.mode = SolverMode::direct}, A).result().plan.direct());
    EXPECT_EQ(solved({.mode = SolverMode::iterative}, A).result().plan.method, MethodChoice::gmres);
    EXPECT_EQ(solved({.mode = SolverMode::iterative}, gallery::poisson2d(9, 9)).result().plan.method, MethodChoice::cg);
    EXPECT_EQ(solved({.method = MethodChoice::bicgstab}, A).result().plan.method, MethodChoice::bicgstab);
}

TEST(LinearSolver, ChoosesByFiguresAndSaysThem)
{
    const auto tiny = solved({}, gallery::poisson2d(9, 9));
    EXPECT_TRUE(tiny.result().plan.direct());
    EXPECT_TRUE(mentions(tiny.decisions, "nnz 369"));

    const auto banded = solved({}, gallery::build("convdiff2d:n=60"));  // LU analysed and taken
    EXPECT_TRUE(banded.result().plan.direct());
    EXPECT_TRUE(mentions(banded.decisions, "direct: ")) << testing::PrintToString(banded.decisions);
    EXPECT_TRUE(mentions(banded.decisions, "flops"));

    const test::SlowLu slow;
    const auto         cube = solved({}, gallery::build("convdiff3d:n=32"));  // parts of it tell
    EXPECT_FALSE(cube.result().plan.direct());
    EXPECT_TRUE(mentions(cube.decisions, "iterative: LU is expected to take"))
        << testing::PrintToString(cube.decisions);
    EXPECT_TRUE(cube.converged());
}

TEST(LinearSolver, GoesToAnIterationWhereAHasNoLu)
{
    // Structurally singular, which a tiny system shows only when it is factored, and a larger one in the analysis.
    for (const Index n : {200, 5000}) {
        auto                A = gallery::poisson2d(n, 1);
        std::vector<Offset> ptr(A.row_ptr().begin(), A.row_ptr().end());
        std::vector<Index>  col(A.col().begin(), A.col().end());
        std::vector<double> val(A.val().begin(), A.val().end());
        for (std::size_t p = 1; p <= 2; ++p)
            col[col.size() - p] = n - 1 - static_cast<Index>(p);  // nothing in column n − 1
        for (std::size_t p = 3; p <= 5; ++p) col[col.size() - p] = n + 1 - static_cast<Index>(p);
        const auto singular = CsrMatrix<double>::from_arrays(n, n, ptr, col, val);
        const auto report = solved({}, singular);
        EXPECT_FALSE(report.result().plan.direct()) << n;
        EXPECT_TRUE(report.converged()) << n << testing::PrintToString(report.decisions);
        EXPECT_TRUE(mentions(report.decisions, "structurally singular")) << testing::PrintToString(report.decisions);
    }
}

TEST(LinearSolver, GoesToAnIterationWhereTheLuIsSingular)
{
    const Index         n = 40;  // pure Neumann: A·1 = 0, b orthogonal to 1
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i) {
        for (Index j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            col.push_back(j);
            val.push_back(i != j ? -1 : i == 0 || i == n - 1 ? 1 : 2);
        }
        ptr.push_back(static_cast<Offset>(col.size()));
    }
    const auto          A = CsrMatrix<double>::from_arrays(n, n, ptr, col, val);
    std::vector<double> b(n, 0.0), x(n);
    b.front() = 1;
    b.back() = -1;
    LinearSolver solver(serial());
    solver.analyse(A);
    solver.factor();
    const auto report = solver.solve(b, x);
    ASSERT_GE(report.attempts.size(), 2u);
    EXPECT_TRUE(report.attempts[0].plan.direct());
    EXPECT_EQ(report.attempts[0].report.outcome, Outcome::singular);
    EXPECT_TRUE(report.converged()) << testing::PrintToString(report.decisions);
    EXPECT_LE(residual_of(A, x, b), 1e-8);
    EXPECT_TRUE(mentions(report.decisions, "trying an iteration"));
    const std::string many = "A is singular, or nearly so: x is determined up to a constant";
    EXPECT_EQ(report.result().warning, many);

    std::swap(b.front(), b.back());  // by the factors that there are
    const auto other = solver.solve(b, x);
    EXPECT_EQ(other.attempts.size(), 1u);
    EXPECT_EQ(other.result().warning, many);

    val.front() = 2;  // no longer singular
    ASSERT_TRUE(solver.refactor(val).ready());
    const auto regular = solver.solve(b, x);
    EXPECT_TRUE(regular.converged() && regular.result().warning.empty()) << regular.result().warning;
}

TEST(LinearSolver, GoesToAnIterationWhereAnLuFindsNoMemory)
{
    for (const char* name : {"poisson2d:n=20", "convdiff2d:n=50"}) {  // found out in factoring, and in the analysis
        const auto    A = gallery::build(name);
        SolverOptions options;
        options.lu.memory_limit = {20'000};
        const auto report = solved(options, A);
        EXPECT_TRUE(report.converged());
        EXPECT_FALSE(report.result().plan.direct());
        EXPECT_TRUE(mentions(report.decisions, "memory_limit")) << testing::PrintToString(report.decisions);
    }
}

TEST(LinearSolver, GoesFromAnIterationThatFailsToLu)
{
    const test::SlowLu slow;
    const auto         A = gallery::build("convdiff3d:n=22");
    SolverOptions      options;
    options.krylov.max_steps = 1;
    const auto report = solved(options, A);
    if (report.attempts.front().given_up) GTEST_SKIP()
    << "too slow a machine: " << report.attempts.front().why();
    ASSERT_GE(report.attempts.size(), 2u) << testing::PrintToString(report.decisions);
    EXPECT_FALSE(report.attempts.front().plan.direct());
    EXPECT_TRUE(report.attempts.back().plan.direct());
    EXPECT_TRUE(report.converged());
    EXPECT_TRUE(mentions(report.decisions, "max_steps after 1 steps: trying"));
}

TEST(LinearSolver, DoesNotLeaveItsWayWhereThatWasAsked)
{
    SolverOptions options{.mode = SolverMode::iterative, .retry = false};
    options.krylov.max_steps = 1;
    const auto iterative = solved(options, gallery::build("convdiff2d:n=12"));
    EXPECT_EQ(iterative.outcome(), Outcome::max_steps);
    EXPECT_EQ(iterative.attempts.size(), 1u);
    EXPECT_EQ(iterative.stopped, "retry is off");
}

TEST(LinearSolver, KeepsWithinABudgetOfBytes)
{
    SolverOptions options{.mode = SolverMode::direct, .memory_limit = {20'000}};
    const auto    report = solved(options, gallery::poisson2d(20, 20));
    EXPECT_EQ(report.outcome(), Outcome::out_of_memory);
    EXPECT_NE(report.result().why().find("memory_limit"), std::string::npos) << report.result().why();
    options.mode = SolverMode::iterative;
    const auto limited = solved(options, gallery::poisson2d(20, 20));
    EXPECT_LE(limited.result().factor_bytes, 20'000u);
    options.memory_limit = {1'000};
    options.retry = false;
    for (const PrecondKind kind : {PrecondKind::ilu0, PrecondKind::jacobi}) {
        options.precond.kind = kind;
        EXPECT_EQ(solved(options, gallery::poisson2d(20, 20)).outcome(), Outcome::out_of_memory);
    }
}

TEST(LinearSolver, AnIterationKeepsWithinABudgetOfSeconds)
{
    SolverOptions options{.mode = SolverMode::iterative, .time_limit = 0.2};
    options.precond.kind = PrecondKind::none;
    options.krylov.max_steps = 1'000'000'000;
    const auto A = gallery::build("convdiff2d:n=300");
    const auto report = solved(options, A);
    EXPECT_EQ(report.outcome(), Outcome::time_limit);
    EXPECT_EQ(report.attempts.size(), 1u);
    EXPECT_TRUE(report.result().has_x());
    EXPECT_LE(report.relative_residual(), 1);
    EXPECT_NE(report.stopped.find("time limit of 0.2 s was reached"), std::string::npos) << report.stopped;
}

TEST(LinearSolver, AnIterationLeavesHalfOfTheTimeToLu)
{
    const test::SlowLu slow_lu;
    SolverOptions      options{.time_limit = 3};
    options.krylov.rtol = 1e-13;  // more steps than there is time for
    LinearSolver    solver(serial(options));
    AttemptListener slow;
    slow.on_progress = [](const Progress& now) {
        if (now.phase == Progress::Phase::solve) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    };
    solver.listen(slow);
    const auto report = solved(solver, gallery::build("convdiff3d:n=12"));
    ASSERT_GE(report.attempts.size(), 2u) << testing::PrintToString(report.decisions);
    EXPECT_FALSE(report.attempts[0].plan.direct());
    EXPECT_TRUE(report.attempts[0].given_up);
    EXPECT_EQ(report.attempts[0].report.outcome, Outcome::time_limit);
    EXPECT_TRUE(report.attempts[1].plan.direct());
    EXPECT_TRUE(mentions(report.decisions, "trying LU"));
}

TEST(LinearSolver, KeepsWithinABudgetOfSeconds)
{
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative, SolverMode::automatic}) {
        const auto report = solved({.mode = mode, .time_limit = 1e-9}, gallery::build("convdiff2d:n=60"));
        EXPECT_EQ(report.outcome(), Outcome::time_limit) << static_cast<int>(mode);
        EXPECT_NE(report.result().why().find("given up"), std::string::npos) << report.result().why();
        EXPECT_FALSE(report.result().has_x());
    }
}

TEST(LinearSolver, SolvesForSeveralRightHandSides)
{
    const auto A = gallery::build("convdiff2d:n=20");
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative}) {
        LinearSolver solver(serial({.mode = mode}));
        solver.analyse(A);
        EXPECT_TRUE(solver.factor().ready());
        for (int k = 1; k <= 3; ++k) {
            const auto          b = random_vector(A.rows(), k);
            std::vector<double> x(b.size());
            const auto          report = solver.solve(b, x);
            EXPECT_TRUE(report.converged());
            EXPECT_EQ(report.attempts.size(), 1u);
            EXPECT_LE(residual_of(A, x, b), 1e-8);
        }
    }
}

TEST(LinearSolver, AnotherRightHandSideIsTriedAfterOneThatFailed)
{
    SolverOptions options{.mode = SolverMode::iterative, .retry = false};
    options.krylov.max_steps = 2;
    options.precond.kind = PrecondKind::jacobi;
    LinearSolver solver(serial(options));
    const auto   A = gallery::build("convdiff2d:n=20");
    solver.analyse(A);
    EXPECT_TRUE(solver.factor().ready());
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size()), e(b.size(), 0.0);
    for (int k = 0; k < 2; ++k) {
        const auto report = solver.solve(b, x);
        EXPECT_EQ(report.outcome(), Outcome::max_steps);
        EXPECT_EQ(report.steps(), 2);
    }
    EXPECT_TRUE(solver.solve(e, x).converged());  // x = 0
}

TEST(LinearSolver, NothingOfAFormerSeriesStays)
{
    SolverOptions       options{.sequence = {.reuse_x = true}};
    LinearSolver        solver(serial(options));
    const auto          A = gallery::build("convdiff2d:n=30");
    std::vector<double> x(static_cast<std::size_t>(A.rows()), 1.0);
    solver.analyse(A, 5);
    EXPECT_TRUE(solver.refactor_and_solve(A.val(), times_ones(A), x).converged());
    const auto          singular = to_csr({2, 2, {1, 1, 1, 1}});
    std::vector<double> longer(4, 7.0);
    solver.analyse(singular);
    const std::vector<double> b{1, 2};
    EXPECT_FALSE(solver.refactor_and_solve(singular.val(), b, std::span(longer).first(2)).converged());
    EXPECT_EQ(longer[2], 7);
    EXPECT_EQ(longer[3], 7);
}

TEST(LinearSolver, ARefusedRightHandSideLeavesTheNumbers)
{
    const auto A = gallery::build("convdiff2d:n=20");
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative}) {
        LinearSolver solver(serial({.mode = mode}));
        solver.analyse(A);
        EXPECT_TRUE(solver.factor().ready());
        auto                other = A;
        auto                b = random_vector(A.rows(), 1);
        std::vector<double> x(b.size());
        for (double& value : other.val()) value *= 2;
        const std::vector<double> bad(b.size(), NAN), few(b.size() - 1, 1.);
        EXPECT_THROW((void)solver.refactor_and_solve(other.val(), bad, x), InvalidInput);
        EXPECT_THROW((void)solver.refactor_and_solve(other.val(), few, x), InvalidInput);
        const auto report = solver.solve(b, x);
        EXPECT_TRUE(report.converged());
        EXPECT_EQ(report.attempts.size(), 1u);
        EXPECT_LE(residual_of(A, x, b), 1e-8);
    }
}

TEST(LinearSolver, AnAnalysisKeepsWithinTheTimeLimit)
{
    const auto A = gallery::build("convdiff3d:n=70");  // METIS takes some 8 s, also where it is left behind
    for (const LuOrdering ordering : {LuOrdering::automatic, LuOrdering::metis}) {
        SolverOptions options{.mode = SolverMode::direct, .time_limit = 0.1};
        options.lu.ordering = ordering;
        const WallClock clock;
        const auto      report = solved(options, A);
        EXPECT_LE(clock.seconds(), 4);
        EXPECT_EQ(report.outcome(), Outcome::time_limit);
        EXPECT_NE(report.result().why().find("analysis for LU was given up"), std::string::npos)
            << report.result().why();
    }
}

TEST(LinearSolver, FewerEntriesThanRowsAreSingularBeforeAnyAnalysis)
{
    constexpr Index     n = 1 << 22;
    std::vector<Offset> row_ptr(n + 1, 1);
    row_ptr[0] = 0;
    const auto A = CsrMatrix<double>::from_sorted(n, n, row_ptr, {0}, {2.0});
    for (const SolverMode mode : {SolverMode::direct, SolverMode::automatic}) {
        LinearSolver solver(serial({.mode = mode}));
        solver.analyse(A);
        const auto report = solver.factor();
        EXPECT_EQ(report.outcome, Outcome::singular);
        EXPECT_NE(report.detail.find("4194304 rows and nnz 1,"), std::string::npos) << report.detail;
        EXPECT_LE(report.seconds, 0.5);
    }
}

}  // namespace
}  // namespace ilux
