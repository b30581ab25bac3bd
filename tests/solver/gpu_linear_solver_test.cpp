// LinearSolver where a GPU computes.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/robustness/together.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

class GpuLinearSolver : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

/// x of the last of `systems` drifting systems.
std::vector<double> series(SolverMode mode, CsrMatrix<double> A, int systems)
{
    LinearSolver        solver({.mode = mode, .device = DeviceChoice::gpu, .threads = 1});
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    solver.analyse(A, systems);
    for (int k = 0; k < systems; ++k) {
        for (double& value : A.val()) value *= 1 + 1e-3 * k;
        const auto report = solver.refactor_and_solve(A.val(), b, x);
        EXPECT_TRUE(report.converged()) << report.result().why();
        EXPECT_EQ(report.result().device.kind, "gpu");
        EXPECT_LE(backward_error(A, x, b), 1e-8);
    }
    return x;
}

TEST_F(GpuLinearSolver, SolvesASeriesEitherWay)
{
    series(SolverMode::direct, gallery::build("rlc_mesh:n=20"), 4);
    series(SolverMode::iterative, gallery::build("convdiff3d:n=16"), 4);
    series(SolverMode::automatic, gallery::build("convdiff2d:n=30"), 4);
}

TEST_F(GpuLinearSolver, SetsUpRoundsThere)
{
    const auto A = gallery::build("poisson2d:n=60");
    const auto b = random_vector(A.rows(), 3);
    for (const char* method : {"gmres", "fgmres", "cg", "bicgstab", "bicg", "minres", "sqmr", "cocg"}) {
        SolverOptions options{.mode = SolverMode::iterative, .device = DeviceChoice::gpu, .threads = 1};
        parse_field("method", method, options.method);
        std::vector<double> x(b.size());
        LinearSolver        solver(options);
        solver.analyse(A);
        const auto report = solver.refactor_and_solve(A.val(), b, x);
        ASSERT_TRUE(report.converged()) << method << ": " << report.result().why();
        EXPECT_EQ(report.attempts.size(), 1u) << method;
        EXPECT_LE(backward_error(A, x, b), 1e-8) << method;
        ASSERT_TRUE(report.result().gpu && report.result().mlilu) << method;
        EXPECT_GT(report.result().mlilu->levels.front().rounds, 0) << method;
        EXPECT_FALSE(mentions(report.result().decisions, "factored on the host")) << method;
        EXPECT_EQ(report.result().gpu->systems.size(), method == std::string("bicg") ? 4u : 2u);
        for (const auto& [facts, engine] : report.result().gpu->systems)
            EXPECT_EQ(engine, GpuSpTrsvEngine::level_graph) << method;
    }
}

/// The wind turns, M no longer serves, and is renewed by the rounds at hand.
TEST_F(GpuLinearSolver, RenewsMByItsRounds)
{
    LinearSolver solver({.mode = SolverMode::iterative, .device = DeviceChoice::gpu, .threads = 1, .retry = false});
    solver.analyse(gallery::build("convdiff2d:n=120"), 2);
    for (const char* peclet : {"10", "1000"}) {
        const auto          A = gallery::build("convdiff2d:n=120,peclet=" + std::string(peclet));
        const auto          b = random_vector(A.rows(), 1);
        std::vector<double> x(b.size());
        const auto          report = solver.refactor_and_solve(A.val(), b, x);
        ASSERT_TRUE(report.converged()) << report.result().why();
        EXPECT_LE(backward_error(A, x, b), 1e-8);
        EXPECT_EQ(report.result().action, SolverAction::refresh);
        EXPECT_EQ(report.result().mlilu->replayed, peclet == std::string("1000")) << report.result().reason;
        EXPECT_FALSE(mentions(report.result().decisions, "factored on the host"));
    }
}

TEST_F(GpuLinearSolver, SaysWhyTheHostFactorsInstead)
{
    const auto          A = gallery::build("arrow:n=20000");  // with a full row
    const auto          b = random_vector(A.rows(), 3);
    std::vector<double> x(b.size());
    LinearSolver        solver({.mode = SolverMode::iterative, .device = DeviceChoice::gpu, .threads = 1});
    solver.analyse(A);
    const auto report = solver.refactor_and_solve(A.val(), b, x);
    EXPECT_TRUE(report.converged()) << report.result().why();
    EXPECT_TRUE(mentions(report.result().decisions, "factored on the host: a row has too many pivots"));
}

