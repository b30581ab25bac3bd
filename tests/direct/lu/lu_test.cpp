#include "ilux/direct/lu/lu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/small_matrix.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::as_given;
using test::componentwise_error;
using test::says;
using test::Series;
using test::Small;
using Vector = std::vector<double>;

using test::nan;

/// 1 on the diagonal and in the last column, −1 below: partial pivoting never exchanges, and U grows by 2ⁿ⁻¹.
Small growing(Index n, double drift)
{
    std::vector<std::vector<double>> rows(n, Vector(n, 0.0));
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < i; ++j) rows[i][j] = -1;
        rows[i][i] = 1;
        rows[i][n - 1] = 1 - drift;
    }
    return {rows, MatrixLayout::rows};
}

TEST(Lu, DoesNotRepivotAgainAndAgainForGrowthThatFreshPivotsHaveToo)
{
    Cpu         be(1);
    const Index n = 40;
    Lu          lu(be, analyse(growing(n, 0).view(), as_given));
    ASSERT_EQ(lu.refactor_or_factor(growing(n, 0).view().val).action, LuAction::factor);
    for (const double drift : {0.01, 0.02, 0.03}) {
        const Small    A = growing(n, drift);
        const LuReport report = lu.refactor_or_factor(A.view().val);
        EXPECT_EQ(report.state, PivotState::large_growth);
        EXPECT_EQ(report.action, LuAction::refactor);
        const Vector b = test::random_vector(n, 1);
        Vector       x(n);
        EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        EXPECT_LE(componentwise_error(A.view(), x, b), 1e-12);
    }
    EXPECT_EQ(lu.status().repivots, 0);
}

TEST(Lu, AnotherPivotToleranceNeedsNoOtherAnalysis)
{
    Cpu         be(1);
    const Small A({{0.1, 1}, {1, 1}}, MatrixLayout::rows), later({{0.09, 1}, {1, 1}}, MatrixLayout::rows);
    const auto  symbolic = analyse(A.view(), as_given);
    LuOptions   largest = as_given;
    largest.pivot_tol = 1;
    Lu by_diagonal(be, symbolic), by_largest(be, symbolic, largest);
    ASSERT_EQ(by_diagonal.factor(A.view().val).outcome, Outcome::converged);
    ASSERT_EQ(by_largest.factor(A.view().val).outcome, Outcome::converged);
    EXPECT_EQ(by_diagonal.factors().pattern->row_perm, (std::vector<Index>{0, 1}));
    EXPECT_EQ(by_largest.factors().pattern->row_perm, (std::vector<Index>{1, 0}));
    EXPECT_EQ(by_largest.factors().symbolic, symbolic);  // no index array is copied
    EXPECT_EQ(by_largest.pivots().options.pivot_tol, 1);

    Lu stale(be, symbolic, largest);
    ASSERT_EQ(stale.factor(Small({{2, 1}, {1, 2}}, MatrixLayout::rows).view().val).outcome, Outcome::converged);
    EXPECT_EQ(stale.refactor_or_factor(later.view().val).state, PivotState::large_multiplier);  // 11 > 1 / pivot_tol
    ASSERT_EQ(by_diagonal.refactor_or_factor(later.view().val).action, LuAction::refactor);
    EXPECT_EQ(by_diagonal.refactor_or_factor(later.view().val).state, PivotState::good);
}

TEST(Lu, RepivotsWhereTheFormerPivotsOverflow)
{
    Cpu         be(1);
    const Small first({{1, 1}, {1, 2}}, MatrixLayout::rows), second({{1e-200, 1}, {1e200, 1}}, MatrixLayout::rows);
    Lu          lu(be, analyse(first.view(), as_given));
    (void)lu.refactor_or_factor(first.view().val);
    const LuReport report = lu.refactor_or_factor(second.view().val);
    EXPECT_EQ(report.action, LuAction::repivot);
    EXPECT_EQ(report.state, PivotState::not_finite);
    EXPECT_TRUE(says(report.reason, "overflow")) << report.reason;
    Vector x(2);
    EXPECT_EQ(lu.solve(Vector{1, 1e200}, x).outcome, Outcome::converged);
    EXPECT_LE(componentwise_error(second.view(), x, Vector{1, 1e200}), 1e-12);
}

