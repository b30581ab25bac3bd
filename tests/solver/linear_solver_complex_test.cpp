// LinearSolver of complex values. What it says of x is held against the real form of the system.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

struct Solved {
    SolverReport  report;
    ComplexVector x;
};

/// Measured by the real form: ‖b − A x‖₂ / ‖b‖₂.
double residual_from_outside(const CsrMatrix<Complex>& A, const ComplexVector& x, const ComplexVector& b)
{
    return residual_of(real_form(A), real_form(x), real_form(b));
}

ComplexVector product(const CsrMatrix<Complex>& A, const ComplexVector& x)
{
    ComplexVector b(static_cast<std::size_t>(A.rows()));
    Cpu           serial(1);
    spmv<Complex>(serial, 1., A, x, 0., b);
    return b;
}

Solved solved(const CsrMatrix<Complex>& A, const ComplexVector& b, const SolverOptions& options)
{
    LinearSolver<Complex> solver(serial(options));
    Solved                one{.report = {}, .x = ComplexVector(b.size(), {NAN, NAN})};
    solver.analyse(A);
    solver.factor();
    one.report = solver.solve(b, one.x);
    return one;
}

/// A wave on a square with an absorbing term: −Δu − (1 + i/10) k² u, complex symmetric and indefinite.
CsrMatrix<Complex> wave(Index n, double k)
{
    const auto    A = gallery::poisson2d(n, n);
    const double  h = 1.0 / (n + 1);
    ComplexVector val(A.val().begin(), A.val().end());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) val[p] -= Complex(1, 0.1) * (k * k * h * h);
    return CsrMatrix<Complex>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                           {A.col().begin(), A.col().end()}, val);
}

TEST(ComplexLinearSolver, SolvesByEveryMethod)
{
    const CsrMatrix<Complex> systems[] = {turned(gallery::convdiff2d({.n = 20}), 3),
                                          turned_hermitian(gallery::poisson2d(20, 20), 4), wave(30, 15)};
    for (const auto& A : systems) {
        const ComplexVector b = product(A, random_complex_vector(A.rows(), 7));
        for (const auto method : {MethodChoice::automatic, MethodChoice::lu, MethodChoice::gmres, MethodChoice::fgmres,
                                  MethodChoice::bicg, MethodChoice::bicgstab}) {
            const Solved one = solved(A, b, {.method = method});
            ASSERT_TRUE(one.report.converged()) << field_text(method) << ": " << one.report.why();
            EXPECT_LE(residual_from_outside(A, one.x, b), 1e-8) << field_text(method);
            EXPECT_TRUE(one.report.result().x.is_complex());
            EXPECT_NEAR(one.report.result().accuracy.relative_residual, residual_from_outside(A, one.x, b), 1e-12);
        }
    }
}

TEST(ComplexLinearSolver, TakesTheStepsOfTheRealOneWhereNothingIsImaginary)
{
    for (const char* name : {"convdiff2d:n=30", "poisson2d:n=30", "recirculating2d:n=24"}) {
        const auto                real = gallery::build(name);
        const std::vector<double> b = random_vector(real.rows(), 5);
        const ComplexVector       val(real.val().begin(), real.val().end()), complex_b(b.begin(), b.end());
        const auto                A =
            CsrMatrix<Complex>::from_arrays(real.rows(), real.cols(), {real.row_ptr().begin(), real.row_ptr().end()},
                                            {real.col().begin(), real.col().end()}, val);
        for (const auto method : {MethodChoice::gmres, MethodChoice::bicgstab, MethodChoice::cg, MethodChoice::lu}) {
            if (method == MethodChoice::cg && name != std::string("poisson2d:n=30")) continue;
            LinearSolver        solver(serial({.method = method}));
            std::vector<double> x(b.size());
            solver.analyse(real);
            solver.factor();
            const SolverReport of_real = solver.solve(b, x);
            const Solved       one = solved(A, complex_b, {.method = method});
            ASSERT_TRUE(one.report.converged() && of_real.converged()) << name;
            EXPECT_EQ(one.report.steps(), of_real.steps()) << name << field_text(method);
            EXPECT_EQ(one.report.result().fill, of_real.result().fill) << name << field_text(method);
            for (std::size_t i = 0; i < x.size(); ++i)
                ASSERT_NEAR(std::abs(one.x[i] - x[i]), 0, 1e-9 * (1 + std::abs(x[i]))) << name << field_text(method);
        }
    }
}