TEST_F(GpuLinearSolver, TakesArraysInDeviceMemory)
{
    const auto           A = gallery::build("rlc_mesh:n=20");
    const auto           b = random_vector(A.rows(), 1);
    std::vector<double>  x(b.size()), from_host(b.size());
    Gpu                  gpu;
    DeviceBuffer<double> values(A.val().size()), device_b(b.size()), device_x(b.size());
    upload<double>(gpu, A.val(), values);
    upload<double>(gpu, b, device_b);
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative}) {
        const SolverOptions options{.mode = mode, .device = DeviceChoice::gpu, .threads = 1};
        LinearSolver        solver(options), host(options);
        solver.analyse(A, 2);
        host.analyse(A, 2);
        EXPECT_TRUE(solver.factor({gpu, values}).ready());
        EXPECT_TRUE(solver.solve({gpu, device_b}, {gpu, device_x}).converged());
        EXPECT_TRUE(host.factor(A.val()).ready());
        EXPECT_TRUE(host.solve(b, from_host).converged());
        download<double>(gpu, device_x, x);
        EXPECT_TRUE(identical(x, from_host));
        EXPECT_TRUE(solver.refactor_and_solve({gpu, values}, {gpu, device_b}, {gpu, device_x}).converged());
        EXPECT_TRUE(host.refactor_and_solve(A.val(), b, from_host).converged());
        download<double>(gpu, device_x, x);
        EXPECT_TRUE(identical(x, from_host));
        EXPECT_THROW((void)solver.solve({gpu, DeviceSpan<const double>(device_b).first(3)}, {gpu, device_x}),
                     InvalidInput);
    }
}

TEST_F(GpuLinearSolver, SolvesInSeparatePhasesToo)
{
    auto A = gallery::build("convdiff2d:n=30");
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative}) {
        LinearSolver solver({.mode = mode, .device = DeviceChoice::gpu});
        solver.analyse(A, 2);
        EXPECT_TRUE(solver.factor().ready());
        for (int k = 1; k <= 3; ++k) {
            const auto          b = random_vector(A.rows(), k);
            std::vector<double> x(b.size());
            EXPECT_TRUE(solver.solve(b, x).converged());
            EXPECT_LE(backward_error(A, x, b), 1e-8);
            for (double& value : A.val()) value *= 1.01;
            EXPECT_TRUE(solver.refactor(A).ready());
            EXPECT_TRUE(solver.solve(b, x).converged());
            EXPECT_LE(backward_error(A, x, b), 1e-8);
        }
    }
}

TEST_F(GpuLinearSolver, AFactorizationThatFailedHoldsNothing)
{
    auto          A = gallery::build("convdiff2d:n=200");
    SolverOptions options{.mode = SolverMode::iterative, .device = DeviceChoice::gpu, .retry = false};
    options.precond.kind = PrecondKind::ilu0;
    LinearSolver solver(options);
    solver.analyse(A, 2);
    const auto          values = std::vector<double>(A.val().begin(), A.val().end());
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    const auto          before = device_use().bytes;  // the thread that starts the driver may still hold some
    A.val()[0] = 0;                                   // the diagonal of row 0: ILU(0) ends while the rest is on its way
    for (int k = 0; k < 20; ++k) {
        EXPECT_FALSE(solver.factor(A.val()).ready());
        EXPECT_LE(device_use().bytes, before);
    }
    EXPECT_TRUE(solver.refactor_and_solve(values, b, x).converged());
}

TEST_F(GpuLinearSolver, AnOverflowingXHasNoResidual)
{
    LinearSolver              solver({.mode = SolverMode::direct, .device = DeviceChoice::gpu, .retry = false});
    const auto                A = to_csr({2, 2, {1e-200, 0, 0, 1e-200}});
    const std::vector<double> b{1, 1}, large{1e200, 1e200};
    std::vector<double>       x(2);
    solver.analyse(A, 2);
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged());
    const auto report = solver.solve(large, x);
    EXPECT_EQ(report.outcome(), Outcome::not_finite) << report.why();
    EXPECT_TRUE(std::isnan(report.relative_residual()));
    EXPECT_TRUE(std::isnan(report.result().accuracy.rowwise));
    EXPECT_TRUE(solver.solve(b, x).converged());
}

TEST_F(GpuLinearSolver, TellsWhyPivotsWereRenewedWithEveryB)
{
    SolverOptions options{.mode = SolverMode::direct, .device = DeviceChoice::gpu};
    options.lu.matching = LuMatching::off;
    options.lu.scaling = LuScaling::none;
    LinearSolver              solver(options);
    const std::vector<double> definite{1, 1, 1, 2}, indefinite{1e-16, 1, 1, 2.5}, b{1, 2};
    std::vector<double>       x(2);
    solver.analyse(to_csr({2, 2, definite}), 3);
    EXPECT_TRUE(solver.refactor_and_solve(definite, b, x).converged());
    const auto first = solver.refactor_and_solve(indefinite, b, x), second = solver.solve(b, x);
    for (const SolverReport* report : {&first, &second}) {
        EXPECT_TRUE(report->converged()) << report->why();
        EXPECT_EQ(report->result().action, SolverAction::repivot);
        EXPECT_NE(report->result().reason, "");
        EXPECT_EQ(report->result().lu->repivots, 1);
    }
}

TEST_F(GpuLinearSolver, TwoOnTwoThreadsDoNotDisturbOneAnother)
{
    expect_same_answers_together([] { return Answers{series(SolverMode::direct, gallery::build("rlc_mesh:n=20"), 6)}; },
                                 [] {
                                     return Answers{
                                         series(SolverMode::iterative, gallery::build("convdiff3d:n=16"), 6)};
                                 });
}

}  // namespace
}  // namespace ilux
