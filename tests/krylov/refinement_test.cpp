// Iterative refinement around the Krylov methods in single precision. What it says of x is held against sums of the
// tests' own.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/refinement.hpp"
#include "ilux/base/matrix/single.hpp"
#include "ilux/tests/krylov/runs.hpp"
#include "ilux/tests/support/allocation_counter.hpp"
#include "ilux/tests/support/real_form.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using test::krylov::Vector;

constexpr Method every_method[] = {Method::gmres, Method::fgmres, Method::bicg, Method::bicgstab,
                                   Method::cg,    Method::minres, Method::sqmr, Method::cocg};

/// A in both precisions, without a preconditioner, and a workspace.
template <class S>
struct Rounded {
    using Single = single_of<S>;
    Rounded(const CsrMatrix<S>& A, Method method, const KrylovOptions& opt)
        : single(in_single<S>(A)), A(A), A_single(single, true), M(A.rows()), workspace(method, A.rows(), opt)
    {}
    SingleSystem<Cpu, S> system() { return {A_single, M}; }

    CsrMatrix<Single>           single;
    MatrixOperator<S>           A;
    MatrixOperator<Single>      A_single;
    Identity<Cpu, Single>       M;
    RefinementWorkspace<Cpu, S> workspace;
};

template <class S>
IterationReport refined(const CsrMatrix<S>& A, Method method, const std::vector<S>& b, std::vector<S>& x,
                        const KrylovOptions& opt, const ProgressListener& on_progress = {}, const StopToken& stop = {})
{
    Cpu        be(1);
    Rounded<S> both(A, method, opt);
    return refine<Cpu, S>(be, both.A, both.system(), b, x, both.workspace, opt, on_progress, stop);
}

TEST(Refinement, ReachesDoubleByEveryMethod)
{
    const auto          A = gallery::poisson2d(15, 15);
    const auto          b = test::random_vector(A.rows(), 1);
    const KrylovOptions opt{.rtol = 1e-12, .max_steps = 2000};
    for (const Method method : every_method) {
        Vector     x(b.size());
        const auto report = refined<double>(A, method, b, x, opt);
        EXPECT_EQ(report.outcome, Outcome::converged) << name(method) << ": " << report.detail;
        EXPECT_LE(test::krylov::true_residual(A, x, b), 1.001e-12) << name(method);
        EXPECT_NEAR(report.relative_residual, test::krylov::true_residual(A, x, b), 1e-14) << name(method);
        EXPECT_GE(report.restarts, 2) << name(method);  // one solve in float does not reach it
    }
}

TEST(Refinement, ReachesDoubleWithComplexValues)
{
    const auto real = gallery::poisson2d(12, 12), unsymmetric = gallery::convdiff2d({.n = 12});
    const auto H = test::turned_hermitian(real, 4);
    const auto complex_of = [](const CsrMatrix<>& of, test::Complex shift) {
        test::ComplexVector val(of.val().begin(), of.val().end());
        for (Index i = 0; i < of.rows(); ++i)
            for (Offset p = of.row_ptr()[i]; p < of.row_ptr()[i + 1]; ++p)
                if (of.col()[p] == i) val[p] += shift;
        return CsrMatrix<test::Complex>::from_arrays(of.rows(), of.cols(), {of.row_ptr().begin(), of.row_ptr().end()},
                                                     {of.col().begin(), of.col().end()}, val);
    };
    const auto          A = complex_of(unsymmetric, {1, 0.5}), symmetric = complex_of(real, {0.1, 0.3});
    const auto          b = test::random_complex_vector(A.rows(), 7);
    const KrylovOptions opt{.rtol = 1e-12, .max_steps = 4000, .restart = 60};
    const auto          check = [&](const CsrMatrix<test::Complex>& of, Method method) {
        test::ComplexVector x(b.size());
        const auto          report = refined<test::Complex>(of, method, b, x, opt);
        EXPECT_EQ(report.outcome, Outcome::converged) << name(method) << ": " << report.detail;
        EXPECT_LE(test::krylov::true_residual(test::real_form(of), test::real_form(x), test::real_form(b)), 1.001e-12);
    };
    for (const Method method : {Method::gmres, Method::fgmres, Method::bicg, Method::bicgstab}) check(A, method);
    for (const Method method : {Method::cg, Method::minres}) check(H, method);
    for (const Method method : {Method::sqmr, Method::cocg}) check(symmetric, method);
}

TEST(Refinement, TakesAwkwardSizes)
{
    for (const Index n : {0, 1, 31, 32, 33}) {
        const auto b = test::random_vector(n, 2);
        const auto A = n == 0 ? CsrMatrix<>::identity(0) : gallery::poisson2d(n, 1);
        Vector     x(b.size());
        const auto report = refined<double>(A, Method::gmres, b, x, {.rtol = 1e-13});
        EXPECT_EQ(report.outcome, Outcome::converged) << n;
        if (n > 0) {
            EXPECT_LE(test::krylov::true_residual(A, x, b), 1.001e-13) << n;
        }
    }
}

TEST(Refinement, SolvesForZero)
{
    const auto A = gallery::poisson2d(5, 5);
    Vector     x(25, 3.), b(25, 0.);
    const auto report = refined<double>(A, Method::bicgstab, b, x, {});
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.steps, 0);
    EXPECT_TRUE(test::identical(x, b));
}

