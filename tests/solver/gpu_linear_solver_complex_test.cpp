// Complex systems solved on a GPU: the answers are those of the host, and what the host alone does is said.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

class GpuLinearSolverComplex : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

struct Solved {
    SolverReport  report;
    ComplexVector x;
};

Solved solved(const CsrMatrix<Complex>& A, const ComplexVector& b, const SolverOptions& options)
{
    LinearSolver<Complex> solver(options);
    Solved                result{{}, ComplexVector(b.size())};
    solver.analyse(A);
    (void)solver.factor();
    result.report = solver.solve(b, result.x);
    return result;
}

SolverOptions by(const char* method, PrecondKind kind, DeviceChoice device)
{
    SolverOptions options{.mode = SolverMode::iterative, .device = device, .threads = 1, .retry = false};
    parse_field("method", method, options.method);
    options.precond.kind = kind;
    return options;
}

bool says(const SolverReport& report, const std::string& text)
{
    for (const auto& decision : all_decisions(report))
        if (decision.find(text) != std::string::npos) return true;
    return false;
}

TEST_F(GpuLinearSolverComplex, SolvesByEveryMethodAndPreconditioner)
{
    const auto A = turned(gallery::build("convdiff3d:n=12"), 1),
               H = turned_hermitian(gallery::build("poisson2d:n=40"), 2);
    for (const char* method : {"gmres", "fgmres", "bicg", "bicgstab", "cg", "minres"})
        for (const PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
            const bool cg = std::string(method) == "cg" || std::string(method) == "minres";
            if (cg && kind == PrecondKind::ilu0) continue;  // not Hermitian
            const auto& matrix = cg ? H : A;
            const auto  b = random_complex_vector(matrix.rows(), 3);
            const auto  there = solved(matrix, b, by(method, kind, DeviceChoice::gpu)),
                       here = solved(matrix, b, by(method, kind, DeviceChoice::cpu));
            EXPECT_EQ(there.report.converged(), here.report.converged()) << method << static_cast<int>(kind);
            if (!here.report.converged()) continue;
            EXPECT_EQ(there.report.result().device.kind, "gpu");
            EXPECT_LE(backward_error(real_form(matrix), real_form(there.x), real_form(b)), 1e-8) << method;
            EXPECT_LE(relative_difference(there.x, here.x), 1e-5) << method << static_cast<int>(kind);
        }
}

TEST_F(GpuLinearSolverComplex, TakesTheStepsOfTheRealSystemWithoutImaginaryParts)
{
    const auto A = gallery::build("recirculating2d:n=60");
    const auto b = random_vector(A.rows(), 3);
    auto       options = by("gmres", PrecondKind::mlilu, DeviceChoice::gpu);
    options.precond.mlilu.setup = MlIluSetup::crout;
    LinearSolver<double> by_crout(options);
    std::vector<double>  x(b.size());
    by_crout.analyse(A);
    (void)by_crout.factor();
    const auto expected = by_crout.solve(b, x);
    const auto found = solved(as_complex(A), as_complex(b), options);
    EXPECT_TRUE(expected.converged() && found.report.converged());
    EXPECT_EQ(found.report.result().report.steps, expected.result().report.steps);
    EXPECT_LE(relative_difference(real_parts(found.x), x), 1e-10);
}

TEST_F(GpuLinearSolverComplex, KeepsFactorsInSinglePrecision)
{
    const auto A = turned(gallery::build("convdiff3d:n=12"), 1);
    const auto b = random_complex_vector(A.rows(), 3);
    auto       options = by("gmres", PrecondKind::mlilu, DeviceChoice::gpu);
    const auto in_double = solved(A, b, options);
    options.precond.precision = Precision::in_single;
    const auto in_single = solved(A, b, options);
    ASSERT_TRUE(in_single.report.converged());
    EXPECT_LT(in_single.report.result().gpu->factor_bytes, in_double.report.result().gpu->factor_bytes);
    EXPECT_LE(backward_error(real_form(A), real_form(in_single.x), real_form(b)), 1e-8);
}

TEST_F(GpuLinearSolverComplex, SolvesASeriesWithArraysOfTheDevice)
{
    Gpu                   gpu;
    auto                  A = turned(gallery::build("convdiff2d:n=30"), 1);
    const auto            b = random_complex_vector(A.rows(), 3);
    LinearSolver<Complex> solver(by("gmres", PrecondKind::mlilu, DeviceChoice::gpu));
    solver.analyse(A, 4);
    for (int k = 0; k < 4; ++k) {
        for (Complex& value : A.val()) value *= Complex(1, 1e-3 * k);
        const auto val = on_device(gpu, {A.val().begin(), A.val().end()}), rhs = on_device(gpu, b);
        auto       x = on_device(gpu, ComplexVector(b.size()));
        EXPECT_TRUE(solver.refactor_and_solve(gpu, val, rhs, x).converged());
        EXPECT_LE(backward_error(real_form(A), real_form(on_host(gpu, x)), real_form(b)), 1e-8) << k;
    }
}

TEST_F(GpuLinearSolverComplex, SaysThatLuIsOfTheHost)
{
    const auto A = turned(gallery::build("convdiff2d:n=30"), 1);
    const auto b = random_complex_vector(A.rows(), 3);
    EXPECT_THROW((void)solved(A, b, {.mode = SolverMode::direct, .device = DeviceChoice::gpu}), DeviceError);
    EXPECT_THROW((void)solved(A, b, {.lu = {.refactor = RefactorMethod::glu3}}), DeviceError);
    const auto automatic = solved(A, b, {.device = DeviceChoice::gpu, .threads = 1});
    EXPECT_TRUE(automatic.report.converged());
    EXPECT_EQ(automatic.report.result().device.kind, "gpu");
    EXPECT_TRUE(says(automatic.report, "on the host alone"));
}

/// Without a device, too: a method of a GPU's LU is never taken silently for complex values.
TEST(LinearSolverComplexDevice, MethodsOfAGpuAreRefused)
{
    const auto A = turned(gallery::build("convdiff2d:n=5"), 1);
    const auto b = random_complex_vector(A.rows(), 3);
    EXPECT_THROW((void)solved(A, b, {.lu = {.refactor = RefactorMethod::glu3}}), DeviceError);
}

}  // namespace
}  // namespace ilux::test
