// precond.coarse through LinearSolver: what it is for, what it refuses, and a series.

#include <gtest/gtest.h>

#include <string>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/solver/policy/planner.hpp"
#include "ilux/tests/solver/rounded.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

SolverOptions with_coarse(MethodChoice method = MethodChoice::gmres)
{
    SolverOptions options = serial({.method = method, .retry = false});
    options.precond.coarse = CoarseChoice::on;
    options.precond.mlilu.schur_drop_tol = 0.02;
    return options;
}

bool tells(const Attempt& tried, const std::string& words)
{
    for (const auto& decision : tried.decisions)
        if (decision.find(words) != std::string::npos) return true;
    return false;
}

TEST(CoarseSpace, TakesTheStepsOfElasticityDown)
{
    const auto A = gallery::elasticity2d({.n = 60});
    const auto b = random_vector(A.rows(), 1);
    for (const auto method : {MethodChoice::gmres, MethodChoice::cg, MethodChoice::bicg}) {
        LinearSolver<> solver(with_coarse(method));
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready()) << int(method);
        EXPECT_TRUE(tells(solver.factored_by(), "coarse space: ")) << int(method);
        std::vector<double> x(b.size());
        const auto          report = solver.solve(b, x);
        ASSERT_TRUE(report.converged()) << int(method) << report.why();
        EXPECT_LE(report.steps(), 30) << int(method);
        EXPECT_LE(residual_of(A, x, b), 1.01e-8);
        const auto transposed = solver.solve(b, x, Transpose::yes);
        EXPECT_TRUE(transposed.converged()) << int(method) << transposed.why();
    }
}

TEST(CoarseSpace, IsChosenForALargePositiveMatrixThatIsNotDominant)
{
    const auto chosen = [](const CsrMatrix<double>& A, MethodChoice method) {
        LinearSolver<> solver(serial({.method = method, .retry = false}));
        solver.analyse(A);
        EXPECT_TRUE(solver.factor().ready());
        const auto          b = random_vector(A.rows(), 1);
        std::vector<double> x(b.size());
        const auto          report = solver.solve(b, x);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_LE(residual_of(A, x, b), 1.01e-8);
        return tells(solver.factored_by(), "coarse space: ") &&
               mentions(all_decisions(report), "precond.coarse=on: A is");
    };
    const auto elastic = gallery::elasticity3d({.n = 15});
    EXPECT_TRUE(chosen(elastic, MethodChoice::cg));
    EXPECT_TRUE(chosen(elastic, MethodChoice::gmres));
    EXPECT_TRUE(chosen(rounded(elastic), MethodChoice::cg));
    EXPECT_FALSE(chosen(gallery::build("poisson3d:n=22"), MethodChoice::cg));
    EXPECT_FALSE(chosen(gallery::elasticity3d({.n = 6}), MethodChoice::cg));
}

TEST(CoarseSpace, IsMadeAnewForOtherNumbers)
{
    auto          A = gallery::elasticity2d({.n = 40});
    SolverOptions options = with_coarse();
    options.sequence.refresh_always = true;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    const auto          first = solver.solve(b, x);
    for (double& value : A.val()) value *= 3;
    ASSERT_TRUE(solver.refactor(A).ready());
    const auto second = solver.solve(b, x);
    ASSERT_TRUE(second.converged()) << second.why();
    EXPECT_NEAR(second.steps(), first.steps(), 2);
    EXPECT_TRUE(tells(solver.factored_by(), "coarse space: "));
}

/// Aggregates are so large that rotations have to be found: once.
TEST(CoarseSpace, KeepsItsVectorsInASeries)
{
    auto          A = gallery::elasticity3d({.n = 14});
    SolverOptions options = serial({.method = MethodChoice::cg, .retry = false});
    options.precond.coarse = CoarseChoice::on;
    options.precond.coarse_size = 300;
    options.sequence.refresh_always = true;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_FALSE(tells(solver.factored_by(), " 0 found in"));
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    const Index         first = solver.solve(b, x).steps();
    for (int system = 0; system < 3; ++system) {
        for (Offset p = 0; p < A.nnz(); ++p) A.val()[p] *= 1.5;
        ASSERT_TRUE(solver.refactor(A).ready());
        EXPECT_TRUE(tells(solver.factored_by(), "kept and found in"));
        const auto report = solver.solve(b, x);
        ASSERT_TRUE(report.converged()) << report.why();
        EXPECT_LE(residual_of(A, x, b), 1.01e-8);
        EXPECT_NEAR(report.steps(), first, 3);
    }
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_FALSE(tells(solver.factored_by(), "kept"));
}

