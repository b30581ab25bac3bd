#include "ilux/direct/factor/gilbert_peierls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/gallery/circuit.hpp"
#include "ilux/tests/direct/factor_checks.hpp"
#include "ilux/tests/direct/worked_example.hpp"

namespace ilux::test {
namespace {

bool is_power_of_two(double x)
{
    int exponent = 0;
    return std::frexp(x, &exponent) == 0.5;
}

/// Threshold pivoting in its own words, dense: what each pivot column held must allow the pivot taken.
void expect_pivots_within(const LuFactors<>& F, double pivot_tol)
{
    const LuPattern& P = *F.pattern;
    double           largest = 0, smallest_pivot = infinity, largest_pivot = 0;
    for (Index k = 0; k < P.n; ++k) {
        smallest_pivot = std::min(smallest_pivot, std::abs(F.val[P.diag[k]]));
        largest_pivot = std::max(largest_pivot, std::abs(F.val[P.diag[k]]));
        for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) largest = std::max(largest, std::abs(F.val[p]));
    }
    EXPECT_LE(largest * pivot_tol, 1 + 4 * eps);
    EXPECT_EQ(F.monitor.max_multiplier, largest);
    EXPECT_EQ(F.monitor.min_pivot, smallest_pivot);
    EXPECT_EQ(F.monitor.max_pivot, largest_pivot);
}

TEST(GilbertPeierls, WorkedExampleHasEveryNumberOfTheHandElimination)
{
    const auto       F = factor(worked_example());
    const LuPattern& P = *F.pattern;
    EXPECT_EQ(P.col_ptr, (std::vector<Offset>{0, 4, 7, 12, 15, 18, 20, 24, 29}));
    EXPECT_EQ(P.row, (std::vector<Index>{0, 1, 2, 7, 1, 2, 4, 0, 1, 2, 4, 7, 3, 5, 7,
                                         2, 4, 7, 5, 7, 3, 5, 6, 7, 0, 1, 2, 4, 7}));
    EXPECT_EQ(P.diag, (std::vector<Offset>{0, 4, 9, 12, 16, 18, 22, 28}));
    const std::vector<double> val{4, .5, 1,  2, 2, 1, 2,  2, 2,  4, -1, 1.5, 2, .5,  1,
                                  2, 5,  .6, 4, 1, 4, -2, 5, .2, 4, -2, 3,   8, -8.3};
    ASSERT_EQ(F.val.size(), val.size());
    for (std::size_t p = 0; p < val.size(); ++p)
        EXPECT_NEAR(F.val[p], val[p], 4 * eps * std::abs(val[p])) << "entry " << p;
    EXPECT_EQ(P.multiply_adds(), 18);
    EXPECT_EQ(P.flops(), 2 * 18 + 12);
    EXPECT_EQ(P.row_perm, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(P.nnz_F(), 0);

    EXPECT_EQ(F.monitor.bad_column, -1);
    EXPECT_EQ(F.monitor.min_pivot, 2);
    EXPECT_NEAR(F.monitor.max_pivot, 8.3, 1e-14);
    EXPECT_EQ(F.monitor.max_multiplier, 2);
    EXPECT_EQ(F.monitor.multiplier_column, 0);
    EXPECT_EQ(F.monitor.rgrowth, 1);  // columns 4, 6, 7: 2/2, 4/4, 5/5
    EXPECT_EQ(F.monitor.growth_column, 3);
    expect_factors_of(F, worked_example());
}

TEST(GilbertPeierls, PastBadPivotsTheRestIsEliminatedAsByHand)
{
    // [1 2 3 0; 1 2 4 0; 1 2 6 0; 0 0 1 0]: nothing is left for pivot 1, and column 3 has no entry
    const auto   A = CsrMatrix<double>::from_arrays(4, 4, {0, 3, 6, 9, 10}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 2},
                                                    {1, 2, 3, 1, 2, 4, 1, 2, 6, 1});
    HandAnalysis by;
    by.options.scaling = LuScaling::none;
    const auto s = analysed(A, by);
    const auto F = gilbert_peierls<double>(s, s->options, A.val(), {}, Cpu(1), {.bad = BadPivots::keep});
    EXPECT_EQ(F.monitor.bad_column, 1);
    EXPECT_FALSE(F.monitor.not_finite);
    EXPECT_EQ(F.pattern->row, (std::vector<Index>{0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 3}));
    EXPECT_EQ(std::vector<double>(F.val.begin(), F.val.end()),
              (std::vector<double>{1, 1, 1, 2, 0, 0, 3, 1, 3, 1 / 3., 0}));
}

TEST(GilbertPeierls, RandomMatricesOfAwkwardSizesAreReproducedByTheirFactors)
{
    for (const Index n : {0, 1, 2, 3, 31, 32, 33, 100})
        for (const Index per_row : {1, 2, 5, 40})
            for (const double pivot_tol : {0., 1e-3, 0.1, 1.}) {
                SCOPED_TRACE(testing::Message() << "n " << n << ", per row " << per_row << ", tolerance " << pivot_tol);
                HandAnalysis by{.row_perm = random_permutation(n, 1), .col_perm = random_permutation(n, 2)};
                by.options = with_tolerance(pivot_tol);
                // A permuted dominant matrix: no pivot is near the diagonal that the analysis offers.
                const auto A = permute(random_dominant(n, per_row, 7 * n + per_row),
                                       std::span<const Index>(random_permutation(n, 3)), {});
                const auto F = factor(A, by);
                if (F.monitor.bad_column >= 0) {  // pivot_tol = 0 may take any pivot that is not 0
                    EXPECT_EQ(pivot_tol, 0);
                    continue;
                }
                expect_factors_of(F, A);
                expect_pivots_within(F, pivot_tol);
            }
}

TEST(GilbertPeierls, DiagonalIsKeptWhereTheToleranceAllowsIt)
{
    const Dense A = square(2, {0.01, 1, 1, 1});
    EXPECT_EQ(factor(A, {.options = with_tolerance(0.01)}).pattern->row_perm, (std::vector<Index>{0, 1}));
    EXPECT_EQ(factor(A, {.options = with_tolerance(0.011)}).pattern->row_perm, (std::vector<Index>{1, 0}));
    // A stored zero on the diagonal is no pivot even where every pivot is allowed.
    const Entries zero{2, {0, 2, 4}, {0, 1, 0, 1}, {0, 1, 1, 1}};
    EXPECT_EQ(factor(zero, {.options = with_tolerance(0)}).pattern->row_perm, (std::vector<Index>{1, 0}));
}

TEST(GilbertPeierls, DisplacedRowsBecomeTheDiagonalOfTheColumnTheyWereDisplacedFrom)
{
    // Column 0 must take row 2; rows 0 and 2 change places, so column 2 finds row 0 on its diagonal and keeps it
    // although row 1 is larger there.
    const Dense A = square(3, {0, 0, 1,  //
                               0, 1, 8,  //
                               1, 1, 1});
    const auto  F = factor(A);
    EXPECT_EQ(F.pattern->row_perm, (std::vector<Index>{2, 1, 0}));
    expect_factors_of(F, to_csr(A));
}

TEST(GilbertPeierls, PermutedIdentityNeedsNoFillAndNoArithmetic)
{
    for (const Index n : {1, 2, 33, 64, 65, 5000}) {
        const auto p = random_permutation(n, 5);
        const auto A = permute(CsrMatrix<double>::identity(n), std::span<const Index>(p), {});
        const auto F = factor(A);
        ASSERT_EQ(F.monitor.bad_column, -1);
        EXPECT_EQ(F.pattern->nnz(), n);
        EXPECT_EQ(F.pattern->flops(), 0);
        EXPECT_EQ(F.val, LuValues<double>(n, 1.0));
        EXPECT_EQ(F.pattern->row_perm, inverse_permutation(p));
        EXPECT_EQ(F.monitor.max_multiplier, 0);
        EXPECT_EQ(F.monitor.rgrowth, 1);
        EXPECT_EQ(broken_map(F, entries_of(A)), "");
    }
}

/// n×n with ones on the diagonal's place of `pattern`, n elsewhere on it: dominant enough to keep every pivot.
template <class Pattern>
CsrMatrix<double> patterned(Index n, Pattern&& pattern)
{
    Dense  A = square(n, std::vector<double>(static_cast<std::size_t>(n) * n));
    Random random(n);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            if (i == j) A(i, j) = 2 * n + random.uniform();
            else if (pattern(i, j)) A(i, j) = random.uniform(0.5, 1);
    return to_csr(A);
}

TEST(GilbertPeierls, KnownPatternsFillAsTheTheorySays)
{
    const auto at = [](Index i) { return [i](Index r, Index c) { return r == i || c == i; }; };
    for (const Index n : {2, 31, 32, 33, 70}) {
        const Offset full = Offset{n} * n, arrow = 3 * Offset{n} - 2, triangle = Offset{n} * (n + 1) / 2;
        const auto   nnz_of = [](const CsrMatrix<double>& A) {
            const auto F = factor(A);
            expect_factors_of(F, A);
            return F.pattern->nnz();
        };
        EXPECT_EQ(nnz_of(patterned(n, [](Index, Index) { return true; })), full);
        EXPECT_EQ(nnz_of(patterned(n, [](Index i, Index j) { return i > j; })), triangle);
        EXPECT_EQ(nnz_of(patterned(n, [](Index i, Index j) { return i < j; })), triangle);
        EXPECT_EQ(nnz_of(patterned(n, at(n - 1))), arrow) << "arrow pointing down";
        EXPECT_EQ(nnz_of(patterned(n, at(0))), full) << "arrow pointing up";
        EXPECT_EQ(nnz_of(patterned(n, [](Index i, Index) { return i == 0; })), 2 * n - 1) << "dense row";
        EXPECT_EQ(nnz_of(patterned(n, [](Index, Index j) { return j == 0; })), 2 * n - 1) << "dense column";
        EXPECT_EQ(nnz_of(patterned(n, [](Index i, Index j) { return std::abs(i - j) == 1; })), arrow) << "tridiagonal";
    }
}

TEST(GilbertPeierls, EntriesThatCancelStayInThePattern)
{
    const Dense A = square(3, {1, 1, 0,  //
                               1, 2, 1,  //
                               1, 1, 5});
    const auto  F = factor(A);
    EXPECT_EQ(F.pattern->row, (std::vector<Index>{0, 1, 2, 0, 1, 2, 1, 2}));
    EXPECT_EQ(F.val, (LuValues<double>{1, 1, 1, 1, 1, 0, 1, 5}));
    expect_factors_of(F, to_csr(A));
}

TEST(GilbertPeierls, ManySmallBlocksAreFactoredOneByOne)
{
    constexpr Index     blocks = 30'000, n = 2 * blocks;
    std::vector<Index>  i, j;
    std::vector<double> v;
    HandAnalysis        by{.block_ptr = {0}};
    for (Index b = 0; b < blocks; ++b) {
        for (const auto& [r, c, value] : {std::tuple{0, 0, 1.}, {0, 1, 3.}, {1, 0, 2.}, {1, 1, 4.}}) {
            i.push_back(2 * b + r);
            j.push_back(2 * b + c);
            v.push_back(value);
        }
        by.block_ptr.push_back(2 * b + 2);
    }
    const auto A = CsrMatrix<double>::from_triplets(n, n, i, j, v);
    const auto F = factor(A, by);
    ASSERT_EQ(F.monitor.bad_column, -1);
    ASSERT_EQ(F.pattern->nnz(), 4 * blocks);
    for (Index b = 0; b < blocks; ++b)  // the diagonal 1 ≥ 10⁻³ · 2 stays: L = 2, U = 1 3 −2
        ASSERT_EQ((std::vector<double>(F.val.begin() + 4 * b, F.val.begin() + 4 * b + 4)),
                  (std::vector<double>{1, 2, 3, -2}));
    EXPECT_EQ(F.monitor.rgrowth, 4. / 3);
    EXPECT_EQ(F.monitor.growth_column, 1);
}

TEST(GilbertPeierls, BlocksPivotInsideThemselvesAndKeepWhatLiesAboveUntouched)
{
    for (const Index n : {20, 33, 100}) {
        Random       random(n);
        HandAnalysis by{.row_perm = random_permutation(n, 1), .col_perm = random_permutation(n, 2), .block_ptr = {0}};
        while (by.block_ptr.back() < n) by.block_ptr.push_back(std::min(n, by.block_ptr.back() + 1 + random.below(9)));
        by.options = with_tolerance(1);
        std::vector<Index> block(n);
        for (Index b = 0; b + 1 < std::ssize(by.block_ptr); ++b)
            std::fill(block.begin() + by.block_ptr[b], block.begin() + by.block_ptr[b + 1], b);
        const auto new_row = inverse_permutation(by.row_perm), new_col = inverse_permutation(by.col_perm);
        Dense      A = square(n, std::vector<double>(static_cast<std::size_t>(n) * n));
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) {
                const Index bi = block[new_row[i]], bj = block[new_col[j]];
                if (bi == bj || (bi < bj && random.below(3) == 0)) A(i, j) = random.uniform();
            }
        const auto F = factor(A, by);
        expect_factors_of(F, to_csr(A));
        expect_pivots_within(F, 1);
        EXPECT_GT(F.pattern->nnz_F(), 0);
    }
}

