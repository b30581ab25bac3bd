// OperatorSolver: operators and preconditioners of the caller's. What it says of x is held against the matrix behind
// them.

#include "ilux/solver/operator_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <new>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

Cpu& one_thread()
{
    static Cpu cpu(1);
    return cpu;
}

/// −u'' on n points, without a matrix.
class Laplacian final : public LinearOperator<Cpu> {
public:
    explicit Laplacian(Index n) : n_(n) {}
    Index size() const override { return n_; }
    void  apply(Cpu&, std::span<const double> x, std::span<double> y) const override
    {
        for (Index i = 0; i < n_; ++i) y[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n_ ? x[i + 1] : 0);
    }
    void apply_adjoint(Cpu& be, std::span<const double> x, std::span<double> y) const override { apply(be, x, y); }

private:
    Index n_;
};

std::vector<double> times_laplacian(const std::vector<double>& x)
{
    std::vector<double> y(x.size());
    Cpu                 cpu(1);
    Laplacian(static_cast<Index>(x.size())).apply(cpu, x, y);
    return y;
}

TEST(OperatorSolver, EveryMethodSolvesWithoutAMatrix)
{
    for (const Index n : {0, 1, 31, 32, 33, 100})
        for (const auto method :
             {MethodChoice::automatic, MethodChoice::gmres, MethodChoice::fgmres, MethodChoice::bicg,
              MethodChoice::bicgstab, MethodChoice::cg, MethodChoice::minres, MethodChoice::sqmr, MethodChoice::cocg}) {
            SCOPED_TRACE(testing::Message() << n << " " << int(method));
            SolverOptions options{.method = method};
            options.krylov.restart = 100;
            OperatorSolver<Cpu> solver(one_thread(), options);
            const auto          b = random_vector(n, 3);
            std::vector<double> x(b.size(), NAN);
            const auto          report = solver.solve(Laplacian(n), nullptr, b, x);
            EXPECT_TRUE(report.converged()) << report.why();
            if (n == 0) continue;
            const auto Ax = times_laplacian(x);
            double     r2 = 0, b2 = 0;
            for (std::size_t i = 0; i < b.size(); ++i) {
                r2 += (b[i] - Ax[i]) * (b[i] - Ax[i]);
                b2 += b[i] * b[i];
            }
            EXPECT_LE(std::sqrt(r2 / b2), 1.01e-8);
            EXPECT_NEAR(report.result().accuracy.relative_residual, std::sqrt(r2 / b2), 1e-12);
        }
}

TEST(OperatorSolver, APreconditionerOfTheCallersSavesSteps)
{
    const CsrMatrix<double>      A = unsymmetric(gallery::poisson2d(30, 30));
    const MatrixOperator<double> op(A);
    Ilu0<double>                 M(A);
    const auto                   b = random_vector(A.rows(), 1);
    std::vector<double>          x(b.size()), y(b.size());
    OperatorSolver<Cpu>          solver(one_thread());
    const auto                   with = solver.solve(op, &M, b, x), without = solver.solve(op, nullptr, b, y);
    ASSERT_TRUE(with.converged());
    ASSERT_TRUE(without.converged());
    EXPECT_LT(2 * with.steps(), without.steps());
    EXPECT_LE(residual_of(A, x, b), 1.01e-8);
    EXPECT_EQ(with.decisions.front(), "the preconditioner is the caller's");
}

TEST(OperatorSolver, TheFactorsOfANearMatrixArePreconditioner)
{
    const CsrMatrix<double>      A = unsymmetric(gallery::poisson2d(30, 30)), near_A = slightly_changed(A);
    const MatrixOperator<double> op(A, true);
    const auto                   b = random_vector(A.rows(), 1);
    for (const auto mode : {SolverMode::direct, SolverMode::iterative})
        for (const auto method : {MethodChoice::gmres, MethodChoice::bicg}) {
            LinearSolver<> near({.mode = mode, .threads = 1});
            near.analyse(near_A);
            ASSERT_TRUE(near.factor().ready());
            FactorsOf<Cpu>      M(near);
            std::vector<double> x(b.size());
            const auto          report = OperatorSolver<Cpu>(one_thread(), {.method = method}).solve(op, &M, b, x);
            ASSERT_TRUE(report.converged()) << report.why();
            EXPECT_LE(report.steps(), 15) << int(mode) << int(method);
            EXPECT_LE(residual_of(A, x, b), 1.01e-8);
        }
}

TEST(OperatorSolver, ComplexValuesTakeTheStepsOfRealOnes)
{
    using Complex = std::complex<double>;
    const CsrMatrix<double>    A = unsymmetric(gallery::poisson2d(12, 12));
    const std::vector<Complex> values(A.val().begin(), A.val().end());
    const auto Z = CsrMatrix<Complex>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                                   {A.col().begin(), A.col().end()}, values);
    const auto b = random_vector(A.rows(), 1);
    const std::vector<Complex> c(b.begin(), b.end());
    std::vector<double>        x(b.size());
    std::vector<Complex>       z(b.size());
    const auto                 real = OperatorSolver<Cpu>(one_thread()).solve(MatrixOperator<double>(A), nullptr, b, x);
    const auto complex = OperatorSolver<Cpu, Complex>(one_thread()).solve(MatrixOperator<Complex>(Z), nullptr, c, z);
    EXPECT_EQ(real.steps(), complex.steps());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(std::abs(z[i] - x[i]), 0, 1e-12);
}