TEST(CoarseSpace, KeepsItsVectorsWhereAIsNotDefiniteAfterAll)
{
    auto          A = gallery::helmholtz2d({.n = 100, .k = 10});
    SolverOptions options = serial({.method = MethodChoice::gmres, .retry = false});
    options.precond.coarse = CoarseChoice::on;
    options.sequence.refresh_always = true;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    ASSERT_TRUE(tells(solver.factored_by(), "M lumps nothing"));
    for (Offset p = 0; p < A.nnz(); ++p) A.val()[p] *= 1.5;
    ASSERT_TRUE(solver.refactor(A).ready());
    EXPECT_TRUE(tells(solver.factored_by(), "kept"));
}

TEST(CoarseSpace, ComplexNumbersTakeTheStepsOfRealOnes)
{
    using Complex = std::complex<double>;
    const auto                 A = gallery::elasticity2d({.n = 40});
    const std::vector<Complex> values(A.val().begin(), A.val().end());
    const CsrView<Complex>     Z(A.rows(), A.cols(), A.row_ptr(), A.col(), values);
    const auto                 b = random_vector(A.rows(), 1);
    const std::vector<Complex> c(b.begin(), b.end());
    std::vector<double>        x(b.size());
    std::vector<Complex>       z(b.size());
    LinearSolver<>             real(with_coarse());
    LinearSolver<Complex>      complex(with_coarse());
    real.analyse(A);
    complex.analyse(Z);
    ASSERT_TRUE(real.factor().ready());
    ASSERT_TRUE(complex.factor().ready());
    const auto by_real = real.solve(b, x), by_complex = complex.solve(c, z);
    ASSERT_TRUE(by_complex.converged()) << by_complex.why();
    EXPECT_NEAR(by_complex.steps(), by_real.steps(), 1);
}

TEST(CoarseSpace, NothingThatHangsTogetherIsTold)
{
    const auto     A = CsrMatrix<double>::identity(50);
    LinearSolver<> solver(with_coarse());
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_TRUE(tells(solver.factored_by(), "coarse space: none"));
    const auto          b = random_vector(50, 1);
    std::vector<double> x(50);
    EXPECT_TRUE(solver.solve(b, x).converged());
}

TEST(CoarseSpace, WhatContradictsItIsRefused)
{
    const auto refuses = [](auto change) {
        SolverOptions options = with_coarse(MethodChoice::automatic);
        change(options);
        EXPECT_THROW(LinearSolver<>{options}, InvalidOption);
    };
    refuses([](SolverOptions& o) { o.method = MethodChoice::lu; });
    refuses([](SolverOptions& o) { o.precond.kind = PrecondKind::ilu0; });
    refuses([](SolverOptions& o) { o.method = MethodChoice::minres; });
    refuses([](SolverOptions& o) { o.krylov.precision = KrylovPrecision::mixed; });
}

TEST(CoarseSpace, FindsNoMoreVectorsThanItMay)
{
    const auto A = gallery::elasticity2d({.n = 40});
    for (const Index most : {0, 1}) {
        SolverOptions options = with_coarse();
        options.precond.coarse_vectors = most;
        options.precond.coarse_size = 1000;  // so large that more would be wanted
        LinearSolver<> solver(options);
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        EXPECT_TRUE(tells(solver.factored_by(), most == 0 ? " 0 found;" : " 1 found in"));
    }
}

TEST(CoarseSpace, TakesTheNearNullSpaceOfTheCaller)
{
    const auto    A = gallery::poisson2d(30, 30);
    SolverOptions options = with_coarse();
    options.precond.mlilu.near_null = std::make_shared<const std::vector<double>>(900, 1.);
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_TRUE(tells(solver.factored_by(), "vectors: 1 given"));
    for (const auto& decision : solver.factored_by().mlilu->decisions)
        EXPECT_EQ(decision.find("near_null has no effect"), std::string::npos) << decision;
    options.precond.mlilu.near_null = std::make_shared<const std::vector<double>>(899, 1.);
    LinearSolver<> other(options);
    other.analyse(A);
    EXPECT_THROW((void)other.factor(), InvalidInput);
}