TEST(ComplexLinearSolver, ChoosesCgForAHermitianMatrixOnly)
{
    const auto          hermitian = turned_hermitian(gallery::poisson2d(40, 40), 4);
    const auto          symmetric = wave(40, 0.1);
    const SolverOptions iterative{.mode = SolverMode::iterative};
    const ComplexVector b = random_complex_vector(1600, 2);
    EXPECT_EQ(solved(hermitian, b, iterative).report.result().plan.method, MethodChoice::cg);
    EXPECT_EQ(solved(symmetric, b, iterative).report.result().plan.method, MethodChoice::gmres);
}

TEST(ComplexLinearSolver, KeepsPivotsAndPreconditionersThroughASeries)
{
    const auto          A = wave(24, 8);
    const ComplexVector b = random_complex_vector(A.rows(), 9);
    for (const auto mode : {SolverMode::direct, SolverMode::iterative, SolverMode::automatic}) {
        LinearSolver<Complex> solver(serial({.mode = mode}));
        solver.analyse(A, 6);
        ComplexVector x(b.size()), values(A.val().begin(), A.val().end());
        for (int k = 0; k < 6; ++k) {
            for (std::size_t p = 0; p < values.size(); ++p)
                values[p] *= std::polar(1 + 0.01 * k, 0.001 * double(p % 7));
            const SolverReport report = solver.refactor_and_solve(values, b, x);
            ASSERT_TRUE(report.converged()) << report.why();
            const auto now =
                CsrMatrix<Complex>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                                {A.col().begin(), A.col().end()}, values);
            EXPECT_LE(residual_from_outside(now, x, b), 1e-8);
            if (k > 0 && mode == SolverMode::direct) {
                EXPECT_EQ(report.result().action, SolverAction::refactor);
            }
        }
    }
}

TEST(ComplexLinearSolver, SolvesABatchWithTheBitsOfEachAlone)
{
    const auto      A = turned(gallery::convdiff2d({.n = 12}), 5);
    const auto      n = static_cast<std::size_t>(A.rows()), nnz = static_cast<std::size_t>(A.nnz());
    constexpr Index members = 5;
    ComplexVector   values, B = random_complex_vector(members * A.rows(), 3), X(B.size());
    for (Index m = 0; m < members; ++m)
        for (const Complex value : A.val()) values.push_back(value * std::polar(1 + 0.01 * m, 0.1 * m));
    LinearSolver<Complex> solver(serial({.mode = SolverMode::direct}));
    solver.analyse(A);
    solver.factor();
    const BatchReport report = solver.solve_batch(members, values, B, X);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.counts.at_once, members);
    LinearSolver<Complex> alone(serial({.mode = SolverMode::direct}));
    alone.analyse(A);
    (void)alone.factor();
    for (std::size_t m = 0; m < members; ++m) {
        ComplexVector x(n);
        EXPECT_TRUE(alone.refactor_and_solve(std::span(values).subspan(m * nnz, nnz), std::span(B).subspan(m * n, n), x)
                        .converged());
        EXPECT_TRUE(std::ranges::equal(x, std::span(X).subspan(m * n, n))) << m;
    }
}

TEST(ComplexLinearSolver, SaysWhyItFails)
{
    const auto singular =
        CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {{1, 1}, {2, 0}, {0, 1}, {1, 1}});
    const Solved one = solved(singular, {{1, 0}, {0, 1}}, {.mode = SolverMode::direct});  // (1 + i)² = 2i
    EXPECT_EQ(one.report.outcome(), Outcome::singular);

    LinearSolver<Complex> solver(serial({}));
    const auto            A = wave(3, 1);
    solver.analyse(A);
    solver.factor();
    ComplexVector b(9, 1), x(9);
    b[4] = {0, NAN};
    EXPECT_THROW((void)solver.solve(b, x), InvalidInput);
    ComplexVector values(A.val().begin(), A.val().end());
    values[3] = {1, INFINITY};
    EXPECT_THROW(solver.refactor(values), InvalidInput);
}

}  // namespace
}  // namespace ilux