TEST(Lu, AToleranceOutOfReachIsAFailureAndRepivotsOnlyOnce)
{
    Cpu    be(1);
    Series series(gallery::mna_random({.n = 60, .decades = 4}), 5);
    Lu     lu(be, analyse(series.view()));
    (void)lu.refactor_or_factor(series.view().val);
    series.drift(0.1);
    ASSERT_EQ(lu.refactor_or_factor(series.view().val).action, LuAction::refactor);
    const Vector b = test::random_vector(series.n, 3);
    Vector       x(series.n);
    for (int again = 0; again < 3; ++again) {
        const auto report = lu.solve(b, x, Transpose::no, 0);
        if (report.outcome == Outcome::converged) {
            EXPECT_EQ(report.refine.backward_error, 0);
            EXPECT_LE(componentwise_error(series.view(), x, b), test::eps);
            return;
        }
        EXPECT_EQ(report.outcome, Outcome::stagnated);
        EXPECT_EQ(report.repivoted, again == 0);
        EXPECT_TRUE(says(report.reason, "backward error")) << report.reason;
        EXPECT_EQ(lu.status().repivots, 1);
    }
    EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
}

/// Mostly ordinary, otherwise zero, tiny, huge, or no number.
double wild(test::Random& random)
{
    const double x = random.uniform();
    switch (random.below(40)) {
        case 0:
            return nan;
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
            return 0;
        case 6:
            return x * 1e-17;
        case 7:
            return x * 1e12;
        case 8:
            return x * 1e-310;
        case 9:
            return x * 1e308;
        default:
            return std::round(4 * x);
    }
}

TEST(Lu, NeverCallsAWrongAnswerASuccessHoweverWildTheValues)
{
    int                successes = 0, repivots = 0, failures = 0;
    const MatrixLayout layouts[] = {MatrixLayout::rows, MatrixLayout::columns};
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::Random random(seed);
        const Index  n = 1 + random.below(7);
        Cpu          be(1);
        Small        A(std::vector(n, Vector(n, 1.0)), layouts[seed % 2]);
        Lu           lu(be, analyse(A.view(), seed % 3 == 0 ? as_given : LuOptions{}));
        Vector       x(n), b(n);
        for (int k = 0; k < 10; ++k) {
            const bool calm = random.below(2) == 0;
            for (double& a : A.val) a = calm ? random.uniform() : wild(random);
            for (double& one : b) one = calm ? random.uniform() : wild(random);
            const Transpose transpose = random.below(2) == 0 ? Transpose::no : Transpose::yes;
            const LuReport  report = lu.refactor_or_factor(A.view().val);
            const auto      solved = lu.solve(b, x, transpose);
            EXPECT_TRUE(report.outcome == Outcome::converged || !report.reason.empty());
            EXPECT_TRUE(solved.outcome == Outcome::converged || !solved.reason.empty());
            EXPECT_TRUE(report.outcome == Outcome::converged || solved.outcome == report.outcome);
            repivots += report.action == LuAction::repivot || solved.repivoted;
            (solved.outcome == Outcome::converged ? successes : failures) += 1;
            if (solved.outcome != Outcome::converged) continue;
            EXPECT_LE(componentwise_error(A.view(), x, b, transpose == Transpose::yes), 1.001e-12) << "seed " << seed;
        }
    }
    EXPECT_GT(successes, 1000);
    EXPECT_GT(repivots, 50);
    EXPECT_GT(failures, 300);
}

