// The matching where it could overflow, stall or run out of its work limit. Oracles as in matching_test.cpp.

#include "ilux/reorder/matching.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ilux/tests/reorder/matching_checks.hpp"

namespace ilux {
namespace {

TEST(Matching, SurvivesValuesAtTheEndsOfTheRange)
{
    const double big = 1e300, small = 1e-300, tiny = 4e-324;
    for (const std::vector<double>& a : {
             std::vector<double>{big, small, 0, small, big, small, 0, 1, small},
             {small, big, 0, 0, small, big, big, 0, small},
             {small, 0, 0, 0, big, 0, 0, 0, 1},
             {tiny, 0, 0, big, tiny, 0, big, big, tiny},
             {tiny, 0, big, 0, 1.7e308, 0, 0, 1, tiny},
             {small, 0, 0, big, 0, 0, 1, 1, small},
         }) {
        const Csr      A = dense(3, a);
        const Matching m = maximum_product_matching(A);
        const Best     best = brute_force(A);
        EXPECT_EQ(m.rank, best.rank);
        if (best.rank == 3) {
            EXPECT_NEAR(log_product(A, m), best.log_product, 1e-9);
        }
        expect_sound(A, m);
        Csr S = A;
        scale_rows_cols(S, m.row_scale, m.col_scale);
        for (const double s : S.val()) EXPECT_LE(std::abs(s), 1 + 1e-10);
    }
}

TEST(Matching, CentresScalingsThatWouldOverflow)
{
    const Csr      A = dense(2, {4e-324, 0, 0, 1e300});  // 1 / 4e-324 is no double, its root is
    const Matching m = maximum_product_matching(A);
    EXPECT_TRUE(m.unit_diagonal);
    expect_sound(A, m);
}

TEST(Matching, BoundsScalingsThatNoDoubleCanHold)
{
    // diagonal 1, superdiagonal 1e300: r_{i+1} ≥ 1e300 r_i in any exact scaling
    const Index         n = 40;
    std::vector<double> a(n * n, 0.0);
    for (Index i = 0; i < n; ++i) {
        a[i * n + i] = 1;
        if (i + 1 < n) a[i * n + i + 1] = 1e300;
    }
    const Csr      A = dense(n, a);
    const Matching m = maximum_product_matching(A);
    EXPECT_TRUE(m.optimal);
    EXPECT_FALSE(m.unit_diagonal);
    for (Index i = 0; i < n; ++i) EXPECT_EQ(m.col_of_row[i], i);
    expect_sound(A, m);
}

/// Five-point stencil on a k×k grid; the diagonal is `centre(random)`.
template <class Centre>
Csr stencil(Index k, Centre centre)
{
    std::vector<Offset>                    row_ptr{0};
    std::vector<Index>                     col;
    std::vector<double>                    val;
    std::mt19937                           random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    for (Index y = 0; y < k; ++y) {
        for (Index x = 0; x < k; ++x) {
            const auto add = [&](Index xx, Index yy, double a) {
                if (xx < 0 || yy < 0 || xx >= k || yy >= k) return;
                col.push_back(yy * k + xx);
                val.push_back(a);
            };
            add(x, y - 1, -1 - unit(random));
            add(x - 1, y, -1 - unit(random));
            add(x, y, centre(unit(random)));
            add(x + 1, y, -1 - unit(random));
            add(x, y + 1, -1 - unit(random));
            row_ptr.push_back(static_cast<Offset>(col.size()));
        }
    }
    return Csr::from_sorted(k * k, k * k, std::move(row_ptr), std::move(col), std::move(val));
}

TEST(Matching, LeavesADominantDiagonalOfALargeStencil)
{
#ifdef NDEBUG
    const Index k = 550;
#else
    const Index k = 60;
#endif
    const Csr A = stencil(k, [](double) { return 8.0; });
    Matching  m;
    EXPECT_LT(seconds_of([&] { m = maximum_product_matching(A); }), 5);
    for (Index i = 0; i < A.rows(); ++i) ASSERT_EQ(m.col_of_row[i], i);
    expect_sound(A, m);
}

TEST(Matching, SolvesAStencilWhoseDiagonalIsTooSmall)
{
    const Csr      A = stencil(60, [](double x) { return 0.5 + x; });
    const Matching m = maximum_product_matching(A);
    EXPECT_TRUE(m.optimal);
    expect_sound(A, m);
}

TEST(Matching, SolvesArrowsInEveryDirection)
{
    const Index n = 500;
    for (int corner = 0; corner < 2; ++corner) {
        for (const double shaft : {1.0, 1e-3, 1e3}) {
            std::vector<double> a(n * n, 0.0);
            for (Index i = 0; i < n; ++i) {
                a[i * n + i] = shaft * (1 + i % 7);
                a[(corner ? n - 1 : 0) * n + i] = 1 + i % 5;
                a[i * n + (corner ? n - 1 : 0)] = 1 + i % 3;
            }
            const Csr      A = dense(n, a);
            const Matching m = maximum_product_matching(A);
            EXPECT_EQ(m.rank, n);
            EXPECT_TRUE(m.optimal);
            expect_sound(A, m);
        }
    }
}

/// Upper bidiagonal with entries that draw every row to its right neighbour's column; only the diagonal is a
/// transversal, and the last row pushes all others back.
Csr chain(Index n, bool closed)
{
    std::mt19937        random(7);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i) {
        row.insert(row.end(), {i, i});
        col.insert(col.end(), {i, (i + 1) % n});
        val.insert(val.end(), {1 + 1e-3 * double(random() % 1000), i + 1 < n ? 2.0 + double(random() % 3) : 0.25});
    }
    if (!closed) val.back() = 0;
    return Csr::from_triplets(n, n, row, col, val);
}

TEST(Matching, WalksLongChainsWithoutRecursionOrStall)
{
    const Index n = 100000;
    for (const bool closed : {false, true}) {
        const Csr A = chain(n, closed);
        Matching  m;
        EXPECT_LT(seconds_of([&] { m = maximum_product_matching(A); }), 10);
        EXPECT_EQ(m.rank, n);
        EXPECT_TRUE(m.optimal);
        for (Index i = 0; i < n; ++i) ASSERT_EQ(m.col_of_row[i], closed ? (i + 1) % n : i);
    }
}

TEST(Matching, ExceedingTheWorkLimitStillGivesABoundedTransversal)
{
    for (const double limit : {1e-6, 0.01, 0.3, 2.0}) {
        for (unsigned seed = 0; seed < 15; ++seed) {
            const Csr      A = random_matrix(300, 900 + 40 * static_cast<Index>(seed), 4, seed);
            const Matching m = maximum_product_matching(A, {.work_limit = limit});
            const Matching best = maximum_product_matching(A, {.work_limit = 0});
            EXPECT_EQ(m.rank, best.rank) << "limit " << limit << ", seed " << seed;
            EXPECT_TRUE(best.optimal);
            expect_sound(A, m);
            if (limit == 1e-6) {
                EXPECT_FALSE(m.optimal);
            }
            if (m.rank == 300) {
                EXPECT_LE(log_product(A, m), log_product(A, best) + 1e-9);
            }
        }
    }
}

TEST(Matching, WorkLimitBoundsTheTimeOfAHardProblem)
{
    // few distinct columns are cheap: searches flood the whole graph
    const Index         n = 4000;
    std::mt19937        random(3);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i) {
        for (int k = 0; k < 20; ++k) {
            row.push_back(i);
            col.push_back(static_cast<Index>(random() % n));
            val.push_back(std::exp2(-double(col.back()) * double(i % 97) / 400));
        }
    }
    const Csr A = Csr::from_triplets(n, n, row, col, val);
    Matching  m;
    EXPECT_LT(seconds_of([&] { m = maximum_product_matching(A, {.work_limit = 5}); }), 5);
    EXPECT_FALSE(m.optimal);
    EXPECT_EQ(m.rank, maximum_product_matching(A, {.work_limit = 1}).rank);
    expect_sound(A, m);
}

}  // namespace
}  // namespace ilux
