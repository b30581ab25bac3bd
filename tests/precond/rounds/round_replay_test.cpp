// The rounds of one matrix, used for another of its pattern.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/precond/rounds/round_replay.hpp"
#include "ilux/tests/precond/mlilu/mlilu_checks.hpp"
#include "ilux/tests/precond/rounds/round_checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::identical;

MlIlu<> rebuilt(const CsrMatrix<>& A, const MlIlu<>& former, const MlIluOptions& options = in_rounds, int threads = 1)
{
    Cpu be(threads);
    return MlIlu<>::rebuild(be, A, options, former.rounds_plan().value());
}

/// Bit by bit, all that a solve uses.
void expect_same_factors(const MlIlu<>& a, const MlIlu<>& b)
{
    const auto &x = a.factors().levels, &y = b.factors().levels;
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        EXPECT_EQ(x[k].p, y[k].p);
        EXPECT_EQ(x[k].q, y[k].q);
        EXPECT_EQ(x[k].row_scale, y[k].row_scale);
        EXPECT_EQ(x[k].col_scale, y[k].col_scale);
        EXPECT_EQ(x[k].d_inv, y[k].d_inv);
        EXPECT_EQ(x[k].round_ends, y[k].round_ends);
        EXPECT_TRUE(identical(x[k].L_B, y[k].L_B));
        EXPECT_TRUE(identical(x[k].U_B, y[k].U_B));
        EXPECT_TRUE(identical(x[k].lower, y[k].lower));
        EXPECT_TRUE(identical(x[k].upper, y[k].upper));
    }
    MlIluPreconditioner M(a), N(b);
    const Vector        r = test::random_vector(M.size(), 9);
    EXPECT_TRUE(identical(applied(M, r), applied(N, r)));
    EXPECT_EQ(a.report().stored, b.report().stored);
    EXPECT_EQ(a.report().bytes, b.report().bytes);
}

/// Couplings times random factors from [1 − by, 1 + by], symmetric where A is; each diagonal entry changes as its row's
/// couplings do.
CsrMatrix<> changed(const CsrMatrix<>& A, double by)
{
    CsrMatrix<>  B = A;
    const Vector random = test::random_vector(A.rows(), 5);
    for (Index i = 0; i < A.rows(); ++i) {
        double more = 0;
        Offset diagonal = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (const Index j = A.col()[p]; j == i) diagonal = p;
            else {
                B.val()[p] *= 1 + by * random[i] * random[j];
                more += A.val()[p] - B.val()[p];
            }
        B.val()[diagonal] += more;
    }
    return B;
}

// ---- what it keeps ----

TEST(RoundReplay, OfTheSameNumbersGivesTheSameBits)
{
    MlIluOptions spd = in_rounds;
    spd.definite = true;
    MlIluOptions plain = in_rounds;
    plain.compensation = Compensation::off;
    const auto check = [](const CsrMatrix<>& A, const MlIluOptions& options) {
        const auto first = build(A, options);
        ASSERT_GT(rounds_of(first.report()), 1);
        const auto again = rebuilt(A, first, options, 2);
        EXPECT_TRUE(again.report().replayed);
        EXPECT_EQ(again.report().structural_rank, A.rows());
        expect_same_factors(first, again);
        expect_same_factors(first, rebuilt(A, again, options));  // a plan of a replay is as good
    };
    check(gallery::convdiff3d({.n = 14}), in_rounds);
    check(gallery::recirculating2d({.n = 50}), in_rounds);
    check(gallery::poisson2d(60, 60), spd);
    check(gallery::convdiff2d({.n = 40}), plain);
    check(gallery::stokes2d({.n = 12}), in_rounds);  // matched, and Crout's sweep at the end
}

TEST(RoundReplay, OfOtherNumbersTakesHardlyMoreSteps)
{
    const auto check = [](const CsrMatrix<>& A, const CsrMatrix<>& B, const MlIluOptions& options = in_rounds) {
        const auto M = rebuilt(B, build(A, options), options);
        EXPECT_TRUE(M.report().replayed) << testing::PrintToString(M.report().decisions);
        const Index fresh = steps_with(build(B, options), B), again = steps_with(M, B);
        EXPECT_LE(again, fresh + 2 + fresh / 5);
    };
    check(gallery::convdiff2d({.n = 60, .peclet = 10}), gallery::convdiff2d({.n = 60, .peclet = 100}));
    check(gallery::convdiff3d({.n = 16, .peclet = 1}), gallery::convdiff3d({.n = 16, .peclet = 20}));
    check(gallery::poisson2d(70, 70), changed(gallery::poisson2d(70, 70), 0.3));
    auto large = gallery::convdiff2d({.n = 40});  // other magnitudes
    for (double& value : large.val()) value *= 1e6;
    check(gallery::convdiff2d({.n = 40}), large);
}

