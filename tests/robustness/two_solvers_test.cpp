// Two solvers on two host threads at once: of series, of multilevel preconditioners, one of each, and sharing one
// analysis or one finished factor. Every answer has the bits of a lone run.

#include <gtest/gtest.h>

#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/krylov/runs.hpp"
#include "ilux/tests/robustness/together.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;
/// A series whose values drift and now and then need other pivots.
Solver lu_series(const CsrMatrix<>& A, int threads, std::uint64_t seed, std::shared_ptr<const LuSymbolic> symbolic = {})
{
    return [=] {
        Cpu     be(threads);
        Series  series(A, seed);
        Lu      lu(be, symbolic ? symbolic : analyse(series.view()));
        Answers answers;
        for (int k = 0; k < 12; ++k) {
            if (k % 4 == 3) series.toggle(1e-9);
            else series.drift(0.1);
            EXPECT_EQ(lu.refactor_or_factor(series.view().val).outcome, Outcome::converged);
            answers.emplace_back(series.n);
            EXPECT_EQ(lu.solve(random_vector(series.n, seed + k), answers.back()).outcome, Outcome::converged);
        }
        return answers;
    };
}

Vector solved_by(const MlIlu<>& mlilu, Cpu& be, const CsrMatrix<>& A, Method method, std::uint64_t seed)
{
    MlIluPreconditioner  M(mlilu);
    const MatrixOperator op(A, needs_transpose(method));
    KrylovWorkspace<Cpu> ws(method, A.rows(), {});
    Vector               x(A.rows());
    const Vector         b = random_vector(A.rows(), seed);
    EXPECT_EQ(solve(be, method, op, M, b, x, ws, {}).outcome, Outcome::converged);
    return x;
}

Solver multilevel(const CsrMatrix<>& A, int threads, MlIluOptions options, Method method)
{
    return [=] {
        Cpu     be(threads);
        Answers answers;
        for (int k = 0; k < 3; ++k) answers.push_back(solved_by(MlIlu<>::build(be, A, options), be, A, method, k));
        return answers;
    };
}

/// All that a user of the one object sees of two steps of a series.
Solver linear_solver(const CsrMatrix<>& A, SolverMode mode, int threads)
{
    return [=] {
        LinearSolver solver({.mode = mode, .threads = threads});
        Answers      answers;
        solver.analyse(A);
        EXPECT_EQ(solver.factor().outcome, Outcome::converged);
        for (int k = 0; k < 2; ++k) {
            answers.emplace_back(A.rows());
            EXPECT_TRUE(solver.solve(random_vector(A.rows(), k), answers.back()).converged());
            std::vector<double> values(A.val().begin(), A.val().end());
            for (double& v : values) v *= 1.5;
            EXPECT_EQ(solver.refactor(values).outcome, Outcome::converged);
        }
        return answers;
    };
}

CsrMatrix<> circuit() { return gallery::build("mna_random:n=400,decades=2"); }
const auto  mild_wind = [] { return gallery::build("recirculating2d:n=24"); };

TEST(TwoSolvers, TwoSeriesAtOnce)
{
    for (const int threads : {1, 2})
        expect_same_answers_together(lu_series(circuit(), threads, 1),
                                     lu_series(gallery::build("convdiff2d:n=15"), threads, 2));
}

TEST(TwoSolvers, TwoSeriesOfOneAnalysis)
{
    const auto A = circuit();
    const auto symbolic = analyse(view(A));
    expect_same_answers_together(lu_series(A, 1, 1, symbolic), lu_series(A, 2, 2, symbolic));
}

TEST(TwoSolvers, TwoMultilevelSolutionsAtOnce)
{
    for (const int threads : {1, 2})
        expect_same_answers_together(multilevel(mild_wind(), threads, {}, Method::gmres),
                                     multilevel(mild_wind(), threads, {.inverse_bound = 2}, Method::bicgstab));
}

