// LinearSolver for several right-hand sides: their time, what a cancelled one leaves, and how many there are to come.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/solver/policy/choice.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

TEST(LinearSolverColumns, ThatBeginApartHaveTheBitsOfThoseThatDoNot)
{
    const auto A = gallery::build("convdiff2d:n=12");
    const auto n = static_cast<std::size_t>(A.rows());
    for (const auto method : {MethodChoice::gmres, MethodChoice::lu}) {
        LinearSolver solver({.method = method, .threads = 1});
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        for (const std::size_t count : {0, 1, 3}) {
            const auto          B = random_vector(static_cast<Index>(count * n), 1);
            std::vector<double> X(B.size()), apart_B(count * (n + 5), nan), apart_X(count * (n + 2), 7.0);
            for (std::size_t k = 0; k < count; ++k)
                std::copy_n(B.begin() + static_cast<std::ptrdiff_t>(k * n), n,
                            apart_B.begin() + static_cast<std::ptrdiff_t>(k * (n + 5)));
            EXPECT_EQ(solver.solve_columns(B, X).size(), count);
            const auto reports = solver.solve_columns(count, apart_B, n + 5, apart_X, n + 2);
            ASSERT_EQ(reports.size(), count);
            for (std::size_t k = 0; k < count; ++k) {
                EXPECT_TRUE(reports[k].converged() && reports[k].begun);
                EXPECT_EQ(reports[k].result().x.size(), 0u);
                EXPECT_TRUE(identical(std::span(apart_X).subspan(k * (n + 2), n), std::span(X).subspan(k * n, n)));
                EXPECT_EQ(apart_X[k * (n + 2) + n], 7);
            }
        }
        std::vector<double> B(3 * n, 1.0), X(3 * n, 7.0);
        expect_refusal([&] { (void)solver.solve_columns(3, B, n - 1, X, n); }, {"B", "apart"});
        expect_refusal([&] { (void)solver.solve_columns(4, B, n, X, n); }, {"4 columns"});
        B[2 * n] = nan;
        expect_refusal([&] { (void)solver.solve_columns(B, X); }, {"B is not finite"});
        for (const double one : X) EXPECT_EQ(one, 7);  // nothing was solved
    }
}

TEST(LinearSolverColumns, OfComplexNumbersLeaveAComplexXThatIsEmpty)
{
    const auto            A = turned(gallery::build("convdiff2d:n=6"), 3);
    LinearSolver<Complex> solver({.threads = 1});
    solver.analyse(A, {1, 2});
    ASSERT_TRUE(solver.factor().ready());
    const auto           B = random_complex_vector(2 * A.rows(), 1);
    std::vector<Complex> X(B.size());
    for (const Transpose transpose : {Transpose::no, Transpose::yes, Transpose::adjoint})
        for (const auto& report : solver.solve_columns(B, X, transpose)) {
            EXPECT_TRUE(report.converged());
            EXPECT_TRUE(report.result().x.of<Complex>().empty());
        }
}

TEST(LinearSolverColumns, OfAMatrixWithoutRows)
{
    LinearSolver solver({.threads = 1});
    solver.analyse(CsrMatrix<double>::identity(0));
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_EQ(solver.solve_columns(3, {}, 0, {}, 0).size(), 3u);
}

TEST(LinearSolverColumns, AfterACancelledOneTheOthersAreNotBegun)
{
    const auto   A = gallery::build("convdiff2d:n=40");
    const auto   n = static_cast<std::size_t>(A.rows());
    LinearSolver solver({.method = MethodChoice::gmres, .threads = 1});
    StopSource   source;
    Index        told = 0;
    solver.listen({.on_progress = [&](const Progress& now) {
        if (now.phase == Progress::Phase::solve && now.done == 2 && ++told == 2) source.request_stop();
    }});
    solver.stop_by(source.token());
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const auto          B = random_vector(static_cast<Index>(4 * n), 1);
    std::vector<double> X(B.size(), 7.0);
    const auto          reports = solver.solve_columns(B, X);
    ASSERT_EQ(reports.size(), 4u);
    EXPECT_TRUE(reports[0].converged());
    EXPECT_EQ(reports[1].outcome(), Outcome::cancelled);
    EXPECT_TRUE(reports[1].begun);
    for (std::size_t k = 2; k < 4; ++k) {
        EXPECT_EQ(reports[k].outcome(), Outcome::cancelled);
        EXPECT_FALSE(reports[k].begun);
        EXPECT_NE(reports[k].why().find("not begun, as column 2"), std::string::npos) << reports[k].why();
        EXPECT_EQ(reports[k].seconds, 0);
        EXPECT_EQ(X[k * n], 7);
    }
    solver.stop_by({});
    for (const auto& report : solver.solve_columns(B, X)) EXPECT_TRUE(report.converged());
}