TEST(Lu, SolvesRandomCircuitsWhoseValuesDrift)
{
    for (const Index n : {1, 31, 32, 33, 300})
        for (const double spread : {0.1, 1.0, 5.0}) {
            Cpu    be(2);
            Series series(gallery::mna_random({.n = n, .decades = 6, .seed = n}), n);
            Lu     lu(be, analyse(series.view()));
            Vector x(series.n);
            for (int k = 0; k < 12; ++k, series.drift(spread)) {
                const Vector   b = test::random_vector(series.n, k);
                const LuReport report = lu.refactor_or_factor(series.view().val);
                ASSERT_EQ(report.outcome, Outcome::converged) << report.reason;
                EXPECT_EQ(report.action == LuAction::factor, k == 0);
                for (const auto transpose : {Transpose::no, Transpose::yes}) {
                    const auto solved = lu.solve(b, x, transpose);
                    EXPECT_EQ(solved.outcome, Outcome::converged) << solved.reason;
                    EXPECT_LE(componentwise_error(series.view(), x, b, transpose == Transpose::yes), 1e-12)
                        << "n = " << n << ", spread " << spread << ", system " << k;
                }
            }
        }
}

TEST(Lu, SolvesASwitchingCircuitWhoseElementsChangeByManyDecades)
{
    Cpu    be(1);
    Series series(gallery::mna_random({.n = 200, .decades = 3}), 9);
    Lu     lu(be, analyse(series.view()));
    Vector x(series.n);
    for (int k = 0; k < 20; ++k, series.toggle(1e-9)) {
        const Vector b = test::random_vector(series.n, k);
        ASSERT_EQ(lu.refactor_or_factor(series.view().val).outcome, Outcome::converged);
        EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        EXPECT_LE(componentwise_error(series.view(), x, b), 1e-12) << "system " << k;
    }
}

TEST(Lu, RefactorsToTheSameBitsOnAnyNumberOfThreads)
{
    Series     series(gallery::power_grid({.n = 40}), 4);
    const auto symbolic = analyse(series.view());
    Cpu        one(1);
    Lu         trusted(one, symbolic);
    (void)trusted.factor(series.view().val);
    std::vector<Lu<>> others;
    for (const int threads : {2, 3, 8}) {
        Cpu be(threads);
        (void)others.emplace_back(be, symbolic).factor(series.view().val);
    }
    for (int k = 0; k < 3; ++k) {
        series.drift(0.2);
        ASSERT_EQ(trusted.refactor(series.view().val).outcome, Outcome::converged);
        for (Lu<>& lu : others) {
            ASSERT_EQ(lu.refactor(series.view().val).outcome, Outcome::converged);
            EXPECT_TRUE(test::identical(lu.factors().val, trusted.factors().val));
            EXPECT_TRUE(test::identical(lu.factors().f_val, trusted.factors().f_val));
        }
    }
}

TEST(Lu, AllocatesNothingAfterTheFirstSystem)
{
    for (const int threads : {1, 2}) {
        Cpu be(threads);
        (void)be.team(true);  // whose first call on a thread tries what the system grants
        Series series(gallery::mna_random({.n = 500, .decades = 4}), 2);
        Lu     lu(be, analyse(series.view()));
        Vector x(2 * series.n);
        Vector b = test::random_vector(2 * series.n, 1);
        ASSERT_EQ(lu.refactor_or_factor(series.view().val).outcome, Outcome::converged);
        (void)lu.solve(b, x);
        for (int k = 0; k < 10; ++k) {
            series.drift(0.1);
            test::AllocationCounter counter;
            const LuReport          report = lu.refactor_or_factor(series.view().val);
            const LuSolveReport     solved = lu.solve(b, x);
            EXPECT_EQ(counter.count(), 0);
            EXPECT_EQ(report.action, LuAction::refactor);
            EXPECT_EQ(solved.outcome, Outcome::converged);
        }
    }
}

