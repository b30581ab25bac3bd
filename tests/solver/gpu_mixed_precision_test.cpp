// krylov.precision=mixed where a GPU computes. Sums of the host judge x.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/mixed_checks.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using Vector = std::vector<double>;

class GpuMixedPrecision : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

SolverOptions mixed_on_gpu(const std::string& method, const std::string& precond = "mlilu")
{
    return test::mixed({.device = DeviceChoice::gpu, .threads = 1}, method, precond, 1e-10);
}

bool speaks_of_precision(const SolverReport& report) { return !about_precision(report).empty(); }

TEST_F(GpuMixedPrecision, ReachesTheToleranceByEveryMethodAndPreconditioner)
{
    for (const Index n : {1, 31, 32, 33, 576}) {
        const auto A = n == 576 ? gallery::poisson2d(24, 24) : gallery::poisson2d(n, 1);
        const auto b = random_vector(A.rows(), 1);
        for (const char* method : {"gmres", "fgmres", "bicg", "bicgstab", "cg", "minres", "sqmr", "cocg"})
            for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"}) {
                Vector     x;
                const auto report = solve_once<double>(A, b, x, mixed_on_gpu(method, precond));
                ASSERT_TRUE(report.converged()) << n << method << " " << precond << ": " << report.why();
                EXPECT_EQ(report.result().device.kind, "gpu");
                EXPECT_FALSE(speaks_of_precision(report)) << n << method << " " << precond;
                EXPECT_LE(residual_of(A, x, b), 1.001e-10) << n << method << " " << precond;
            }
    }
}

TEST_F(GpuMixedPrecision, ReachesTheToleranceWithComplexValues)
{
    expect_complex_tolerance([](auto... names) { return mixed_on_gpu(names...); });
}

TEST_F(GpuMixedPrecision, OrthogonalizesAsAsked)
{
    const auto A = gallery::convdiff2d({.n = 40});
    const auto b = random_vector(A.rows(), 2);
    for (const char* ortho : {"mgso", "cgs2", "mgso_hybrid", "mgso_host"}) {
        auto options = mixed_on_gpu("gmres", "ilu0");
        parse_field("krylov.ortho", ortho, options.krylov.ortho);
        Vector     x;
        const auto report = solve_once<double>(A, b, x, options);
        ASSERT_TRUE(report.converged()) << ortho << ": " << report.why();
        EXPECT_LE(residual_of(A, x, b), 1.001e-10) << ortho;
    }
}

TEST_F(GpuMixedPrecision, SolvesWhatDoesNotFitSinglePrecision)
{
    const auto A = gallery::convdiff2d({.n = 16});
    const auto ones = random_vector(A.rows(), 2);
    for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"})
        for (const double size : {1e-150, 1e-30, 1e30, 1e150}) {
            CsrMatrix<> scaled = A;
            for (double& value : scaled.val()) value *= size;
            const Vector b = times(scaled, ones);
            Vector       x;
            const auto   report = solve_once<double>(scaled, b, x, mixed_on_gpu("gmres", precond));
            ASSERT_TRUE(report.converged()) << precond << ' ' << size << ": " << report.why();
            EXPECT_FALSE(speaks_of_precision(report)) << precond << ' ' << size;
            EXPECT_LE(relative_difference(x, ones), 1e-6) << precond << ' ' << size;
        }
}

TEST_F(GpuMixedPrecision, RepeatsItsBits)
{
    const auto A = gallery::convdiff2d({.n = 40});
    const auto b = random_vector(A.rows(), 3);
    for (const char* method : {"gmres", "bicgstab"}) {
        Vector first, again;
        ASSERT_TRUE(solve_once<double>(A, b, first, mixed_on_gpu(method)).converged());
        for (int k = 0; k < 5; ++k) {
            ASSERT_TRUE(solve_once<double>(A, b, again, mixed_on_gpu(method)).converged());
            EXPECT_TRUE(identical(first, again)) << method;
        }
    }
}

TEST_F(GpuMixedPrecision, ServesASeriesAndEveryStandard)
{
    auto A = gallery::convdiff2d({.n = 24});
    for (const char* stop : {"residual", "rowwise"}) {
        auto options = mixed_on_gpu("gmres");
        parse_field("krylov.stop", stop, options.krylov.stop);
        LinearSolver solver(options);
        solver.analyse(A, 4);
        for (int k = 0; k < 4; ++k) {
            for (double& value : A.val()) value *= 1 + 1e-3 * k;
            const auto b = random_vector(A.rows(), 10 + k);
            Vector     x(b.size());
            ASSERT_TRUE(solver.refactor_and_solve(A.val(), b, x).converged()) << k;
            EXPECT_LE(residual_of(A, x, b), 1.001e-10) << k;
        }
    }
}

TEST_F(GpuMixedPrecision, GoesOnInDoubleWhereSingleDoesNotSuffice)
{
    auto A = gallery::poisson2d(20, 20);
    for (Index i = 0; i < A.rows(); ++i)  // strongly coupled pairs: what couples these is lost in single precision
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.col()[p] == i) A.val()[p] += 1e8;
            if (A.col()[p] == (i ^ 1)) A.val()[p] -= 1e8;
        }
    const auto b = times(A, random_vector(A.rows(), 3));
    Vector     x;
    auto       options = mixed_on_gpu("gmres");
    options.krylov.rtol = 1e-12;
    const auto report = solve_once<double>(A, b, x, options);
    EXPECT_TRUE(speaks_of_precision(report));
    ASSERT_TRUE(report.converged()) << report.why();
    EXPECT_LE(residual_of(A, x, b), 1.001e-12);
}

}  // namespace
}  // namespace ilux