TEST(RoundReplay, DoesNotKnowTheRankWhereADiagonalEntryIsZeroNow)
{
    const auto        A = gallery::convdiff2d({.n = 40});
    const auto        former = build(A, in_rounds);
    std::vector<char> is_pivot(A.rows(), 0);
    const auto        plan = former.rounds_plan().value();
    for (Index k : plan.levels[0].pivots) is_pivot[k] = 1;
    auto B = A;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i && !is_pivot[i]) {
                B.val()[p] = 0;
                const auto report = rebuilt(B, former).report();
                EXPECT_TRUE(report.replayed) << testing::PrintToString(report.decisions);
                EXPECT_FALSE(report.structural_rank.has_value());
                return;
            }
    FAIL() << "every row is a pivot of the first level";
}

TEST(RoundReplay, IsJudgedByWhatWasCutWhenTheRoundsWereChosen)
{
    const auto A = gallery::convdiff2d({.n = 60, .peclet = 10}), B = gallery::convdiff2d({.n = 60, .peclet = 1000});
    const auto former = build(A, in_rounds), second = rebuilt(B, former);
    ASSERT_TRUE(second.report().replayed);
    EXPECT_NE(second.report().levels[0].cut, former.report().levels[0].cut);
    EXPECT_EQ(second.rounds_plan().value().levels[0].cut, former.report().levels[0].cut);
}

TEST(RoundReplay, DropsNothingWhereNothingIsToBeDropped)
{
    MlIluOptions exact = in_rounds;
    exact.schur_drop_tol = 0;
    exact.compensation = Compensation::off;
    const auto          A = gallery::convdiff2d({.n = 12}), B = changed(A, 0.5);
    MlIluPreconditioner M(rebuilt(B, build(A, exact), exact));
    const Vector        x = test::random_vector(B.rows(), 3);
    const Vector        z = applied(M, test::multiply(to_dense(B), x));
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(z[i], x[i], 1e-11);
}

TEST(RoundReplay, LeavesSymmetryWhereItIsGone)
{
    const auto A = gallery::poisson2d(40, 40);
    auto       B = A;
    B.val()[1] *= 0.5;
    const auto M = rebuilt(B, build(A));
    EXPECT_TRUE(M.report().replayed);
    EXPECT_LE(steps_with(M, B), steps_with(build(B), B) + 2);
    MlIluOptions spd = in_rounds;
    spd.definite = true;
    EXPECT_THROW((void)rebuilt(B, build(A, spd), spd), InvalidInput);
}

// ---- what it refuses ----

/// Made anew, told so with these words, and the same as without any plan.
void expect_anew(const CsrMatrix<>& B, const MlIlu<>& former, const std::string& words,
                 const MlIluOptions& options = in_rounds)
{
    const auto M = rebuilt(B, former, options);
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(any_mentions(M.report(), words)) << testing::PrintToString(M.report().decisions);
    expect_same_factors(M, build(B, options));
}

TEST(RoundReplay, RefusesWhatSpoilsAPivot)
{
    const auto A = gallery::convdiff2d({.n = 30});
    const auto former = build(A, in_rounds);
    const auto pivot = former.rounds_plan()->levels[0].pivots[0];
    auto       zero = A;
    auto       small = A;
    for (Offset p = A.row_ptr()[pivot]; p < A.row_ptr()[pivot + 1]; ++p)
        if (A.col()[p] == pivot) zero.val()[p] = 0, small.val()[p] *= 1e-3;
    expect_anew(zero, former, "do not serve again: on level 1 in round 1 a pivot is 0");
    expect_anew(small, former, "do not serve again: on level 1 in round 1 an update reaches");
}

TEST(RoundReplay, RefusesEstimatesThatGrow)
{
    MlIluOptions options = in_rounds;
    options.compensation = Compensation::off;
    options.scaling = false;
    options.growth_bound = 0;
    options.matching = MatchingChoice::off;
    options.inverse_bound = 1.5;
    options.schur_drop_tol = 0;
    expect_anew(chain(40, 3), build(chain(40, 0.1), options), "the estimate of an inverse factor reaches", options);
}

TEST(RoundReplay, RefusesWhatCutsTooMuch)
{
    // weak couplings along y, which were cut, become ten times as strong
    const auto M = rebuilt(strips(1, 0.1), build(strips(1, 0.01), in_rounds));
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(any_mentions(M.report(), "of a pivot's diagonal is cut in the mean"))
        << testing::PrintToString(M.report().decisions);
}

TEST(RoundReplay, IsMadeAnewWhereSomethingElseWouldBeChosen)
{
    const auto mesh = gallery::poisson2d(40, 40);
    auto       weak = mesh;  // of the diagonal
    for (Index i = 0; i < mesh.rows(); ++i)
        for (Offset p = mesh.row_ptr()[i]; p < mesh.row_ptr()[i + 1]; ++p)
            if (mesh.col()[p] == i) weak.val()[p] *= 0.7;
    const auto compensated = build(mesh, in_rounds), chosen = build(mesh);
    expect_anew(weak, compensated, "do not serve again: compensation is off now");
    expect_anew(weak, chosen, "do not serve again: rounds are not chosen any more", {});
    expect_anew(mesh, build(weak, in_rounds), "do not serve again: compensation is on now");
}

