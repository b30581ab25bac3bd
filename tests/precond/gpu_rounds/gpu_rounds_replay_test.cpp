// Rounds on a GPU by the pivots of an earlier matrix, as round_replay_test.cpp has it for the host.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_fixture.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::identical;

class GpuRoundsReplay : public GpuRoundsTest {
protected:
    void expect_survives(const GpuRounds<>& former, const CsrMatrix<>& A)
    {
        EXPECT_GT(refusals_survived([&] { (void)rebuilt(A, former, with_small_end()); }), 10);
    }
};

TEST_F(GpuRoundsReplay, OfTheSameNumbersGivesTheSameBits)
{
    for (const auto& [name, A] : matrices())
        for (const auto compensation : {Compensation::automatic, Compensation::off}) {
            MlIluOptions options = with_small_end();
            options.compensation = compensation;
            const Vector r = test::random_vector(A.rows(), 4);
            const auto   first = build(A, options), again = rebuilt(A, first, options);
            ASSERT_TRUE(again.made()) << name << ": " << again.why_not();
            EXPECT_TRUE(again.report().replayed) << name << ": " << testing::PrintToString(again.report().decisions);
            EXPECT_TRUE(test::mentions(again.report().decisions, "serve again")) << name;
            EXPECT_EQ(again.report().stored, first.report().stored) << name;
            EXPECT_TRUE(identical(applied(again, r), applied(first, r))) << name;
            EXPECT_TRUE(identical(applied(rebuilt(A, again, options), r), applied(first, r))) << name;
        }
}

TEST_F(GpuRoundsReplay, OfOtherNumbersTakesHardlyMoreSteps)
{
    const auto check = [this](const CsrMatrix<>& A, const CsrMatrix<>& B) {
        const Vector b = test::random_vector(A.rows(), 6);
        const auto   M = rebuilt(B, build(A, with_small_end()), with_small_end());
        EXPECT_TRUE(M.report().replayed) << testing::PrintToString(M.report().decisions);
        const Index fresh = steps(B, build(B, with_small_end()), b);
        EXPECT_LE(steps(B, M, b), fresh + 2 + fresh / 5);
    };
    check(gallery::convdiff2d({.n = 60, .peclet = 10}), gallery::convdiff2d({.n = 60, .peclet = 100}));
    check(gallery::convdiff3d({.n = 16, .peclet = 1}), gallery::convdiff3d({.n = 16, .peclet = 20}));
    auto large = gallery::convdiff2d({.n = 40});
    for (double& value : large.val()) value *= 1e6;
    check(gallery::convdiff2d({.n = 40}), large);
}

/// Both replay rounds that are alike, and cut alike: more than when they were chosen.
TEST_F(GpuRoundsReplay, CutsAsTheHostDoes)
{
    const auto A = gallery::convdiff3d({.n = 14, .peclet = 1}), B = gallery::convdiff3d({.n = 14, .peclet = 20});
    const auto former = MlIlu<>::build(cpu, A, with_small_end());
    const auto host = MlIlu<>::rebuild(cpu, B, with_small_end(), former.rounds_plan().value());
    const auto rounds = rebuilt(B, build(A, with_small_end()), with_small_end());
    ASSERT_TRUE(rounds.report().replayed && host.report().replayed);
    const auto& of_host = host.report().levels;
    const auto& of_gpu = rounds.report().levels;
    ASSERT_EQ(of_gpu.size(), of_host.size());
    EXPECT_GT(of_host.front().cut, 1e-3);
    for (std::size_t level = 0; level < of_host.size(); ++level)
        EXPECT_NEAR(of_gpu[level].cut, of_host[level].cut, 1e-6 + 0.02 * of_host[level].cut) << level;
}

/// Nothing else shows it: pivots, growth and estimates stay small.
TEST_F(GpuRoundsReplay, RefusesWhatCutsTooMuch)
{
    const auto M = rebuilt(strips(1, 0.1), build(strips(1, 0.01), with_small_end()), with_small_end());
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(test::mentions(M.report().decisions, "is cut in the mean"))
        << testing::PrintToString(M.report().decisions);
    EXPECT_GT(M.report().seconds_factor, M.report().seconds_rounds.sets + M.report().seconds_rounds.eliminate);
}

TEST_F(GpuRoundsReplay, InSinglePrecisionAndOfADefiniteMatrix)
{
    const auto   A = gallery::poisson2d(50, 41);
    const Vector r = test::random_vector(A.rows(), 4);
    MlIluOptions definite = with_small_end();
    definite.definite = true;
    for (const auto& options : {with_small_end(), definite}) {
        const auto first = build(A, options, true), again = rebuilt(A, first, options, true);
        EXPECT_TRUE(again.report().replayed && again.in_single());
        EXPECT_TRUE(identical(applied(again, r), applied(first, r)));
    }
    auto negative = A;
    negative.val()[negative.row_ptr()[0]] = -3;
    EXPECT_THROW(rebuilt(negative, build(A, definite), definite), InvalidInput);
}