TEST(CoarseSpace, MethodsThatNeedAnMThatItHasNotRefuseIt)
{
    for (const auto method : {MethodChoice::cocg, MethodChoice::sqmr, MethodChoice::minres}) {
        EXPECT_THROW(LinearSolver<std::complex<double>>{with_coarse(method)}, InvalidOption) << int(method);
        EXPECT_THROW(LinearSolver<double>{with_coarse(method)}, InvalidOption) << int(method);
    }
}

/// CG sees it while it looks for vectors; a constant has positive energy.
TEST(CoarseSpace, OfAnIndefiniteMatrixIsGivenUpWhereItWasChosen)
{
    const auto A = gallery::build("helmholtz2d:n=100,k=10");
    const auto b = random_vector(A.rows(), 1);
    for (const auto coarse : {CoarseChoice::automatic, CoarseChoice::on}) {
        SolverOptions options = serial({.method = MethodChoice::gmres, .retry = false});
        options.precond.coarse = coarse;
        LinearSolver<> solver(options);
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        const bool chosen = coarse == CoarseChoice::automatic;
        EXPECT_TRUE(tells(solver.factored_by(), chosen ? "precond.coarse=off after all: A is not positive definite"
                                                       : "M lumps nothing: A is not positive definite"));
        std::vector<double> x(b.size());
        const auto          report = solver.solve(b, x);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_LE(residual_of(A, x, b), 1.01e-8);
    }
}

TEST(CoarseSpace, ThatWasChosenGoesWithTheSymmetryOfASeries)
{
    auto           A = gallery::elasticity3d({.n = 15});
    LinearSolver<> solver(serial({.method = MethodChoice::gmres, .retry = false}));
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_TRUE(tells(solver.factored_by(), "coarse space: "));
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    EXPECT_TRUE(solver.solve(b, x).converged());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] > i) A.val()[p] *= 0.99;
    (void)solver.refactor(A);
    const auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_LE(residual_of(A, x, b), 1.01e-8);
    EXPECT_EQ(report.result().plan.precond.coarse, CoarseChoice::automatic);
}

TEST(CoarseSpace, OfASaddlePointLastsAsLongAsThatInASeries)
{
    const auto    A = gallery::stokes2d({.n = 64});
    SolverOptions options = serial({.method = MethodChoice::gmres, .retry = false});
    options.sequence.refresh_always = true;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_TRUE(tells(solver.factored_by(), "matching=wait, beside a coarse space"));
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size());
    const auto          first = solver.solve(b, x);
    EXPECT_TRUE(first.converged()) << first.why();
    EXPECT_LE(first.steps(), 26);
    EXPECT_LE(residual_of(A, x, b), 1.01e-8);
    auto twice = A;
    for (double& value : twice.val()) value *= 2;
    (void)solver.refactor(twice);
    const auto again = solver.solve(b, x);
    EXPECT_EQ(again.result().plan.precond.coarse, CoarseChoice::on);
    EXPECT_LE(again.steps(), first.steps() + 4);
    auto odd = A;
    for (Offset p = odd.row_ptr()[0]; p < odd.row_ptr()[1]; ++p)
        if (odd.col()[p] == 0) odd.val()[p] *= -1;
    (void)solver.refactor(odd);
    const auto last = solver.solve(b, x);
    EXPECT_EQ(last.result().plan.precond.coarse, CoarseChoice::automatic);
    EXPECT_NE(last.result().reason.find("no longer symmetric and a saddle point"), std::string::npos)
        << last.result().reason;
}

TEST(CoarseSpace, IsNotChosenForCgOfASaddlePoint)
{
    const auto               A = gallery::stokes2d({.n = 64});
    const SolverOptions      options{.method = MethodChoice::cg};
    Planner<double>          planner(options, A);
    std::vector<std::string> decisions;
    planner.obey(false);
    EXPECT_EQ(planner.first(false, decisions).precond.coarse, CoarseChoice::automatic);
}