void expect_memory(const LuReport& report)
{
    if (report.outcome == Outcome::out_of_memory) throw OutOfMemory(report.reason);
    ASSERT_EQ(report.outcome, Outcome::converged);
}

TEST(Lu, SaysOfEveryAllocationThatFailsThatMemoryIsOut)
{
    Cpu         be(1);
    const Small first({{1, 1}, {1, 2}}, MatrixLayout::rows), second({{1e-16, 1}, {1, 2}}, MatrixLayout::rows);
    const auto  symbolic = analyse(first.view(), as_given);
    Vector      x(2);
    EXPECT_GT(test::fail_each_allocation([&] {
                  Lu lu(be, symbolic);
                  expect_memory(lu.factor(first.view().val));
                  expect_memory(lu.refactor_or_factor(first.view().val));
                  expect_memory(lu.refactor_or_factor(second.view().val));
                  ASSERT_EQ(lu.solve(Vector{3, 5}, x).outcome, Outcome::converged);
              }),
              5);

    // What failed for lack of memory works once there is some.
    Lu lu(be, symbolic);
    expect_memory(lu.factor(first.view().val));
    for (long k = 1, failed = 1; failed != 0; ++k) {
        expect_memory(lu.refactor_or_factor(first.view().val));
        {
            test::AllocationCounter counter(k);
            LuReport                report;
            try {
                report = lu.refactor_or_factor(second.view().val);
            } catch (const std::bad_alloc&) {
                report.outcome = Outcome::out_of_memory;
            }
            failed = counter.failed();
            EXPECT_EQ(report.outcome, failed != 0 ? Outcome::out_of_memory : Outcome::converged);
        }
        EXPECT_EQ(lu.solve(Vector{3, 5}, x).outcome, failed != 0 ? Outcome::out_of_memory : Outcome::converged);
        ASSERT_LT(k, 10'000);
    }
    EXPECT_NEAR(x[0], -1, 1e-14);
}

TEST(Lu, AMemoryLimitIsAnOutcome)
{
    Cpu       be(1);
    Series    series(gallery::mna_random({.n = 100}), 1);
    LuOptions options;
    options.memory_limit = {1};
    Lu             lu(be, analyse(series.view(), options));
    const LuReport report = lu.refactor_or_factor(series.view().val);
    EXPECT_EQ(report.outcome, Outcome::out_of_memory);
    EXPECT_TRUE(says(report.reason, "memory_limit")) << report.reason;
}

TEST(Lu, SolvesSeveralRightHandSidesAsItSolvesOne)
{
    for (const Index count : {1, 2, 7, 8, 9, 17}) {
        Cpu    be(1);
        Series series(gallery::mna_random({.n = 120, .decades = 4}), 6);
        Lu     lu(be, analyse(series.view()));
        (void)lu.factor(series.view().val);
        const std::size_t n = series.n;
        const Vector      b = test::random_vector(static_cast<Index>(n) * count, 5);
        for (const auto transpose : {Transpose::no, Transpose::yes}) {
            Vector together(b.size()), alone(n);
            EXPECT_EQ(lu.solve(b, together, transpose).outcome, Outcome::converged);
            LuWorkspace<> ws(series.n);
            for (Index c = 0; c < count; ++c) {
                const auto b_c = std::span(b).subspan(c * n, n);
                EXPECT_EQ(std::as_const(lu).solve(be, b_c, alone, ws, transpose).outcome, Outcome::converged);
                EXPECT_TRUE(test::identical(std::span(together).subspan(c * n, n), alone));
            }
        }
    }
}

TEST(Lu, ServesSeveralThreadsAtOnce)
{
    Cpu    be(1);
    Series series(gallery::mna_random({.n = 400, .decades = 4}), 8);
    Lu     lu(be, analyse(series.view()));
    (void)lu.factor(series.view().val);
    std::vector<Vector> answers(4, Vector(series.n));
    const auto          work = [&](int t) {
        Cpu           own(1);
        LuWorkspace<> ws(series.n);
        for (int k = 0; k < 20; ++k) {
            const Vector b = test::random_vector(series.n, k);
            static_cast<void>(std::as_const(lu).solve(own, b, answers[t], ws));
        }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
    for (auto& thread : threads) thread.join();
    const Vector b = test::random_vector(series.n, 19);
    Vector       x(series.n);
    EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
    for (const Vector& answer : answers) EXPECT_TRUE(test::identical(answer, x));
}

TEST(Lu, RefusesCallsThatMakeNoSense)
{
    Cpu         be(1);
    const Small A({{4, 1}, {1, 5}}, MatrixLayout::rows);
    Lu          lu(be, analyse(A.view()));
    Vector      x(2), three(3), four(4);
    test::expect_refusal([&] { (void)lu.solve(four, four); }, {"nothing was factored"});
    test::expect_refusal([&] { (void)lu.refactor(A.view().val); }, {"call factor first"});
    test::expect_refusal([&] { static_cast<void>(lu.factors()); }, {"nothing was factored"});
    (void)lu.factor(A.view().val);
    test::expect_refusal([&] { (void)lu.solve(three, x); }, {"b has 3", "x 2", "n = 2"});
    test::expect_refusal([&] { (void)lu.solve(three, three); }, {"b has 3"});
    test::expect_refusal([&] { (void)lu.solve(std::span(four).first(2), std::span(four).first(2)); }, {"overlap"});
    test::expect_refusal([&] { (void)lu.solve(std::span(four).first(2), std::span(four).subspan(1, 2)); }, {"overlap"});
    EXPECT_EQ(lu.solve(std::span(four).first(2), std::span(four).last(2)).outcome, Outcome::converged);
}

TEST(Lu, NoUnknownsAreSolvedAtOnce)
{
    Cpu                       be(1);
    const std::vector<Offset> ptr{0};
    Lu                        lu(be, analyse({.n = 0, .ptr = ptr, .idx = {}, .val = {}}));
    EXPECT_EQ(lu.refactor_or_factor(Vector{}).outcome, Outcome::converged);
    EXPECT_EQ(lu.refactor_or_factor(Vector{}).action, LuAction::refactor);
    Vector none;
    EXPECT_EQ(lu.solve(none, none).outcome, Outcome::converged);
}

TEST(Lu, CountsItsBytes)
{
    Cpu    be(1);
    Series series(gallery::mna_random({.n = 100}), 1);
    Lu     lu(be, analyse(series.view()));
    (void)lu.factor(series.view().val);
    EXPECT_GE(lu.status().bytes,
              lu.factors().val.size() * (sizeof(double) + sizeof(Index)) + series.val.size() * sizeof(double));
}

class RealSequence : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Lu, RealSequence,
                         testing::Values("small_arom", "small_ring", "small_cram", "add20", "add32", "mmc", "dac",
                                         "c432"));

TEST_P(RealSequence, IsSolvedToABackwardErrorOf1em12InEverySystem)
{
    if (const auto why = test::why_no_sequences(); !why.empty()) GTEST_SKIP()
    << why;
    const test::RealSeries series(GetParam());
    Cpu                    be(2);
    Lu                     lu(be, analyse(series.view(0)));
    Vector                 x(series.n);
    for (Index k = 0; k < series.systems; ++k) {
        const LuReport report = lu.refactor_or_factor(series.view(k).val);
        ASSERT_EQ(report.outcome, Outcome::converged) << report.reason;
        const auto solved = lu.solve(series.rhs(k), x);
        EXPECT_EQ(solved.outcome, Outcome::converged) << solved.reason;
        EXPECT_LE(componentwise_error(series.view(k), x, series.rhs(k)), 1e-12) << "system " << k;
    }
}

}  // namespace
}  // namespace ilux