TEST(GilbertPeierls, DuplicatesAreAddedInTheDiagonalBlocksAndAboveThem)
{
    const Entries A{3, {0, 5, 8, 10}, {2, 0, 1, 0, 2, 1, 1, 2, 2, 2}, {10, 1, 7, 2, 20, 3, 4, 5, 6, -2}};
    const Dense   sum = square(3, {3, 7, 30, 0, 7, 5, 0, 0, 4});
    for (const auto& block_ptr : {std::vector<Index>{0, 3}, {0, 1, 3}, {0, 1, 2, 3}}) {
        const auto F = factor(A, {.block_ptr = block_ptr});
        expect_factors_of(F, A);
        EXPECT_EQ(permuted_dense(A, *F.pattern), sum);
        EXPECT_EQ(F.monitor.min_pivot, 3);
        EXPECT_EQ(F.monitor.max_pivot, 7);
    }
    EXPECT_EQ(factor(A, {.block_ptr = {0, 1, 2, 3}}).f_val, (std::vector<double>{7, 30, 5}));
}

TEST(GilbertPeierls, RowsAreScaledByPowersOfTwoToALargestEntryNearOne)
{
    Dense  A = to_dense(random_dominant(40, 5, 3));
    Random random(4);
    for (Index i = 0; i < 40; ++i) {
        const double size = std::ldexp(random.uniform(1, 2), static_cast<int>(random.below(1800)) - 900);
        for (Index j = 0; j < 40; ++j) A(i, j) *= size;
    }
    HandAnalysis by;
    by.options.scaling = LuScaling::rows;
    const auto F = factor(A, by);
    expect_factors_of(F, to_csr(A), 5e-324);
    for (Index i = 0; i < 40; ++i) {
        const double r = F.pattern->row_scale[i];
        double       largest = 0;
        for (Index j = 0; j < 40; ++j) largest = std::max(largest, std::abs(r * A(i, j)));
        EXPECT_TRUE(is_power_of_two(r));
        EXPECT_GE(largest, std::sqrt(0.5));
        EXPECT_LE(largest, std::sqrt(2.));
    }
}

