#include "ilux/precond/mlilu/preprocess.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::identical;

std::vector<Named> all_matrices(Index n)
{
    auto all = regular_matrices(n, n + 3);
    for (const auto& singular : singular_matrices(n, n + 3)) all.push_back(singular);
    return all;
}

Preprocessed<> preprocess(const CsrMatrix<>& A, const MlIluOptions& options)
{
    Preprocessed<> pre = equilibrate_and_match(Cpu(2), CsrMatrix<>(A), options);
    put_in_order(pre, options.ordering);
    return pre;
}

std::vector<MlIluOptions> all_options()
{
    std::vector<MlIluOptions> all;
    for (MatchingChoice matching :
         {MatchingChoice::automatic, MatchingChoice::on, MatchingChoice::off, MatchingChoice::wait})
        for (Ordering ordering : {Ordering::amd, Ordering::rcm, Ordering::none})
            for (bool scaling : {false, true})
                all.push_back({.matching = matching, .ordering = ordering, .scaling = scaling});
    return all;
}

bool is_power_of_two(double x)
{
    int exponent = 0;
    return std::frexp(x, &exponent) == 0.5;
}

TEST(Preprocess, GivesTheScaledAndPermutedMatrixItNames)
{
    for (Index n : awkward_sizes)
        for (const auto& [name, A] : all_matrices(n))
            for (const auto& options : all_options()) {
                const auto pre = preprocess(A, options);
                auto       scaled = A;
                scale_rows_cols(scaled, pre.row_scale, pre.col_scale);
                EXPECT_TRUE(identical(pre.A, permute(scaled, pre.p, pre.q))) << name << " of " << n;
                EXPECT_TRUE(pre.mirror == Mirror::hermitian || identical(pre.At, transpose(pre.A)))
                    << name << " of " << n;
                EXPECT_EQ(pre.row_scale.size(), n);
                EXPECT_EQ(pre.col_scale.size(), n);
                for (const auto* scale : {&pre.row_scale, &pre.col_scale})
                    EXPECT_TRUE(std::ranges::all_of(*scale, is_power_of_two)) << name << " of " << n;
            }
}

TEST(Preprocess, KeepsASymmetricMatrixSymmetric)
{
    for (const auto& A : {test::random_spd(33, 4, 1), gallery::jump2d({.n = 8}), gallery::elasticity2d({.n = 5})})
        for (Ordering ordering : {Ordering::amd, Ordering::metis, Ordering::rcm, Ordering::none}) {
            const auto pre = preprocess(A, {.ordering = ordering});
            EXPECT_TRUE(pre.mirror == Mirror::hermitian && pre.positive && !pre.matched);
            EXPECT_TRUE(is_symmetric(pre.A));
            EXPECT_EQ(pre.p, pre.q);
            EXPECT_TRUE(identical(pre.row_scale, pre.col_scale));
        }
    const auto indefinite = preprocess(gallery::stokes2d({.n = 5}), {.matching = MatchingChoice::off});
    EXPECT_TRUE(indefinite.mirror == Mirror::hermitian && !indefinite.positive);
    EXPECT_EQ(preprocess(random_regular(20, 3, 1), {}).mirror, Mirror::none);
}

TEST(Preprocess, MatchingPutsLargeEntriesOnTheDiagonal)
{
    for (Index n : awkward_sizes)
        for (const auto& [name, A] : regular_matrices(n, n + 3)) {
            const auto pre = preprocess(A, {.matching = MatchingChoice::on});
            EXPECT_TRUE(pre.matched);
            EXPECT_EQ(pre.structural_rank, n);
            for (Index i = 0; i < n; ++i) {  // scaled to 1 and at most 1, each factor then rounded to a power of two
                EXPECT_GE(std::abs(pre.A.at(i, i)), 0.5) << name << " of " << n;
                for (Offset p = pre.A.row_ptr()[i]; p < pre.A.row_ptr()[i + 1]; ++p)
                    EXPECT_LE(std::abs(pre.A.val()[p]), 2) << name << " of " << n;
            }
        }
}

