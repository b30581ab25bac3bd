// Lack of memory anywhere in a LinearSolver: told as an outcome or std::bad_alloc, or got around by the other strategy;
// the object is of use afterwards.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/robustness/lack_of_memory.hpp"

namespace ilux::test {
namespace {

class SolverMemory : public testing::TestWithParam<SolverMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, SolverMemory,
                         testing::Values(SolverMode::direct, SolverMode::iterative, SolverMode::automatic),
                         [](const auto& info) {
                             return std::string(info.param == SolverMode::direct      ? "direct"
                                                : info.param == SolverMode::iterative ? "iterative"
                                                                                      : "automatic");
                         });

/// Two systems of a series that was analysed.
Ended solve_two(LinearSolver<>& solver, std::span<double> x)
{
    const auto&         A = solver.matrix();
    const auto          n = static_cast<std::size_t>(A.rows());
    std::vector<double> b(n, 1.), values(A.val().begin(), A.val().end());
    for (std::size_t k = 0; k < 2; ++k) {
        for (double& value : values) value *= k > 0 ? 1.5 : 1;
        const auto report = solver.refactor_and_solve(values, b, x.subspan(k * n, n));
        if (const auto ended = from_outcome(report.outcome()); ended != Ended::answered) return ended;
    }
    return Ended::answered;
}

TEST_P(SolverMemory, ANewObjectEndsCleanly)
{
    for (const char* name : {"convdiff2d:n=12", "convdiff2d:n=34"}) {
        const auto      A = gallery::build(name);
        const Operation operation{name, 2 * static_cast<std::size_t>(A.rows()),
                                  [&](std::span<double> x) {
                                      LinearSolver solver({.mode = GetParam(), .threads = 1});
                                      solver.analyse(A, 2);
                                      return solve_two(solver, x);
                                  },
                                  1e-6};
        EXPECT_GT(expect_survives_lack_of_memory(operation, 300, Then::either), 3);
    }
}

TEST_P(SolverMemory, AnObjectThatLackedMemoryIsAsGoodAsNew)
{
    const auto      A = gallery::build("convdiff2d:n=34");
    LinearSolver    solver({.mode = GetParam(), .threads = 1});
    const Operation operation{"the same object", 2 * static_cast<std::size_t>(A.rows()),
                              [&](std::span<double> x) {
                                  solver.analyse(A, 2);
                                  return solve_two(solver, x);
                              },
                              1e-6, true};
    EXPECT_GT(expect_survives_lack_of_memory(operation, 200, Then::either), 3);
}

TEST_P(SolverMemory, NoAnalysisIsNeededAfterwards)
{
    const auto          A = gallery::build("convdiff2d:n=34");
    const auto          n = static_cast<std::size_t>(A.rows());
    const auto          b = std::vector<double>(n, 1.);
    std::vector<double> x(n);
    for (long k = 0; k < 400; k += 3) {  // 0: none fails, and what is made once for all is made
        LinearSolver solver({.mode = GetParam(), .threads = 1});
        {
            const AllocationCounter failing(k, Failing::once);
            try {
                solver.analyse(A, 2);
                (void)solver.refactor_and_solve(A.val(), b, x);
            } catch (const std::bad_alloc&) {
            }
        }
        try {
            const auto report = solver.refactor_and_solve(A.val(), b, x);
            EXPECT_TRUE(report.converged()) << k << ": " << report.why();
            EXPECT_LE(backward_error(A, x, b), 1e-8) << k;
        } catch (const InvalidInput&) {  // the analysis found no memory
            solver.analyse(A, 2);
            EXPECT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged()) << k;
        }
    }
}

/// Whatever was broken off, and where.
TEST_P(SolverMemory, SolvesOrRefusesAfterwards)
{
    const auto          A = gallery::build("convdiff2d:n=34");
    auto                values = std::vector<double>(A.val().begin(), A.val().end());
    const auto          b = std::vector<double>(static_cast<std::size_t>(A.rows()), 1.);
    std::vector<double> x(b.size());
    for (double& value : values) value *= 1.5;
    for (const Failing failing : {Failing::once, Failing::onwards})
        for (long k = 0; k < 100; k += 3) {
            LinearSolver solver({.mode = GetParam(), .threads = 1});
            solver.analyse(A, 3);
            (void)solver.refactor_and_solve(A.val(), b, x);
            bool lacked = false;
            {
                const AllocationCounter counter(k, failing);
                try {
                    lacked = !solver.refactor(values).ready();
                } catch (const std::bad_alloc&) {
                    lacked = true;
                }
            }
            EXPECT_NE(solver.device().kind, "");
            for (int again = 0; again < 2; ++again) try {
                    const auto report = solver.solve(b, x);
                    EXPECT_TRUE(report.converged() || lacked) << k << ": " << report.why();
                    EXPECT_EQ(report.converged(), report.result().has_x()) << k;
                    EXPECT_TRUE(report.converged() || report.why() != "") << k;
                } catch (const InvalidInput&) {
                    EXPECT_TRUE(lacked) << k;
                }
            EXPECT_TRUE(solver.factor(values).ready()) << k;
            EXPECT_TRUE(solver.solve(b, x).converged()) << k;
        }
}

/// A failed factorization is told by every solve(), also where one lacked the memory for it.
TEST(LinearSolverMemory, AFailureStays)
{
    const auto                A = to_csr({2, 2, {1, 1, 1, 1}});
    const std::vector<double> b{1, 2};
    std::vector<double>       x(2);
    int                       lacked = 0;
    for (long k = 1; k < 40; ++k) {
        LinearSolver solver({.mode = SolverMode::direct, .threads = 1, .retry = false});
        solver.analyse(A);
        EXPECT_EQ(solver.factor().outcome, Outcome::singular);
        for (int again = 0; again < 2; ++again) {
            try {
                const AllocationCounter counter(k, Failing::once);
                (void)solver.solve(b, x);
            } catch (const std::bad_alloc&) {
                ++lacked;
            }
            EXPECT_EQ(solver.solve(b, x).outcome(), Outcome::singular) << k;
        }
    }
    EXPECT_GT(lacked, 3);
}

/// Memory that lacks while an iteration goes on in double, after single precision did not suffice, costs this x only.
TEST(LinearSolverMemory, ThatLacksBetweenPrecisionsIsNotMissedByTheNextSystem)
{
    const auto                A = gallery::build("convdiff2d:n=20");
    const std::vector<double> b(static_cast<std::size_t>(A.rows()), 1);
    std::vector<double>       x(b.size());
    int                       lacked = 0;
    for (const PrecondKind kind : {PrecondKind::none, PrecondKind::mlilu})
        for (long k = 1; k < 900; k += 3) {
            SolverOptions options{.method = MethodChoice::gmres, .threads = 1};
            options.krylov.precision = KrylovPrecision::mixed;
            options.krylov.rtol = 1e-15;
            options.precond.kind = kind;
            LinearSolver solver(options);
            solver.analyse(A);
            solver.factor();
            try {
                const AllocationCounter counter(k, Failing::once);
                lacked += solver.solve(b, x).outcome() == Outcome::out_of_memory;
            } catch (const std::bad_alloc&) {
            }
            const auto report = solver.solve(b, x);
            EXPECT_NE(report.outcome(), Outcome::out_of_memory) << k << ": " << report.why();
            EXPECT_LE(backward_error(A, x, b), 1e-12) << k;
        }
    EXPECT_GT(lacked, 10);
}

}  // namespace
}  // namespace ilux::test