TEST(GilbertPeierls, ScalesOfTheAnalysisAreUsedAsTheyAre)
{
    const auto   A = random_dominant(33, 4, 9);
    HandAnalysis by{.row_perm = random_permutation(33, 1), .col_perm = random_permutation(33, 2)};
    for (Index i = 0; i < 33; ++i) {
        by.row_scale.push_back(std::ldexp(1., i - 10));
        by.col_scale.push_back(std::ldexp(1., 12 - i));
    }
    by.options.scaling = LuScaling::matching;
    const auto F = factor(A, by);
    EXPECT_EQ(F.pattern->row_scale, by.row_scale);
    EXPECT_EQ(F.pattern->col_scale, by.col_scale);
    expect_factors_of(F, A);
}

TEST(GilbertPeierls, HugeTinyAndDenormalEntriesAreFactoredWithRowScaling)
{
    constexpr double denormal = 5e-324;
    HandAnalysis     by;
    by.options.scaling = LuScaling::rows;
    const auto pivots_of = [&](const Dense& A) {
        const auto F = factor(A, by);
        expect_factors_of(F, to_csr(A), denormal);
        return std::pair(F.monitor.min_pivot, F.monitor.max_pivot);
    };
    EXPECT_EQ(pivots_of(square(2, {0x1p+1000, 0, 0, 0x1p-1000})), std::pair(1., 1.));
    EXPECT_EQ(pivots_of(square(2, {std::ldexp(1., -1074), 0, 0, 0x1p+1023})).second, 2.);  // 2¹⁰²³ · 2⁻¹⁰²²
    EXPECT_EQ(pivots_of(square(2, {1e300, 1e300, 1e-300, 3e-300})).first > 0.1, true);
    by.options.scaling = LuScaling::none;
    EXPECT_EQ(pivots_of(square(2, {denormal, 0, denormal, denormal})), std::pair(denormal, denormal));
}