TEST(LinearSolverColumns, ShareOneTimeLimit)
{
    const auto   A = gallery::build("convdiff2d:n=100");
    const auto   n = static_cast<std::size_t>(A.rows());
    LinearSolver solver({.method = MethodChoice::gmres, .threads = 1, .time_limit = 1.5});
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    std::vector<double> x(n);
    const auto          b = random_vector(A.rows(), 1);
    ASSERT_TRUE(solver.solve(b, x).converged());  // its own time
    constexpr std::size_t many = 3000;
    std::vector<double>   B(many * n, 1.0), X(B.size());
    const auto            reports = solver.solve_columns(B, X);
    double                sum = 0;
    for (const auto& report : reports) sum += report.seconds;
    EXPECT_TRUE(reports.front().converged());
    EXPECT_EQ(reports.back().outcome(), Outcome::time_limit);
    EXPECT_FALSE(reports.back().begun);
    EXPECT_LT(sum, 10);
    EXPECT_TRUE(solver.solve(b, x).converged());  // its own again
}

TEST(LinearSolverColumns, SpeakForAnLuWhereTheyAreMany)
{
    const auto A = gallery::build("convdiff2d:n=60");
    const auto one = choose_strategy<double>(A, {.threads = 1}, 1, [] { return false; }, Rates(), {}),
               many = choose_strategy<double>(A, {.threads = 1}, {1, 1000}, [] { return false; }, Rates(), {});
    EXPECT_EQ(many.iterative.of(1), one.iterative.of(1));
    EXPECT_NEAR(many.iterative.of({1, 1000}), many.iterative.factor + 1000 * many.iterative.solve, 1e-12);
    EXPECT_LT(many.lu->of({1, 1000}) / many.iterative.of({1, 1000}), one.lu->of(1) / one.iterative.of(1));
    EXPECT_TRUE(many.direct);
    EXPECT_NE(many.decisions.back().find("for 1000 right-hand sides"), std::string::npos) << many.decisions.back();
    const auto series = choose_strategy<double>(A, {.threads = 1}, {3, 20}, [] { return false; }, Rates(), {});
    EXPECT_NE(series.decisions.back().find("for 3 systems of 20 right-hand sides each"), std::string::npos);
}

TEST(LinearSolver, StartsWhereTheCallSays)
{
    const auto A = gallery::build("convdiff2d:n=20");
    const auto b = times_ones(A);
    for (const bool reuse : {false, true}) {
        SolverOptions options{.method = MethodChoice::gmres, .threads = 1};
        options.precond.kind = PrecondKind::ilu0;
        options.sequence.reuse_x = reuse;
        LinearSolver        solver(options);
        std::vector<double> x(b.size());
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        const Index cold = solver.solve(b, x, Transpose::no, Guess::none).steps();
        EXPECT_GT(cold, 5);
        EXPECT_LE(solver.solve(b, x, Transpose::no, Guess::x).steps(), 1);
        EXPECT_EQ(solver.solve(b, x, Transpose::no, Guess::none).steps(), cold);
        EXPECT_EQ(solver.solve(b, x).steps() <= 1, reuse);
        x[3] = nan;
        EXPECT_EQ(solver.solve(b, x, Transpose::no, Guess::x).steps(), cold);
    }
}

}  // namespace
}  // namespace ilux
