// Cancellation of a LinearSolver. Oracles: the residual, recomputed here; what the same object does once nobody stops
// it.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

struct StopCase {
    const char*   name;
    SolverOptions options;

    friend std::ostream& operator<<(std::ostream& out, const StopCase& one) { return out << one.name; }
};

std::vector<StopCase> stop_cases()
{
    SolverOptions ilu0{.mode = SolverMode::iterative};
    ilu0.precond.kind = PrecondKind::ilu0;
    return {{"automatic", {}},
            {"direct", {.mode = SolverMode::direct}},
            {"iterative", {.mode = SolverMode::iterative}},
            {"ilu0", ilu0}};
}

class SolverStops : public testing::TestWithParam<StopCase> {
protected:
    const CsrMatrix<double>   A = gallery::build("convdiff2d:n=60");
    const std::vector<double> b = times(A, random_vector(A.rows(), 1));
    std::vector<double>       x = std::vector<double>(b.size(), 0.0);

    SolverReport analysed_and_solved(LinearSolver<>& solver)
    {
        solver.analyse(A);
        solver.factor();
        return solver.solve(b, x);
    }
    /// What must hold, whenever the stop came.
    void expect_honest(const SolverReport& report)
    {
        const double residual = residual_of(A, x, b);
        EXPECT_TRUE(std::isfinite(residual));
        if (report.converged()) EXPECT_LE(residual, 1e-7);
        else {
            EXPECT_EQ(report.outcome(), Outcome::cancelled);
            EXPECT_FALSE(report.stopped.empty());
            EXPECT_LE(residual, 1 + 1e-12);
        }
    }
};

/// The first questions one by one, later ones in growing strides, up to the last.
std::vector<int> some_of(int questions)
{
    std::vector<int> some;
    for (int k = 1; k <= questions; k += 1 + k / 8) some.push_back(k);
    return some;
}

TEST_P(SolverStops, WhereverTheTokenIsAskedAndGoesOnWithAnother)
{
    std::atomic<int> asked;
    {
        LinearSolver solver(serial(GetParam().options));
        solver.stop_by(stop_at(0, asked));
        EXPECT_TRUE(analysed_and_solved(solver).converged());
    }
    const int questions = asked;
    EXPECT_GE(questions, 3);
    int cancelled = 0;
    for (const int last : some_of(questions)) {
        SCOPED_TRACE(last);
        LinearSolver solver(serial(GetParam().options));
        solver.stop_by(stop_at(last, asked));
        std::ranges::fill(x, 0.0);
        const auto report = analysed_and_solved(solver);
        expect_honest(report);
        cancelled += !report.converged();
        solver.stop_by({});
        solver.factor();
        EXPECT_TRUE(solver.solve(b, x).converged());
        EXPECT_LE(residual_of(A, x, b), 1e-7);
    }
    EXPECT_GE(cancelled, 2);
}

TEST_P(SolverStops, InASeriesAndGoesOnWithTheNextSystem)
{
    std::vector<double> values(A.val().begin(), A.val().end());
    for (double& value : values) value *= 2;
    LinearSolver solver(serial(GetParam().options));
    ASSERT_TRUE(analysed_and_solved(solver).converged());
    for (int last = 1; last < 4; ++last) {
        std::atomic<int> asked;
        solver.stop_by(stop_at(last, asked));
        const auto stopped = solver.refactor_and_solve(values, b, x);
        EXPECT_TRUE(stopped.converged() || stopped.outcome() == Outcome::cancelled) << name(stopped.outcome());
        solver.stop_by({});
        EXPECT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged());
        EXPECT_LE(residual_of(A, x, b), 1e-7);
    }
}

INSTANTIATE_TEST_SUITE_P(All, SolverStops, testing::ValuesIn(stop_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LinearSolverStop, AnotherThreadEndsAnIterationWithoutEnd)
{
    SolverOptions options{.mode = SolverMode::iterative, .time_limit = 0};
    options.precond.kind = PrecondKind::none;
    options.krylov.max_steps = 1'000'000'000;
    options.krylov.rtol = 1e-15;
    const auto          A = gallery::build("recirculating2d:n=200");
    const auto          b = times_ones(A);
    std::vector<double> x(b.size());
    StopSource          source;
    LinearSolver        solver(serial(options));
    solver.stop_by(source.token());
    std::jthread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        source.request_stop();
    });
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const auto report = solver.solve(b, x);
    EXPECT_EQ(report.outcome(), Outcome::cancelled);
    EXPECT_LT(report.relative_residual(), 1);
    EXPECT_LT(residual_of(A, x, b), 1);
    EXPECT_EQ(report.stopped, "the caller asked to stop");
}

TEST(LinearSolverStop, AListenerToProgressMayAskForIt)
{
    SolverOptions options{.mode = SolverMode::iterative};
    StopSource    source;
    LinearSolver  solver(serial(options));
    Index         seen = 0;
    solver.stop_by(source.token());
    solver.listen({.on_progress = [&](const Progress& now) {
        seen = now.done;
        if (now.phase == Progress::Phase::setup && now.done > 0) source.request_stop();
    }});
    const auto A = gallery::build("convdiff2d:n=60");
    solver.analyse(A);
    const FactorReport report = solver.factor();
    EXPECT_EQ(report.outcome, Outcome::cancelled);
    EXPECT_GT(seen, 0);
    EXPECT_NE(report.detail.find("given up"), std::string::npos) << report.detail;
}

}  // namespace
}  // namespace ilux