TEST(Preprocess, MatchesOnItsOwnAccountWhereDiagonalEntriesAreSmall)
{
    const auto hollow = preprocess(random_regular(30, 3, 1), {});
    EXPECT_TRUE(hollow.matched);
    EXPECT_NE(hollow.decision.find("matching=auto: on"), std::string::npos) << hollow.decision;
    const auto dominant = preprocess(gallery::convdiff2d({.n = 6}), {});
    EXPECT_FALSE(dominant.matched);
    EXPECT_NE(dominant.decision.find("matching=auto: off"), std::string::npos) << dominant.decision;
    EXPECT_FALSE(preprocess(random_regular(30, 3, 1), {.matching = MatchingChoice::off}).matched);
}

/// What rounds put where the zeros are, Σ |a_ik|² / |a_kk|, is within a factor 2 of 0.4, whatever the unit of
/// pressures.
TEST(Preprocess, BalancesASaddlePointThatWaits)
{
    const MlIluOptions waiting{.setup = MlIluSetup::rounds, .matching = MatchingChoice::wait};
    for (const double unit : {1e-8, 0.3, 1., 1e5}) {
        const auto A = with_pressures_in(unit, gallery::stokes2d({.n = 9}));
        const auto pre = preprocess(A, waiting);
        EXPECT_TRUE(pre.saddle_point && !pre.matched && pre.mirror == Mirror::none);
        EXPECT_TRUE(identical(pre.row_scale, pre.col_scale));
        for (Index i = 0; i < A.rows(); ++i) {
            if (A.at(i, i) != 0) continue;
            double sum = 0;
            for (Index k = 0; k < A.rows(); ++k)
                if (A.at(k, k) != 0) {
                    const double a = pre.row_scale[i] * A.at(i, k) * pre.col_scale[k];
                    sum += a * a / (pre.row_scale[k] * A.at(k, k) * pre.col_scale[k]);
                }
            EXPECT_TRUE(sum >= 0.199 && sum <= 0.801) << i << ": " << sum;
        }
    }
    EXPECT_FALSE(preprocess(gallery::poisson2d(4, 4), waiting).saddle_point);
    EXPECT_FALSE(preprocess(random_regular(20, 3, 1), waiting).saddle_point);
    EXPECT_FALSE(preprocess(gallery::stokes2d({.n = 5}), {.matching = MatchingChoice::wait}).saddle_point);
}

/// An unknown without a diagonal that nobody with one is tied to keeps its scale.
TEST(Preprocess, BalancesWhereNeighboursHaveNoDiagonalEither)
{
    const auto pairs =
        CsrMatrix<>::from_triplets(2, 2, std::vector<Index>{0, 1}, std::vector<Index>{1, 0}, std::vector<double>{8, 8});
    const auto pre = preprocess(pairs, {.setup = MlIluSetup::rounds, .matching = MatchingChoice::wait});
    EXPECT_TRUE(pre.saddle_point);
    EXPECT_TRUE(std::ranges::all_of(pre.row_scale, [](double r) { return r > 0 && std::isfinite(r); }));
}

TEST(Preprocess, ScalesRowsAndColumnsToAboutOne)
{
    for (Index n : {1, 2, 31, 32, 33, 60})
        for (double decades : {0., 2., 4.}) {
            auto A = test::random_dominant(n, 4, n);
            scale_rows_cols(A, sizes(n, decades, 1), sizes(n, decades, 2));
            const auto pre = preprocess(A, {.matching = MatchingChoice::off});
            Vector     row(n), col(n);
            for (Index i = 0; i < n; ++i)
                for (Offset p = pre.A.row_ptr()[i]; p < pre.A.row_ptr()[i + 1]; ++p) {
                    row[i] = std::max(row[i], std::abs(pre.A.val()[p]));
                    col[pre.A.col()[p]] = std::max(col[pre.A.col()[p]], std::abs(pre.A.val()[p]));
                }
            for (const auto& largest_of : {row, col})
                for (double largest : largest_of) {
                    EXPECT_LE(largest, 8) << "n = " << n << ", 1e±" << decades;
                    EXPECT_GE(largest, 1. / 8) << "n = " << n << ", 1e±" << decades;
                }
        }
}

