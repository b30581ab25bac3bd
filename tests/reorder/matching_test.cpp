// Oracles: brute force over all permutations, the hand example of the notes, and the optimality conditions of the
// assignment problem (|r a c| ≤ 1 everywhere, = 1 on the matching), which prove a maximal product without any search.

#include "ilux/reorder/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ilux/base/error.hpp"
#include "ilux/tests/reorder/matching_checks.hpp"
#include "ilux/tests/support/stop_at.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux {
namespace {

TEST(Matching, SolvesTheHandExample)
{
    const Csr      A = dense(3, {1, 4, 0, 3, 0, 2, 0, 5, 6});
    const Matching m = maximum_product_matching(A);
    EXPECT_EQ(m.col_of_row, (std::vector<Index>{1, 0, 2}));
    EXPECT_NEAR(std::exp2(log_product(A, m)), 72, 1e-12);
    EXPECT_EQ(m.rank, 3);
    EXPECT_TRUE(m.optimal && m.unit_diagonal);
    expect_sound(A, m);
    const std::vector<double> r{1. / 4, 1. / 3, 1. / 6};  // by rows: u = v = 0, so the rows' maxima
    for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(m.row_scale[i], r[i], 1e-15);
        EXPECT_NEAR(m.col_scale[i], 1, 1e-15);
    }
}

TEST(Matching, GivesThePublishedDualsOfTheHandExampleByColumns)
{
    const Matching            m = maximum_product_matching(transpose(dense(3, {1, 4, 0, 3, 0, 2, 0, 5, 6})));
    const std::vector<double> r{5. / 4, 1, 1}, s{1. / 3, 1. / 5, 1. / 6};
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(m.col_scale[k], r[k], 1e-15);
        EXPECT_NEAR(m.row_scale[k], s[k], 1e-15);
    }
}

TEST(Matching, EqualsBruteForceOverAllPermutations)
{
    int singular = 0;
    for (unsigned seed = 0; seed < 700; ++seed) {
        const Index n = 1 + seed % 6 + (seed % 60 == 59);  // 1 … 6, sometimes 7
        const Csr   A = random_matrix(n, 1 + seed * 7 % (n * n + n), seed % 3 == 0 ? 0 : seed % 3 == 1 ? 2 : 150, seed);
        const Matching m = maximum_product_matching(A);
        const Best     best = brute_force(A);
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        ASSERT_EQ(m.rank, best.rank);
        expect_sound(A, m);
        EXPECT_TRUE(m.optimal);
        singular += m.rank < n;
        if (m.rank == n) {
            ASSERT_NEAR(log_product(A, m), best.log_product, 1e-9);
        }
    }
    EXPECT_GT(singular, 200);
    EXPECT_LT(singular, 600);
}

TEST(Matching, FindsTheStructuralRankWithManyCompetingRows)
{
    // 40 rows for 10 columns in front of a regular part whose searches meet those columns again and again
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937        random(seed);
        std::vector<Index>  row, col;
        std::vector<double> val;
        const auto          add = [&](Index i, Index j) {
            row.push_back(i);
            col.push_back(j);
            val.push_back(std::exp2(random() % 20));
        };
        for (Index i = 0; i < 40; ++i)
            for (int k = 0; k < 4; ++k) add(i, static_cast<Index>(random() % 10));
        for (Index i = 0; i < 10; ++i) add(i, i);
        for (Index i = 40; i < 100; ++i) {
            add(i, 10 + (i * 7) % 60);
            for (int k = 0; k < 4; ++k) add(i, static_cast<Index>(random() % 70));
        }
        const Csr          A = Csr::from_triplets(100, 100, row, col, val);
        std::vector<Index> p(100);
        std::iota(p.begin(), p.end(), Index{0});
        std::ranges::shuffle(p, random);
        for (const Csr& B : {A, permute(A, p, {}), permute(A, p, p)}) {
            const Matching m = maximum_product_matching(B);
            EXPECT_EQ(m.rank, 70);
            EXPECT_TRUE(m.optimal);
            expect_sound(B, m);
        }
    }
}

TEST(Matching, KeepsItsProductWhenRowsArePermuted)
{
    for (unsigned seed = 0; seed < 30; ++seed) {
        const Index        n = 50;
        Csr                A = random_matrix(n, 300, 5, seed);
        std::vector<Index> p(n);
        std::iota(p.begin(), p.end(), Index{0});
        std::ranges::shuffle(p, std::mt19937(seed));
        const Csr      B = permute(A, p, {});
        const Matching a = maximum_product_matching(A), b = maximum_product_matching(B);
        ASSERT_EQ(a.rank, b.rank);
        expect_sound(A, a);
        expect_sound(B, b);
        if (a.rank == n) {
            EXPECT_NEAR(log_product(A, a), log_product(B, b), 1e-9);
        }
    }
}