TEST(Refinement, TellsWhatIsNotFinite)
{
    const auto A = gallery::poisson2d(5, 5);
    Vector     x(25), b(25, 1.);
    b[3] = test::nan;
    EXPECT_EQ(refined<double>(A, Method::gmres, b, x, {}).outcome, Outcome::not_finite);
}

TEST(Refinement, WorksInUnitsOfTheResidual)
{
    const auto   A = gallery::convdiff2d({.n = 12});
    const Vector b = test::random_vector(A.rows(), 3);
    for (const double size : {1e-200, 1e-30, 1e30, 1e200}) {
        Vector scaled = b, x(b.size());
        for (double& bi : scaled) bi *= size;
        const auto report = refined<double>(A, Method::gmres, scaled, x, {.rtol = 1e-11});
        EXPECT_EQ(report.outcome, Outcome::converged) << size;
        for (double& xi : x) xi /= size;
        EXPECT_LE(test::krylov::true_residual(A, x, b), 1.1e-11) << size;
    }
}

TEST(Refinement, CountsTheStepsOfAllInnerSolves)
{
    const auto   A = gallery::poisson2d(20, 20);
    const Vector b = test::random_vector(A.rows(), 4);
    Vector       x(b.size());
    const auto   whole = refined<double>(A, Method::cg, b, x, {.rtol = 1e-12});
    ASSERT_EQ(whole.outcome, Outcome::converged);
    for (const Method method : every_method)
        for (const Index most : {0, 1, 7, 50}) {
            std::fill(x.begin(), x.end(), 0.);
            const auto report = refined<double>(A, method, b, x, {.rtol = 1e-15, .max_steps = most});
            EXPECT_EQ(report.outcome, Outcome::max_steps) << name(method) << ", " << most;
            EXPECT_LE(report.steps, most) << name(method);
            EXPECT_GE(report.steps, most - 1) << name(method);  // BiCG takes two at a time
        }
}

TEST(Refinement, TellsEveryStepAndTheResidualsInDouble)
{
    const auto   A = gallery::poisson2d(15, 15);
    const Vector b = test::random_vector(A.rows(), 5);
    Vector       x(b.size());
    Index        last = 0, exact = 0;
    double       residual = 0;
    const auto   report = refined<double>(A, Method::gmres, b, x, {.rtol = 1e-12}, [&](const Progress& now) {
        EXPECT_GE(now.done, last);
        last = now.done;
        exact += now.exact;
        if (now.exact) residual = now.residual;
    });
    EXPECT_EQ(last, report.steps);
    EXPECT_EQ(exact, report.restarts + 1);
    EXPECT_EQ(residual, report.relative_residual);
}

TEST(Refinement, AsksAStopToken)
{
    const auto   A = gallery::poisson2d(20, 20);
    const Vector b = test::random_vector(A.rows(), 6);
    for (const int last : {1, 2, 10, 40}) {
        std::atomic<int> asked;
        Vector           x(b.size());
        const auto       report = refined<double>(A, Method::cg, b, x, {.rtol = 1e-15}, {}, test::stop_at(last, asked));
        EXPECT_EQ(report.outcome, Outcome::cancelled) << last;
        EXPECT_LE(test::krylov::true_residual(A, x, b), 1.) << last;
    }
}

/// [1 1; 1 1 + δ] in every pair of unknowns: for δ below the rounding of float singular there.
CsrMatrix<> nearly_singular(Index pairs, double delta)
{
    std::vector<Index> row, col;
    Vector             val;
    for (Index k = 0; k < 2 * pairs; k += 2)
        for (const auto& [i, j] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
            row.push_back(k + i);
            col.push_back(k + j);
            val.push_back(i + j == 2 ? 1 + delta : 1);
        }
    return CsrMatrix<>::from_triplets(2 * pairs, 2 * pairs, row, col, val);
}

TEST(Refinement, AdmitsWhatSinglePrecisionCannotDo)
{
    const auto   A = nearly_singular(8, 1e-10);
    const Vector b = test::random_vector(A.rows(), 7);
    Vector       x(b.size());
    const auto   report = refined<double>(A, Method::gmres, b, x, {.rtol = 1e-8});
    EXPECT_TRUE(report.outcome == Outcome::stagnated || report.outcome == Outcome::breakdown) << name(report.outcome);
    EXPECT_NE(std::string(report.detail), "");
    EXPECT_LE(test::krylov::true_residual(A, x, b), 1.);
}

TEST(Refinement, AllocatesNothingWhileSolving)
{
    const auto          A = test::random_spd(100, 3, 5);
    const auto          b = test::random_vector(100, 2);
    const KrylovOptions opt{.rtol = 1e-12};
    for (const Method method : every_method) {
        Cpu                     be(1);
        Rounded<double>         both(A, method, opt);
        Vector                  x(100);
        long                    told = 0;
        const ProgressListener  on_progress = [&told](const Progress&) { ++told; };
        test::AllocationCounter counter;
        const auto report = refine<Cpu, double>(be, both.A, both.system(), b, x, both.workspace, opt, on_progress);
        const long allocations = counter.count();
        EXPECT_EQ(allocations, 0) << name(method);
        EXPECT_EQ(report.outcome, Outcome::converged) << name(method);
        EXPECT_GT(told, 0);
    }
}

}  // namespace
}  // namespace ilux