TEST(GilbertPeierls, GrowthIsOfTheScaledColumnWithinItsBlock)
{
    // Block {1, 2}: column 2 holds 1, 1 and becomes 1, 1 − 100 = −99; the 1000 above belongs to F and counts nowhere.
    const Dense A = square(3, {1, 0, 1000,  //
                               0, 0.01, 1,  //
                               0, 1, 1});
    const auto  F = factor(A, {.block_ptr = {0, 1, 3}});
    EXPECT_DOUBLE_EQ(F.monitor.rgrowth, 1. / 99);
    EXPECT_EQ(F.monitor.growth_column, 2);
    EXPECT_DOUBLE_EQ(F.monitor.max_multiplier, 100);
    EXPECT_EQ(F.monitor.multiplier_column, 1);
}

TEST(GilbertPeierls, RefactoringTheSameValuesGivesTheSameBits)
{
    for (const Index n : {1, 33, 150})
        for (const double pivot_tol : {1e-3, 1.}) {
            HandAnalysis by{.row_perm = random_permutation(n, 1), .col_perm = random_permutation(n, 2)};
            by.block_ptr = {0, n / 3, n};
            by.options = with_tolerance(pivot_tol);
            by.options.scaling = LuScaling::rows;
            const auto new_row = inverse_permutation(by.row_perm), new_col = inverse_permutation(by.col_perm);
            Dense      A = to_dense(random_matrix(n, n, 6, n));
            for (Index i = 0; i < n; ++i)
                for (Index j = 0; j < n; ++j) {
                    if (new_row[i] == new_col[j]) A(i, j) = 0.3;
                    if (new_row[i] >= n / 3 && new_col[j] < n / 3) A(i, j) = 0;
                }
            const auto B = to_csr(A);
            const auto F = factor(B, by);
            expect_factors_of(F, B);
            auto again = F;
            std::ranges::fill(again.val, 7);
            std::ranges::fill(again.f_val, 7);
            refactor_serial(B.val(), again);
            EXPECT_TRUE(identical(F.val, again.val));
            EXPECT_TRUE(identical(F.f_val, again.f_val));
            const auto &m = F.monitor, &r = again.monitor;
            EXPECT_EQ(std::tie(m.bad_column, m.min_pivot, m.max_pivot, m.rgrowth, m.growth_column, m.max_multiplier,
                               m.multiplier_column),
                      std::tie(r.bad_column, r.min_pivot, r.max_pivot, r.rgrowth, r.growth_column, r.max_multiplier,
                               r.multiplier_column));
        }
}

TEST(GilbertPeierls, CircuitsWithZeroDiagonalsAreReproduced)
{
    for (const auto seed : {1, 2, 3}) {
        const auto   A = gallery::mna_random({.n = 120, .sources = 0.2, .controlled = 0.3, .decades = 6, .seed = seed});
        HandAnalysis by;
        by.options.scaling = LuScaling::rows;
        const auto F = factor(A, by);
        expect_factors_of(F, A);
        expect_pivots_within(F, by.options.pivot_tol);
    }
}

}  // namespace
}  // namespace ilux::test