TEST(CoarseSpace, BesideASweepLeavesMAsItIs)
{
    SolverOptions options = with_coarse();
    options.precond.mlilu.setup = MlIluSetup::crout;
    LinearSolver<> solver(options);
    solver.analyse(gallery::stokes2d({.n = 20}));
    EXPECT_TRUE(solver.factor().ready());
    EXPECT_FALSE(tells(solver.factored_by(), "has no effect"));
}

/// Rigid motions of the body would make the coarse matrix singular.
TEST(CoarseSpace, OfAMatrixWithANullSpaceIsNotChosen)
{
    const auto               A = gallery::elasticity3d({.n = 15});
    const SolverOptions      options;
    Planner<double>          planner(options, A);
    std::vector<std::string> decisions;
    planner.obey(false);
    EXPECT_EQ(planner.first(false, decisions).precond.coarse, CoarseChoice::on);
    planner.obey(true);
    EXPECT_EQ(planner.first(false, decisions).precond.coarse, CoarseChoice::automatic);
}

/// A matrix that finite elements leave unsymmetric by rounding, on a GPU, and its numbers once more.
TEST(CoarseSpace, AGpuTakesAMatrixThatIsSymmetricButForRounding)
{
    ILUX_SKIP_WITHOUT_GPU();
    for (const auto& [A, coarse] : {std::pair{rounded(gallery::elasticity3d({.n = 15})), true},
                                    {rounded(gallery::build("poisson3d:n=24")), false}}) {
        SolverOptions options = serial({.method = MethodChoice::cg, .device = DeviceChoice::gpu, .retry = false});
        options.sequence.refresh_always = true;
        auto           B = A;
        LinearSolver<> solver(options);
        solver.analyse(B);
        const auto          b = random_vector(B.rows(), 1);
        std::vector<double> x(b.size());
        for (int system = 0; system < 2; ++system) {
            ASSERT_TRUE((system == 0 ? solver.factor() : solver.refactor(B)).ready());
            EXPECT_EQ(tells(solver.factored_by(), "coarse space: "), coarse);
            EXPECT_FALSE(tells(solver.factored_by(), "factored on the host"));
            const auto report = solver.solve(b, x);
            ASSERT_TRUE(report.converged()) << report.why();
            EXPECT_LE(residual_of(B, x, b), 1.01e-8);
            for (double& value : B.val()) value *= 1.25;
        }
    }
}

TEST(CoarseSpace, AGpuTakesTheStepsOfTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    for (const auto& A : {gallery::elasticity2d({.n = 100}), gallery::convdiff3d({.n = 30})}) {
        const auto b = random_vector(A.rows(), 1);
        for (const auto method : {MethodChoice::gmres, MethodChoice::bicg}) {
            SolverOptions options = with_coarse(method);
            Index         steps[2];
            for (const bool there : {false, true}) {
                options.device = there ? DeviceChoice::gpu : DeviceChoice::cpu;
                LinearSolver<> solver(options);
                solver.analyse(A);
                ASSERT_TRUE(solver.factor().ready()) << int(method);
                EXPECT_TRUE(tells(solver.factored_by(), "coarse space: "));
                std::vector<double> x(b.size());
                const auto          report = solver.solve(b, x);
                ASSERT_TRUE(report.converged()) << int(method) << report.why();
                EXPECT_LE(residual_of(A, x, b), 1.01e-8);
                steps[there] = report.steps();
                EXPECT_TRUE(solver.solve(b, x, Transpose::yes).converged());
            }
            EXPECT_LE(steps[1], steps[0] + 2) << int(method);  // its coarse matrices are exact up to more rows
        }
    }
}

TEST(CoarseSpace, CountsAgainstTheMemoryLimit)
{
    const auto    A = gallery::elasticity2d({.n = 60});
    SolverOptions options = with_coarse();
    options.precond.coarse_size = 2;
    options.memory_limit.value = 3'000'000;
    LinearSolver<> solver(options);
    solver.analyse(A);
    EXPECT_FALSE(solver.factor().ready());
    EXPECT_EQ(solver.factored_by().report.outcome, Outcome::out_of_memory);
}

}  // namespace
}  // namespace ilux
