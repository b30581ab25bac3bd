// OperatorSolver with operators, preconditioners and vectors of a GPU: the steps of the host's, and x stays there.

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/operator_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

class GpuOperatorSolver : public GpuTest {};

TEST_F(GpuOperatorSolver, TakesTheStepsOfTheHost)
{
    const CsrMatrix<double>      A = unsymmetric(gallery::poisson2d(40, 40));
    const MatrixOperator<double> here(A, true);
    const GpuMatrixOperator<>    there(gpu(), A, true);
    const auto                   b = random_vector(A.rows(), 1);
    Cpu                          cpu(1);
    for (const auto method : {MethodChoice::gmres, MethodChoice::fgmres, MethodChoice::bicg, MethodChoice::bicgstab}) {
        SCOPED_TRACE(int(method));
        SolverOptions options{.method = method};
        options.krylov.restart = 60;
        std::vector<double> x(b.size());
        const auto          on_host_b = on_device<double>(gpu(), b);
        auto                x_there = on_device<double>(gpu(), x);
        const auto          by_host = OperatorSolver<Cpu>(cpu, options).solve(here, nullptr, b, x);
        const auto          by_gpu =
            OperatorSolver<Gpu>(gpu(), options).solve(there, nullptr, {gpu(), on_host_b}, {gpu(), x_there});
        ASSERT_TRUE(by_host.converged()) << by_host.why();
        ASSERT_TRUE(by_gpu.converged()) << by_gpu.why();
        EXPECT_NEAR(by_gpu.steps(), by_host.steps(), 2);
        EXPECT_LE(residual_of(A, on_host<double>(gpu(), x_there), b), 1.01e-8);
        EXPECT_EQ(by_gpu.result().device.kind, "gpu");
    }
}

TEST_F(GpuOperatorSolver, TheFactorsOfANearMatrixStayThere)
{
    const CsrMatrix<double>   A = unsymmetric(gallery::poisson2d(60, 60)), near_A = slightly_changed(A);
    const GpuMatrixOperator<> op(gpu(), A);
    const auto                b = on_device<double>(gpu(), random_vector(A.rows(), 1));
    for (const auto mode : {SolverMode::direct, SolverMode::iterative}) {
        LinearSolver<> near({.mode = mode, .device = DeviceChoice::gpu});
        near.analyse(near_A);
        ASSERT_TRUE(near.factor().ready());
        FactorsOf<Gpu>       M(near);
        OperatorSolver<Gpu>  solver(gpu());
        DeviceBuffer<double> x(b.size());
        ASSERT_TRUE(solver.solve(op, &M, {gpu(), b}, {gpu(), x}).converged());
        const auto before = host_transfers();
        const auto report = solver.solve(op, &M, {gpu(), b}, {gpu(), x});
        EXPECT_LE(host_transfers().total() - before.total(), 16384) << int(mode);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_LE(report.steps(), 15) << int(mode);
        EXPECT_LE(residual_of(A, on_host<double>(gpu(), x), on_host<double>(gpu(), b)), 1.01e-8);
    }
}

TEST_F(GpuOperatorSolver, RefusesArraysOfTheHost)
{
    const CsrMatrix<double>   A = gallery::poisson2d(4, 4);
    const GpuMatrixOperator<> op(gpu(), A);
    const std::vector<double> b(16, 1.0);
    std::vector<double>       x(16);
    OperatorSolver<Gpu>       solver(gpu());
    EXPECT_THROW((void)solver.solve(op, nullptr, b, x), InvalidInput);
    EXPECT_THROW(OperatorSolver<Gpu>(gpu(), {.device = DeviceChoice::cpu}), InvalidOption);
}

}  // namespace
}  // namespace ilux