TEST(OperatorSolver, AGuessIsUsedWhereItIsAskedFor)
{
    const auto          exact = random_vector(50, 2);
    const auto          b = times_laplacian(exact);
    SolverOptions       options;
    std::vector<double> x = exact;
    EXPECT_GT(OperatorSolver<Cpu>(one_thread(), options).solve(Laplacian(50), nullptr, b, x).steps(), 0);
    options.sequence.reuse_x = true;
    x = exact;
    EXPECT_EQ(OperatorSolver<Cpu>(one_thread(), options).solve(Laplacian(50), nullptr, b, x).steps(), 0);
}

TEST(OperatorSolver, BadInputIsRefused)
{
    OperatorSolver<Cpu>       solver(one_thread());
    const std::vector<double> b(5, 1.0), broken{1, 2, NAN, 4, 5};
    std::vector<double>       x(5), shorter(4);
    EXPECT_THROW((void)solver.solve(Laplacian(4), nullptr, b, x), InvalidInput);
    EXPECT_THROW((void)solver.solve(Laplacian(5), nullptr, b, shorter), InvalidInput);
    EXPECT_THROW((void)solver.solve(Laplacian(5), nullptr, broken, x), InvalidInput);
    Identity<Cpu> M(4);
    EXPECT_THROW((void)solver.solve(Laplacian(5), &M, b, x), InvalidInput);
}

TEST(OperatorSolver, WhatAnOperatorDoesNotAllowIsRefused)
{
    SolverOptions options;
    options.krylov.stop = StopTest::backward_error;
    EXPECT_THROW((OperatorSolver<Cpu>{one_thread(), options}), InvalidOption);
    options = {};
    options.krylov.precision = KrylovPrecision::mixed;
    EXPECT_THROW((OperatorSolver<Cpu>{one_thread(), options}), InvalidOption);
    EXPECT_THROW(OperatorSolver<Cpu>(one_thread(), {.method = MethodChoice::lu}), InvalidOption);
    EXPECT_THROW(OperatorSolver<Cpu>(one_thread(), {.mode = SolverMode::direct}), InvalidOption);
    EXPECT_THROW(OperatorSolver<Cpu>(one_thread(), {.device = DeviceChoice::gpu}), InvalidOption);
}

/// Another matrix every time.
class Fickle final : public LinearOperator<Cpu> {
public:
    Index size() const override { return 10; }
    void  apply(Cpu&, std::span<const double> x, std::span<double> y) const override
    {
        ++calls_;
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * (1 + double(calls_ * (i + 1) % 7));
    }
    void apply_adjoint(Cpu& be, std::span<const double> x, std::span<double> y) const override { apply(be, x, y); }

private:
    mutable std::size_t calls_ = 0;
};

TEST(OperatorSolver, AnOperatorThatVariesIsNoSuccess)
{
    OperatorSolver<Cpu>       solver(one_thread());
    const std::vector<double> b(10, 1.0);
    std::vector<double>       x(10);
    EXPECT_FALSE(solver.solve(Fickle(), nullptr, b, x).converged());
}

class Failing final : public LinearOperator<Cpu> {
public:
    explicit Failing(bool memory) : memory_(memory) {}
    Index size() const override { return 3; }
    void  apply(Cpu&, std::span<const double>, std::span<double>) const override
    {
        if (memory_) throw std::bad_alloc();
        throw std::runtime_error("the caller's own");
    }
    void apply_adjoint(Cpu& be, std::span<const double> x, std::span<double> y) const override { apply(be, x, y); }

private:
    bool memory_;
};

TEST(OperatorSolver, WhatAnOperatorThrowsIsTheCallers)
{
    OperatorSolver<Cpu>       solver(one_thread());
    const std::vector<double> b(3, 1.0);
    std::vector<double>       x(3);
    EXPECT_THROW((void)solver.solve(Failing(false), nullptr, b, x), std::runtime_error);
    x.assign(3, 7.);
    EXPECT_EQ(solver.solve(Failing(true), nullptr, b, x).outcome(), Outcome::out_of_memory);
    EXPECT_EQ(x, std::vector<double>(3, 0.));
    EXPECT_TRUE(solver.solve(Laplacian(3), nullptr, b, x).converged());
}

TEST(OperatorSolver, StopsWhenItIsTold)
{
    StopSource          source;
    OperatorSolver<Cpu> solver(one_thread());
    solver.stop_by(source.token());
    solver.listen({.on_progress = [&](const Progress& now) {
        if (now.done >= 3) source.request_stop();
    }});
    const auto          b = random_vector(500, 1);
    std::vector<double> x(b.size());
    EXPECT_EQ(solver.solve(Laplacian(500), nullptr, b, x).outcome(), Outcome::cancelled);
}

}  // namespace
}  // namespace ilux
