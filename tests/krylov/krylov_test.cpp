#include "ilux/krylov/krylov.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/tests/krylov/variants.hpp"

namespace ilux {
namespace {

using namespace test::krylov;

using test::eps;

/// On the host and on a device.
class EveryKrylov : public Variants {};
INSTANTIATE_TEST_SUITE_P(Methods, EveryKrylov,
                         testing::Combine(testing::Values(Where::cpu), testing::ValuesIn(variants)), name_of);
INSTANTIATE_TEST_SUITE_P(Gpu, EveryKrylov, testing::Combine(testing::Values(Where::gpu), testing::ValuesIn(variants)),
                         name_of);

/// What only a host has: threads, and its operator new.
class EveryHostKrylov : public Variants {};
INSTANTIATE_TEST_SUITE_P(Methods, EveryHostKrylov,
                         testing::Combine(testing::Values(Where::cpu), testing::ValuesIn(variants)), name_of);

TEST_P(EveryKrylov, SolvesPositiveDefiniteSystemsOfAwkwardSizes)
{
    for (Index n : {0, 1, 2, 31, 32, 33, 300}) {
        const auto A = test::random_spd(n, 4, n + 1);
        const auto b = test::random_vector(n, n + 2);
        auto       M = jacobi(A);
        const auto s = run(A, M, b, test::random_vector(n, 9), options(1e-10));
        EXPECT_EQ(s.report.outcome, Outcome::converged) << "n = " << n << ": " << s.report.detail;
        EXPECT_LE(true_residual(A, s.x, b), 1.001e-10) << "n = " << n;
        EXPECT_NEAR(s.report.relative_residual, true_residual(A, s.x, b), 1e-13) << "n = " << n;
        EXPECT_EQ(s.report.steps == 0, n == 0);
        EXPECT_GE(s.report.seconds.solve, s.report.seconds.spmv + s.report.seconds.precond + s.report.seconds.ortho);
    }
}

TEST_P(EveryKrylov, ReachesTheSolutionInAtMostNIterations)
{
    const Index products = method() == Method::bicgstab ? 2 : 1;  // a half iteration is a step
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Index n = 7;
        const auto  A = method() == Method::cg ? test::random_spd(n, 3, seed) : test::random_dominant(n, 3, seed);
        const auto  b = test::random_vector(n, seed);
        const auto  s = run(A, b, options(1e-9, products * n));
        EXPECT_EQ(s.report.outcome, Outcome::converged) << "seed " << seed;
        const auto x = test::dense_solve(A, b);
        EXPECT_LE(test::relative_difference(s.x, x), 1e-6) << "seed " << seed;
    }
}

TEST_P(EveryHostKrylov, TellsTheXThatItsResidualIsOf)
{
    const auto          A = test::random_spd(60, 3, 5);
    const auto          b = test::random_vector(60, 2);
    const bool          in_cycles = method() == Method::gmres || method() == Method::fgmres;  // x changes at their ends
    const KrylovOptions opt = options(1e-9);
    const MatrixOperator op(A, true);
    Identity<Cpu>        I(60);
    Cpu                  be(1);
    KrylovWorkspace<Cpu> ws(method(), 60, opt);
    Vector               x(60);
    Index                steps = 0;
    const auto           report = solve(be, method(), op, I, b, x, ws, opt, [&](const Progress& now) {
        ASSERT_EQ(now.real_x.size(), x.size());
        EXPECT_TRUE(now.complex_x.empty());
        steps = std::max(steps, now.done);
        if (in_cycles && !now.exact) return;
        EXPECT_NEAR(true_residual(A, Vector(now.real_x.begin(), now.real_x.end()), b), now.residual, 1e-12);
    });
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(steps, report.steps);
}

TEST_P(EveryKrylov, AnswersBZeroWithXZero)
{
    const auto    A = test::random_spd(5, 2, 1);
    Identity<Cpu> I(5);
    const auto    s = run(A, I, Vector(5), test::random_vector(5, 3), options(1e-8));
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_EQ(s.report.steps, 0);
    EXPECT_EQ(s.report.relative_residual, 0);
    EXPECT_EQ(s.x, Vector(5));
}

TEST_P(EveryKrylov, LeavesAnExactGuessAsItIs)
{
    const auto    A = dense(2, {2, 1, 1, 3});
    Identity<Cpu> I(2);
    const auto    s = run(A, I, Vector{4, 7}, Vector{1, 2}, options(0));
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_EQ(s.report.steps, 0);
    EXPECT_EQ(s.x, (Vector{1, 2}));
}

TEST_P(EveryKrylov, TakesNoStepWhenNoneIsAllowed)
{
    const auto    A = test::random_spd(9, 2, 1);
    const auto    b = test::random_vector(9, 2), guess = test::random_vector(9, 3);
    Identity<Cpu> I(9);
    const auto    s = run(A, I, b, guess, options(1e-8, 0));
    EXPECT_EQ(s.report.outcome, Outcome::max_steps);
    EXPECT_EQ(s.report.steps, 0);
    EXPECT_EQ(s.x, guess);
    EXPECT_NEAR(s.report.relative_residual, true_residual(A, guess, b), 1e-12);
}

TEST_P(EveryKrylov, NeverExceedsTheStepLimitAndTellsEveryStep)
{
    const auto A = test::random_spd(60, 3, 5);
    const auto b = test::random_vector(60, 2);
    for (Index limit : {1, 2, 3, 8}) {
        const auto s = run(A, b, options(1e-14, limit));
        EXPECT_EQ(s.report.outcome, Outcome::max_steps);
        EXPECT_LE(s.report.steps, limit);
        EXPECT_GE(s.report.steps, limit - 1);
        EXPECT_LE(s.report.relative_residual, 1);  // the best iterate, never worse than the guess 0
        Index told = 0;
        for (const Progress& p : s.history) {
            EXPECT_EQ(p.total, limit);
            EXPECT_GE(p.done, told);
            told = p.done;
        }
        EXPECT_EQ(told, s.report.steps);
        EXPECT_TRUE(s.history.front().exact && s.history.back().exact);
    }
}

TEST_P(EveryKrylov, ClaimsNothingItCannotReach)
{
    const auto A = test::random_spd(40, 3, 5);
    const auto b = test::random_vector(40, 2);
    const auto s = run(A, b, options(0, 100'000));
    if (s.report.outcome == Outcome::converged) {
        EXPECT_EQ(true_residual(A, s.x, b), 0);
    } else {
        EXPECT_EQ(s.report.outcome, Outcome::stagnated) << s.report.detail;
        EXPECT_LT(s.report.steps, 100'000);
    }
    EXPECT_LE(true_residual(A, s.x, b), 1e-13);  // as far as rounding lets it
}

TEST_P(EveryKrylov, ReportsANaNOfThePreconditionerAndKeepsXFinite)
{
    const auto A = test::random_spd(50, 3, 5);
    const auto b = test::random_vector(50, 2);
    for (long healthy : {0, 1, 2, 3, 7}) {
        Given      M(50, [healthy](long call, std::span<const double> r, std::span<double> z) {
            std::copy(r.begin(), r.end(), z.begin());
            if (call >= healthy) z[17] = nan;
        });
        const auto s = run(A, M, b, Vector(50), options(1e-12));
        EXPECT_EQ(s.report.outcome, Outcome::not_finite) << "after " << healthy << " calls";
        EXPECT_STRNE(s.report.detail, "");
        EXPECT_LE(true_residual(A, s.x, b), 1);  // false for NaN
        EXPECT_NEAR(s.report.relative_residual, true_residual(A, s.x, b), 1e-12);
        EXPECT_LE(M.calls, healthy + 2);
    }
}

TEST_P(EveryKrylov, KeepsTheProgressMadeBeforeANaN)
{
    const auto A = test::random_spd(50, 3, 5);
    const auto b = test::random_vector(50, 2);
    Given      M(50, [](long call, std::span<const double> r, std::span<double> z) {
        std::copy(r.begin(), r.end(), z.begin());
        if (call >= 20) z[17] = nan;
    });
    const auto s = run(A, M, b, Vector(50), options(1e-14));
    EXPECT_EQ(s.report.outcome, Outcome::not_finite);
    const bool updates_by_M = method() == Method::gmres && variant().opt.side == Side::right;
    EXPECT_LT(true_residual(A, s.x, b), updates_by_M ? 1.001 : 0.5);
}

TEST_P(EveryKrylov, ReportsAGuessOrRightHandSideThatIsNotFinite)
{
    const auto    A = test::random_spd(5, 2, 1);
    Identity<Cpu> I(5);
    Vector        bad(5, 1.);
    bad[2] = nan;
    EXPECT_EQ(run(A, I, bad, Vector(5), options(1e-8)).report.outcome, Outcome::not_finite);
    EXPECT_EQ(run(A, I, Vector(5, 1.), bad, options(1e-8)).report.outcome, Outcome::not_finite);
    bad[2] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(run(A, I, bad, Vector(5), options(1e-8)).report.outcome, Outcome::not_finite);
}

TEST_P(EveryKrylov, NeverCallsALyingPreconditionersAnswerConverged)
{
    const auto A = test::random_spd(40, 3, 5);
    const auto b = test::random_vector(40, 2);
    for (long honest : {0, 1, 2, 5, 9, 14}) {
        test::Random random(honest);
        Given        M(40, [&](long call, std::span<const double> r, std::span<double> z) {
            for (std::size_t i = 0; i < r.size(); ++i) z[i] = call < honest ? r[i] : 1e3 * random.uniform();
        });
               const auto s = run(A, M, b, Vector(40), options(1e-8, 400));
        if (s.report.outcome == Outcome::converged) {
            EXPECT_LE(true_residual(A, s.x, b), 1.001e-8);
        }
        EXPECT_LE(true_residual(A, s.x, b), 1 + 8 * eps);  // never worse than the guess
        EXPECT_NEAR(s.report.relative_residual, true_residual(A, s.x, b), 1e-10);
        EXPECT_LE(s.report.steps, 400);
    }
}

TEST_P(EveryKrylov, CallsNoInconsistentSystemSolved)
{
    const auto A = dense(3, {2, 0, 0, 0, 1, 0, 0, 0, 0});  // positive semidefinite, b has a part in its null space
    const auto s = run(A, Vector{2, 1, 1}, options(1e-8));
    if (is_gmres()) {
        EXPECT_EQ(s.report.outcome, Outcome::breakdown) << name(s.report.outcome);
    } else {  // whether a product vanishes up to rounding, or is divided by and blows x up, is a matter of a bit
        EXPECT_TRUE(s.report.outcome == Outcome::breakdown || s.report.outcome == Outcome::diverged)
            << name(s.report.outcome);
    }
    EXPECT_STRNE(s.report.detail, "");
    EXPECT_GE(true_residual(A, s.x, {2, 1, 1}), 0.999 / std::sqrt(6));  // the least-squares residual is 1
    EXPECT_LE(true_residual(A, s.x, {2, 1, 1}), 1);
}

TEST_P(EveryKrylov, SolvesASingularConsistentSystem)
{
    const auto A = dense(3, {2, 0, 0, 0, 1, 0, 0, 0, 0});
    const auto s = run(A, Vector{2, 1, 0}, options(1e-12));
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_LE(test::relative_difference(s.x, Vector{1, 1, 0}), 1e-11);
}

TEST_P(EveryKrylov, WorksAtScalesWhoseSquaresOverflowOrUnderflow)
{
    const auto A = test::random_spd(20, 3, 5);
    for (double size : {1e-200, 1e200}) {
        auto b = test::random_vector(20, 2);
        for (double& bi : b) bi *= size;
        const auto s = run(A, b, options(1e-8));
        EXPECT_EQ(s.report.outcome, Outcome::converged) << s.report.detail;
        auto x = s.x;
        for (double& xi : x) xi /= size;
        for (double& bi : b) bi /= size;
        EXPECT_LE(true_residual(A, x, b), 1.001e-8);
    }
}

TEST_P(EveryKrylov, StopsByBackwardErrorWhenAsked)
{
    const auto A = test::random_spd(60, 3, 5);
    const auto b = test::random_vector(60, 2);
    auto       opt = options(1e-6);
    EXPECT_THROW(
        {
            opt.stop = StopTest::backward_error;
            run(A, b, opt);
        },
        InvalidOption);
    Cpu serial(1);
    opt.matrix_norm = norm2<double>(serial, A.val());
    const auto s = run(A, b, opt);
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    const double error = true_residual(A, s.x, b) * norm(b) / (opt.matrix_norm * norm(s.x) + norm(b));
    EXPECT_LE(error, 1.001e-6);
    EXPECT_NEAR(s.report.backward_error, error, 1e-12);
}

TEST_P(EveryKrylov, LetsNoHugeIterateFakeASmallBackwardError)
{
    // M = 1e-12 I from a guess of length 1e12: ‖A‖‖x‖ dwarfs b, but x is still moving.
    const auto A = test::random_spd(30, 3, 5);
    auto       opt = options(1e-8, 5);
    opt.stop = StopTest::backward_error;
    Cpu serial(1);
    opt.matrix_norm = norm2<double>(serial, A.val());
    auto guess = test::random_vector(30, 4);
    for (double& g : guess) g *= 1e12;
    const Vector  b = test::random_vector(30, 2);
    Identity<Cpu> I(30);
    const auto    s = run(A, I, b, guess, opt);
    EXPECT_EQ(s.report.outcome, Outcome::max_steps);
}

TEST_P(EveryHostKrylov, GivesTheSameBitsForAnyNumberOfThreads)
{
    const Index        n = 20000;  // long enough for the vector primitives to fork
    std::vector<Index> row, col;
    Vector             val;
    for (Index i = 0; i < n; ++i)
        for (Index j : {i - 100, i - 1, i, i + 1, i + 100}) {
            if (j < 0 || j >= n) continue;
            row.push_back(i);
            col.push_back(j);
            val.push_back(i == j ? 4 : -1);
        }
    const auto    A = CsrMatrix<>::from_triplets(n, n, row, col, val);
    const auto    b = test::random_vector(n, 2);
    Identity<Cpu> I(n);
    const auto    one = test::krylov::run(method(), A, I, b, Vector(n), options(1e-12, 24), 1);
    const auto    three = test::krylov::run(method(), A, I, b, Vector(n), options(1e-12, 24), 3);
    EXPECT_TRUE(test::identical(one.x, three.x));
    EXPECT_EQ(one.report.relative_residual, three.report.relative_residual);
}

TEST_P(EveryHostKrylov, AllocatesNothingWhileSolving)
{
    const auto              A = test::random_spd(100, 3, 5);
    const auto              b = test::random_vector(100, 2);
    const auto              opt = options(1e-10);
    Cpu                     be(1);
    const MatrixOperator    op(A, true);
    Identity<Cpu>           M(100);
    KrylovWorkspace<Cpu>    ws(method(), 100, opt);
    Vector                  x(100);
    long                    told = 0;
    const ProgressListener  on_progress = [&told](const Progress&) { ++told; };
    test::AllocationCounter counter;
    const auto              report = solve(be, method(), op, M, b, x, ws, opt, on_progress);
    const long              allocations = counter.count();
    EXPECT_EQ(allocations, 0);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_GT(told, 0);
}

TEST_P(EveryHostKrylov, ServesManySolvesWithOneWorkspace)
{
    const auto           A = test::random_spd(40, 3, 5);
    const auto           opt = options(1e-10);
    Cpu                  be(1);
    const MatrixOperator op(A, true);
    Identity<Cpu>        M(40);
    KrylovWorkspace<Cpu> ws(method(), 40, opt);
    Vector               poisoned(40), x(40);
    auto                 b = test::random_vector(40, 2);
    b[3] = nan;
    EXPECT_EQ(solve(be, method(), op, M, b, poisoned, ws, opt).outcome, Outcome::not_finite);
    b = test::random_vector(40, 2);
    const auto report = solve(be, method(), op, M, b, x, ws, opt);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_TRUE(test::identical(x, run(A, b, opt).x));
}

TEST_P(EveryHostKrylov, RefusesSizesAndOptionsThatMakeNoSense)
{
    const auto           A = test::random_spd(4, 2, 1);
    const auto           opt = options(1e-8);
    Cpu                  be(1);
    const MatrixOperator op(A, true);
    Identity<Cpu>        M(4), M5(5);
    KrylovWorkspace<Cpu> ws(method(), 4, opt), ws5(method(), 5, opt);
    Vector               b(4, 1.), x(4), x5(5);
    EXPECT_THROW((void)solve(be, method(), op, M5, b, x, ws, opt), InvalidInput);
    EXPECT_THROW((void)solve(be, method(), op, M, b, x5, ws, opt), InvalidInput);
    EXPECT_THROW((void)solve(be, method(), op, M, b, x, ws5, opt), InvalidInput);
    EXPECT_THROW((void)solve(be, method(), op, M, x5, x, ws, opt), InvalidInput);
    const Method other = method() == Method::cg ? Method::bicg : Method::cg;
    EXPECT_THROW((void)solve(be, other, op, M, b, x, ws, opt), InvalidInput);
    for (double bad : {-1., 2., nan})
        EXPECT_THROW((void)solve(be, method(), op, M, b, x, ws, options(bad)), InvalidOption);
    EXPECT_THROW(KrylovWorkspace<Cpu>(method(), 4, options(1e-8, -1)), InvalidOption);
    EXPECT_EQ(x, Vector(4));
}

TEST(Krylov, MethodsOtherThanCgSolveUnsymmetricSystems)
{
    for (const Variant& variant : variants) {
        if (variant.method == Method::cg) continue;
        for (Index n : {1, 31, 32, 33, 500}) {
            const auto A = test::random_dominant(n, 5, n);
            const auto b = test::random_vector(n, 2);
            auto       M = jacobi(A);
            const auto s = run(variant.method, A, M, b, Vector(n), variant.opt);
            EXPECT_EQ(s.report.outcome, Outcome::converged) << variant.name << ", n = " << n;
            EXPECT_LE(true_residual(A, s.x, b), 1.001e-8) << variant.name << ", n = " << n;
        }
    }
}

}  // namespace
}  // namespace ilux