TEST(Preprocess, DoesNothingWhenToldTo)
{
    const auto A = random_regular(33, 4, 2);
    const auto pre = preprocess(A, {.matching = MatchingChoice::off, .ordering = Ordering::none, .scaling = false});
    std::vector<Index> natural(33);
    std::iota(natural.begin(), natural.end(), 0);
    EXPECT_TRUE(identical(pre.A, A));
    EXPECT_EQ(pre.p, natural);
    EXPECT_EQ(pre.q, natural);
    EXPECT_EQ(pre.row_scale, Vector(33, 1.));
    EXPECT_EQ(pre.col_scale, Vector(33, 1.));
}

TEST(Preprocess, CountsTheStructuralRank)
{
    const auto A = gallery::structurally_singular({.n = 40, .deficiency = 5});
    EXPECT_EQ(preprocess(A, {.matching = MatchingChoice::on}).structural_rank, 35);
    EXPECT_EQ(preprocess(CsrMatrix<>::from_triplets(4, 4, {}, {}, {}), {}).structural_rank, 0);
}

TEST(Preprocess, LeavesTheStructuralRankOpenUnlessMatchingOrDiagonalTellIt)
{
    const auto swap = dense(2, {0, 1, 1, 0});  // of full rank
    EXPECT_EQ(preprocess(swap, {.matching = MatchingChoice::off}).structural_rank, std::nullopt);
    EXPECT_EQ(preprocess(swap, {.matching = MatchingChoice::on}).structural_rank, 2);
    EXPECT_EQ(preprocess(dense(2, {1e-9, 1, 1, 1e-9}), {.matching = MatchingChoice::off}).structural_rank, 2);
    const auto zero = CsrMatrix<>::from_triplets(4, 4, {}, {}, {});
    EXPECT_EQ(preprocess(zero, {.matching = MatchingChoice::off}).structural_rank, std::nullopt);
}

TEST(Preprocess, SurvivesTheLimitsOfTheNumberFormat)
{
    for (double size : {1e-300, 1e300})
        for (MatchingChoice matching : {MatchingChoice::on, MatchingChoice::off}) {
            const auto pre = preprocess(times(test::random_dominant(10, 3, 1), size), {.matching = matching});
            EXPECT_EQ(test::broken_invariant(pre.A), "");
            for (Index i = 0; i < 10; ++i) {
                EXPECT_GE(std::abs(pre.A.at(i, i)), 1e-3) << size;
                EXPECT_LE(std::abs(pre.A.at(i, i)), 1e3) << size;
            }
        }
}

TEST(Preprocess, ScalesWhereAnEntryTimesAFactorLeavesTheRangeOfNumbers)
{
    // These sizes drive the factors apart: a r has no room in a double where a r c has.
    const auto A =
        CsrMatrix<double>::from_triplets(3, 3, std::vector<Index>{0, 1, 1, 2, 2}, std::vector<Index>{2, 0, 1, 0, 2},
                                         Vector{1e-300, 1e308, 5e-324, 1e300, 1e300});
    for (MatchingChoice matching : {MatchingChoice::on, MatchingChoice::off}) {
        const auto pre = preprocess(A, {.matching = matching});
        for (const double a : pre.A.val()) EXPECT_TRUE(std::isfinite(a)) << a;
        for (const auto* scales : {&pre.row_scale, &pre.col_scale})
            for (const double scale : *scales) EXPECT_TRUE(is_power_of_two(scale)) << scale;
    }
}

}  // namespace
}  // namespace ilux