/// METIS draws from the C library's rand(), which the whole program shares.
TEST(TwoSolvers, TwoNestedDissectionsAtOnce)
{
    expect_same_answers_together(multilevel(mild_wind(), 1, {.ordering = Ordering::metis}, Method::gmres),
                                 multilevel(mild_wind(), 1, {.ordering = Ordering::metis, .dense_order = 0},
                                            Method::fgmres));
}

TEST(TwoSolvers, ASeriesBesideAMultilevelSolution)
{
    expect_same_answers_together(lu_series(circuit(), 2, 1), multilevel(mild_wind(), 2, {}, Method::gmres));
}

TEST(TwoSolvers, OnePreconditionerServesTwo)
{
    const auto A = mild_wind();
    Cpu        make(1);
    const auto mlilu = MlIlu<>::build(make, A, {});
    const auto with = [&](Method method, int threads) -> Solver {
        return [=, &A] {
            Cpu     be(threads);
            Answers answers;
            for (int k = 0; k < 5; ++k) answers.push_back(solved_by(mlilu, be, A, method, k));
            return answers;
        };
    };
    expect_same_answers_together(with(Method::gmres, 1), with(Method::bicg, 2));
}

TEST(TwoSolvers, OneFactorServesTwo)
{
    const auto A = circuit();
    Cpu        make(1);
    Lu         lu(make, analyse(view(A)));
    ASSERT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    const auto with = [&](Transpose transpose, int threads) -> Solver {
        return [&lu, n = A.rows(), transpose, threads] {
            Cpu           be(threads);
            LuWorkspace<> ws(n);
            Answers       answers;
            for (int k = 0; k < 20; ++k) {
                answers.emplace_back(n);
                EXPECT_EQ(std::as_const(lu).solve(be, random_vector(n, k), answers.back(), ws, transpose).outcome,
                          Outcome::converged);
            }
            return answers;
        };
    };
    expect_same_answers_together(with(Transpose::no, 1), with(Transpose::yes, 2));
}

TEST(TwoSolvers, TwoLinearSolversAtOnce)
{
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative})
        expect_same_answers_together(linear_solver(circuit(), SolverMode::direct, 2),
                                     linear_solver(mild_wind(), mode, 2));
}

/// Threads may share what the C interface made, and the struct of parameters, too.
TEST(TwoSolvers, OneNumericOfTheCInterfaceServesTwo)
{
    const auto          At = transpose(circuit());
    const int           n = At.rows();
    std::vector<int>    Ap(At.row_ptr().begin(), At.row_ptr().end()), Ai(At.col().begin(), At.col().end());
    std::vector<double> Ax(At.val().begin(), At.val().end());
    ilux_klu_common     common;
    ilux_klu_defaults(&common);
    ilux_klu_symbolic* symbolic = ilux_klu_analyze(n, Ap.data(), Ai.data(), &common);
    ilux_klu_numeric*  numeric = ilux_klu_factor(Ap.data(), Ai.data(), Ax.data(), symbolic, &common);
    ASSERT_NE(numeric, nullptr);
    const auto solve = [&](int nrhs, decltype(ilux_klu_solve)* call) {
        return [&, nrhs, call] {
            Answers answers;
            for (int k = 0; k < 20; ++k) {
                answers.push_back(random_vector((n + 1) * nrhs, k));
                EXPECT_TRUE(call(symbolic, numeric, n + 1, nrhs, answers.back().data(), &common));
            }
            return answers;
        };
    };
    expect_same_answers_together(solve(1, ilux_klu_solve), solve(1, ilux_klu_tsolve));
    expect_same_answers_together(solve(9, ilux_klu_solve), solve(2, ilux_klu_solve));
    EXPECT_TRUE(ilux_klu_free_numeric(&numeric, &common));
    EXPECT_TRUE(ilux_klu_free_symbolic(&symbolic, &common));
}

}  // namespace
}  // namespace ilux::test