TEST_F(GpuRoundsReplay, RefusesWhatSpoilsAPivotOrAnEstimate)
{
    const auto A = gallery::convdiff2d({.n = 40});
    auto       B = A;
    for (Index i = 0; i < A.rows(); i += 7)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) B.val()[p] *= 1e-3;
    MlIluOptions options = with_small_end();
    options.matching = MatchingChoice::off;
    options.compensation = Compensation::on;
    const auto M = rebuilt(B, build(A, options), options);
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(
        test::mentions(M.report().decisions, "rounds of an earlier matrix do not serve again: on level 1 in round 1"))
        << testing::PrintToString(M.report().decisions);
    EXPECT_EQ(M.report().stored, build(B, options).report().stored);
}

/// What a report says of rounds that do not serve again, up to the figures.
std::string refusal(const MlIluReport& report)
{
    for (const auto& decision : report.decisions)
        if (const auto at = decision.find("do not serve again"); at != std::string::npos)
            return decision.substr(at, decision.find_first_of("0123456789", decision.find("in round") + 10) - at);
    return "";
}

TEST_F(GpuRoundsReplay, RefusesInTheRoundInWhichTheHostDoes)
{
    const auto expect_alike = [this](const CsrMatrix<>& A, const CsrMatrix<>& B, const MlIluOptions& options,
                                     const std::string& why) {
        const auto plan = MlIlu<>::build(cpu, A, options).rounds_plan().value();
        const auto host = MlIlu<>::rebuild(cpu, B, options, plan).report();
        const auto M = rebuilt(B, build(A, options), options);
        EXPECT_FALSE(M.report().replayed || host.replayed);
        EXPECT_EQ(refusal(M.report()), refusal(host));
        EXPECT_NE(refusal(M.report()).find(why), std::string::npos) << refusal(M.report());
    };
    MlIluOptions options = with_small_end();
    options.matching = MatchingChoice::off;
    options.compensation = Compensation::off;
    options.scaling = false;
    options.growth_bound = 0;
    const auto A = gallery::convdiff2d({.n = 40});
    const auto level = MlIlu<>::build(cpu, A, options).rounds_plan()->levels.at(0);
    auto       B = A;
    const auto late = level.pivots[level.ends.at(3)];
    for (Offset p = B.row_ptr()[late]; p < B.row_ptr()[late + 1]; ++p)
        if (B.col()[p] == late) B.val()[p] *= 0.1;
    expect_alike(A, B, options, "in round 6 the estimate");

    options.inverse_bound = 1.5;
    options.schur_drop_tol = 0;
    expect_alike(chain(200, 0.1), chain(200, 3), options, "the estimate of an inverse factor reaches");
}

TEST_F(GpuRoundsReplay, KeepsToTheMemoryLimit)
{
    const auto   A = gallery::convdiff3d({.n = 16});
    const auto   former = build(A, with_small_end());
    MlIluOptions tight = with_small_end();
    tight.memory_limit = {static_cast<std::uint64_t>(A.bytes() + 400'000)};
    const auto M = rebuilt(A, former, tight);
    EXPECT_FALSE(M.made());
    EXPECT_NE(M.why_not().find("memory limit"), std::string::npos) << M.why_not();
}

TEST_F(GpuRoundsReplay, IsMadeAnewWhereSomethingElseWouldBeChosen)
{
    const auto A = gallery::poisson2d(40, 40);
    auto       B = A;
    for (double& value : B.val()) value = std::abs(value);  // no row is dominant in the constant any more
    for (Index i = 0; i < B.rows(); ++i)
        for (Offset p = B.row_ptr()[i]; p < B.row_ptr()[i + 1]; ++p)
            if (B.col()[p] == i) B.val()[p] = 3;
    const auto former = build(A, with_small_end());
    const auto M = rebuilt(B, former, with_small_end());
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(test::mentions(M.report().decisions, "do not serve again: compensation is off now"))
        << testing::PrintToString(M.report().decisions);
}

TEST_F(GpuRoundsReplay, HasNoMForNumbersThatAreNotFinite)
{
    const auto A = gallery::convdiff3d({.n = 12});
    const auto former = build(A, with_small_end());
    for (double bad : {std::nan(""), HUGE_VAL}) {
        auto B = A;
        B.val()[B.row_ptr()[700]] = bad;
        EXPECT_FALSE(rebuilt(B, former, with_small_end()).made());
    }
    EXPECT_THROW(rebuilt(gallery::convdiff3d({.n = 11}), former, with_small_end()), InvalidInput);
    EXPECT_THROW(GpuRounds<>::rebuild(cpu, gpu(), DeviceCsr<>(gpu(), A), with_small_end(), false, GpuRoundsPlan{}),
                 InvalidInput);
}

/// Rounds that serve again, and some that are refused, so that M is made anew.
TEST_F(GpuRoundsReplay, EndsCleanlyWithoutMemory)
{
    const auto A = gallery::convdiff3d({.n = 12});
    expect_survives(build(A, with_small_end()), A);
    expect_survives(build(strips(1, 0.01), with_small_end()), strips(1, 0.1));
}

}  // namespace
}  // namespace ilux