TEST(Matching, RecoversAPlantedPermutation)
{
    // unit entries on a random permutation, all others below 1: the product is 1 and nothing else reaches it
    for (Index n : {1, 2, 31, 32, 33, 2000}) {
        std::mt19937       random(n);
        std::vector<Index> sigma(n);
        std::iota(sigma.begin(), sigma.end(), Index{0});
        std::ranges::shuffle(sigma, random);
        test::EntryList     entries;
        std::vector<double> r(n), c(n);  // hidden by a random scaling, which no matching may notice
        for (Index i = 0; i < n; ++i) r[i] = std::exp2(random() % 20), c[i] = std::exp2(random() % 20);
        for (Index i = 0; i < n; ++i) {
            entries.add(i, sigma[i], r[i] * c[sigma[i]]);
            for (int k = 0; k < 5; ++k)
                if (const Index j = static_cast<Index>(random() % n); j != sigma[i])
                    entries.add(i, j, 0.01 * r[i] * c[j]);
        }
        const Csr      A = entries.matrix(n, n);
        const Matching m = maximum_product_matching(A);
        EXPECT_EQ(m.col_of_row, sigma);
        expect_sound(A, m);
    }
}

TEST(Matching, AcceptsTheEmptyMatrixAndOneByOne)
{
    const Matching none = maximum_product_matching(Csr::identity(0));
    EXPECT_EQ(none.rank, 0);
    EXPECT_TRUE(none.col_of_row.empty() && none.optimal && none.unit_diagonal);
    const Csr      A = dense(1, {-8});
    const Matching one = maximum_product_matching(A);
    EXPECT_EQ(one.rank, 1);
    EXPECT_EQ(one.row_scale[0] * one.col_scale[0], 0.125);
}

TEST(Matching, RefusesRectanglesAndSenselessLimits)
{
    EXPECT_THROW((void)maximum_product_matching(Csr::from_arrays(2, 3, {0, 0, 0}, {}, {})), InvalidInput);
    EXPECT_THROW((void)maximum_product_matching(Csr::identity(2), {.work_limit = -1}), InvalidOption);
    EXPECT_THROW((void)maximum_product_matching(Csr::identity(2), {.work_limit = std::nan("")}), InvalidOption);
}

TEST(Matching, TakesExplicitZerosForAbsent)
{
    const Csr zeros = Csr::from_arrays(3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, std::vector<double>(9, 0.0));
    const Matching m = maximum_product_matching(zeros);
    EXPECT_EQ(m.rank, 0);
    EXPECT_EQ(m.col_of_row, (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(m.row_scale, std::vector<double>(3, 1.0));
    EXPECT_EQ(m.col_scale, std::vector<double>(3, 1.0));

    const Csr A = Csr::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.0, 5, -0.0, 7});  // one column for two rows
    EXPECT_EQ(maximum_product_matching(A).rank, 1);
    const Csr B = Csr::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.0, 5, 3, 7});  // the diagonal is no choice
    EXPECT_EQ(maximum_product_matching(B).col_of_row, (std::vector<Index>{1, 0}));
}

TEST(Matching, PairsEmptyRowsAndColumnsInOrder)
{
    // row 1 and 3 are empty, as are columns 0 and 2
    const Csr      A = dense(4, {0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 4, 0, 0, 0, 0});
    const Matching m = maximum_product_matching(A);
    EXPECT_EQ(m.rank, 2);
    EXPECT_EQ(m.unmatched_rows, (std::vector<Index>{1, 3}));
    EXPECT_EQ(m.unmatched_cols, (std::vector<Index>{0, 2}));
    EXPECT_EQ(m.col_of_row, (std::vector<Index>{1, 0, 3, 2}));
    EXPECT_EQ(m.row_scale[1], 1);
    EXPECT_EQ(m.col_scale[2], 1);
    expect_sound(A, m);
}

TEST(Matching, PrefersTheDiagonalAmongEquals)
{
    const Index        n = 60;
    const Csr          ones = dense(n, std::vector<double>(n * n, 1.0));
    const Matching     m = maximum_product_matching(ones);
    std::vector<Index> identity(n);
    std::iota(identity.begin(), identity.end(), Index{0});
    EXPECT_EQ(m.col_of_row, identity);
    EXPECT_EQ(m.rank, n);
    expect_sound(ones, m);
}

TEST(Matching, IsRepeatable)
{
    const Csr      A = random_matrix(400, 1500, 3, 11);
    const Matching a = maximum_product_matching(A), b = maximum_product_matching(A);
    EXPECT_EQ(a.col_of_row, b.col_of_row);
    EXPECT_EQ(a.row_scale, b.row_scale);
    EXPECT_EQ(a.col_scale, b.col_scale);
}

TEST(Matching, ATokenEndsIt)
{
    // Every row wants column 0 most: each search goes through all rows matched before.
    constexpr Index     n = 400;
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            row.push_back(i);
            col.push_back(j);
            val.push_back(std::exp2(-static_cast<double>(i + 1) * (j + 1) / n));
        }
    const auto       A = CsrMatrix<double>::from_triplets(n, n, row, col, val);
    std::atomic<int> asked;
    const auto       m = maximum_product_matching(A, {.work_limit = 0}, test::stop_at(0, asked));
    EXPECT_EQ(m.col_of_row, maximum_product_matching(A, {.work_limit = 0}).col_of_row);
    ASSERT_GE(asked, 1);
    EXPECT_THROW(maximum_product_matching(A, {.work_limit = 0}, test::at_once()), Cancelled);
}

}  // namespace
}  // namespace ilux