TEST(RoundReplay, ScalesAnewButForAMatching)
{
    const auto magnified = [](CsrMatrix<> A, double by) {
        for (double& value : A.val()) value *= by;
        return A;
    };
    const auto mesh = gallery::convdiff2d({.n = 20}), saddle = gallery::stokes2d({.n = 8});
    EXPECT_TRUE(rebuilt(magnified(mesh, 1e250), build(magnified(mesh, 1e-250), in_rounds)).report().replayed);
    const auto large = magnified(saddle, 1e250);
    const auto M = rebuilt(large, build(magnified(saddle, 1e-250), in_rounds));
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(any_mentions(M.report(), "do not serve again: scaled by its row and column factors"))
        << testing::PrintToString(M.report().decisions);
    expect_same_factors(M, build(large, in_rounds));
}

TEST(RoundReplay, RefusesCoefficientsThatJumpNow)
{
    const auto tiles = [](double decades) { return gallery::jump2d({.n = 60, .blocks = 30, .decades = decades}); };
    const auto former = build(tiles(0));
    ASSERT_GT(rounds_of(former.report()), 0);
    expect_anew(tiles(8), former, "do not serve again: rounds are not chosen any more", {});
}

TEST(RoundReplay, FindsNanAmongItsPivots)
{
    auto A = gallery::poisson2d(6, 6);
    for (Offset p = A.row_ptr()[0]; p < A.row_ptr()[1]; ++p)
        if (A.col()[p] == 0) A.val()[p] = std::nan("");
    const OwnedSystem        owned(std::move(A));
    const std::vector<Index> pivots{0, 2, 4};
    Cpu                      be(1);
    EXPECT_NE(replay_round<double>(be, owned.system(), pivots, {}).why_not, "");
    EXPECT_EQ(replay_round<double>(be, owned.system(), {&pivots[1], 2}, {}).why_not, "");
}

TEST(RoundReplay, EndsAsABuildDoesWhereNumbersAreNotFinite)
{
    const auto A = gallery::convdiff2d({.n = 20});
    const auto former = build(A, in_rounds);
    for (double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        auto B = A;
        B.val()[B.nnz() / 2] = value;
        test::expect_refusal([&] { (void)rebuilt(B, former); }, {"row 201, column 181"});
        test::expect_refusal([&] { (void)build(B, in_rounds); }, {"row 201, column 181"});
    }
}

TEST(RoundReplay, WantsRoundsAndTheSameOrder)
{
    const auto         A = gallery::convdiff2d({.n = 20});
    const MlIluOptions crout{.setup = MlIluSetup::crout};
    EXPECT_FALSE(build(A, crout).rounds_plan().has_value());
    const auto swept = rebuilt(A, build(A, in_rounds), crout);
    EXPECT_FALSE(swept.report().replayed);
    expect_same_factors(swept, build(A, crout));
    Cpu        be(1);
    const auto plan = build(A, in_rounds).rounds_plan().value();
    EXPECT_THROW((void)MlIlu<>::rebuild(be, gallery::convdiff2d({.n = 21}), in_rounds, plan), InvalidInput);
    EXPECT_THROW((void)MlIlu<>::rebuild(be, A, in_rounds, RoundsPlan{.n = A.rows()}), InvalidInput);
}

TEST(RoundReplay, KeepsToTheMemoryLimit)
{
    const auto   A = gallery::convdiff3d({.n = 12});
    const auto   former = build(A, in_rounds);
    MlIluOptions tight = in_rounds;
    tight.memory_limit.value = former.report().bytes / 2;
    const auto M = rebuilt(A, former, tight);
    EXPECT_FALSE(M.report().replayed);
    EXPECT_TRUE(any_mentions(M.report(), "the memory limit leaves no room"));
    EXPECT_LE(M.report().bytes, tight.memory_limit.value);
    EXPECT_FALSE(M.rounds_plan().has_value());  // they would end so again
}

TEST(RoundReplay, IsStoppedWhereverTheTokenIsAsked)
{
    const auto       A = gallery::convdiff2d({.n = 30});
    Cpu              be(1);
    const auto       plan = build(A, in_rounds).rounds_plan().value();
    std::atomic<int> asked;
    (void)MlIlu<>::rebuild(be, A, in_rounds, plan, {}, test::stop_at(0, asked));
    const int all = asked;
    EXPECT_GT(all, 4);
    for (int last = 1; last <= all; ++last)
        EXPECT_THROW((void)MlIlu<>::rebuild(be, A, in_rounds, plan, {}, test::stop_at(last, asked)), Cancelled) << last;
}

TEST(RoundReplay, SaysSoWhenAnyAllocationFails)
{
    const auto   A = gallery::poisson2d(9, 8);
    MlIluOptions options = in_rounds;
    options.dense_order = 4;
    Cpu        be(1);
    const auto former = build(A, options);
    EXPECT_GT(test::fail_each_allocation([&] { (void)MlIlu<>::rebuild(be, A, options, former.rounds_plan().value()); }),
              20);
}

}  // namespace
}  // namespace ilux
