#include "ilux/gallery/special.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ilux/base/error.hpp"
#include "ilux/tests/gallery/dense.hpp"
#include "ilux/tests/gallery/traits.hpp"

namespace ilux {
namespace {

using namespace gallery;

TEST(Arrow, IsTheMatrixWrittenByHand)
{
    EXPECT_EQ(dense(arrow({.n = 4, .tip = Tip::first})), dense(4, {4, -1, -1, -1,  //
                                                                   -1, 2, 0, 0,    //
                                                                   -1, 0, 2, 0,    //
                                                                   -1, 0, 0, 2}));
    EXPECT_EQ(dense(arrow({.n = 3, .tip = Tip::last})), dense(3, {2, 0, -1,  //
                                                                  0, 2, -1,  //
                                                                  -1, -1, 3}));
    EXPECT_EQ(arrow({.n = 0}).rows(), 0);
    EXPECT_EQ(dense(arrow({.n = 1, .tip = Tip::last})), dense(1, {1}));
    EXPECT_TRUE(cholesky_succeeds(dense(arrow({.n = 50}))));
}

TEST(Tridiagonal, IsTheMatrixWrittenByHand)
{
    EXPECT_EQ(dense(tridiagonal({.n = 3, .lower = 5, .diagonal = 6, .upper = 7})),
              dense(3, {6, 7, 0, 5, 6, 7, 0, 5, 6}));
    EXPECT_EQ(tridiagonal({.n = 0}).rows(), 0);
    EXPECT_EQ(tridiagonal({.n = 1}).nnz(), 1);
}

TEST(Tridiagonal, HasTheKnownEigenvectors)
{
    // v_i = (lower/upper)^{i/2} sin(i k π/(n+1)), eigenvalue diagonal + 2√(lower upper) cos(kπ/(n+1)).
    const Index n = 9;
    const auto  A = tridiagonal({.n = n, .lower = -4, .diagonal = 3, .upper = -1});
    for (Index k = 1; k <= n; ++k) {
        std::vector<double> v;
        for (Index i = 1; i <= n; ++i) v.push_back(std::pow(2, i) * std::sin(i * k * std::numbers::pi / (n + 1)));
        const double lambda = 3 - 4 * std::cos(k * std::numbers::pi / (n + 1));
        const auto   w = times(A, v);
        for (Index i = 0; i < n; ++i) EXPECT_NEAR(w[i], lambda * v[i], 1e-11);
    }
}

TEST(RandomDominant, IsStrictlyDominantWithTheAskedNumberOfEntries)
{
    for (Index n : {0, 1, 2, 31, 32, 33, 300})
        for (Index per_row : {0, 1, 5, 40}) {
            const auto A = random_dominant(n, per_row, n);
            EXPECT_TRUE(is_well_formed(A));
            EXPECT_EQ(A.nnz(), n * (1 + Offset{std::min(per_row, std::max(n - 1, 0))}));
            for (Index i = 0; i < n; ++i) {
                double others = 0;
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                    if (A.col()[p] != i) others += std::abs(A.val()[p]);
                EXPECT_NEAR(A.at(i, i), 1 + others, 1e-14 * (1 + others));
            }
        }
    EXPECT_FALSE(same(random_dominant(20, 3, 1), random_dominant(20, 3, 2)));
}

TEST(RandomDominant, ReachesEveryColumn)
{
    const auto       A = random_dominant(200, 10);
    std::vector<int> hits(200, 0);
    for (Index j : A.col()) ++hits[j];
    EXPECT_GT(std::ranges::min(hits), 2);
}

TEST(RandomLower, IsALowerTriangleWithTheAskedNumberOfEntries)
{
    for (Index n : {0, 1, 2, 31, 32, 33, 300})
        for (Index per_row : {0, 1, 5, 40})
            for (Index band : {0, 1, 8}) {
                const auto L = random_lower({.n = n, .per_row = per_row, .band = band, .seed = 3});
                EXPECT_TRUE(is_well_formed(L));
                for (Index i = 0; i < n; ++i) {
                    const Index reach = band == 0 ? i : std::min(i, band);
                    ASSERT_EQ(L.row_ptr()[i + 1] - L.row_ptr()[i], 1 + std::min(per_row, reach));
                    EXPECT_EQ(L.col()[L.row_ptr()[i + 1] - 1], i);
                    EXPECT_GE(L.col()[L.row_ptr()[i]], i - reach);
                    EXPECT_GE(std::abs(L.at(i, i)), 1);
                    EXPECT_LT(std::abs(L.at(i, i)), 2);
                }
                EXPECT_TRUE(is_weakly_dominant(L));
            }
}

TEST(RandomLower, HasBothSignsOnItsDiagonalAndAChainWhenBanded)
{
    const auto L = random_lower({.n = 100, .per_row = 2, .band = 2});
    Index      negative = 0;
    for (Index i = 0; i < 100; ++i) negative += L.at(i, i) < 0;
    EXPECT_GT(negative, 25);
    EXPECT_LT(negative, 75);
    for (Index i = 1; i < 100; ++i) EXPECT_NE(L.at(i, i - 1), 0);  // row i waits for row i − 1
}

TEST(Singular, HasTheConstantAsItsNullVectorAndNoOther)
{
    EXPECT_EQ(dense(singular({.n = 2})), dense(4, {2, -1, -1, 0,  //
                                                   -1, 2, 0, -1,  //
                                                   -1, 0, 2, -1,  //
                                                   0, -1, -1, 2}));
    const Index n = 7;
    const auto  A = singular({.n = n});
    EXPECT_EQ(largest(times(A, std::vector<double>(n * n, 1))), 0);
    Dense without_last{n * n - 1, std::vector<double>((n * n - 1) * (n * n - 1), 0)};
    for (Index i = 0; i + 1 < n * n; ++i)
        for (Index j = 0; j + 1 < n * n; ++j) without_last(i, j) = A.at(i, j);
    EXPECT_TRUE(cholesky_succeeds(without_last));
}

TEST(StructurallySingular, LacksTheAskedRank)
{
    for (auto defect : {Defect::empty_row, Defect::empty_column, Defect::crowd})
        for (Index n : {2, 5, 33})
            for (Index deficiency : {1, 2, 4, 32}) {
                if (deficiency >= n) continue;
                const auto A = structurally_singular({.n = n, .deficiency = deficiency, .defect = defect});
                EXPECT_TRUE(is_well_formed(A));
                EXPECT_EQ(structural_rank(A), n - deficiency) << n << " " << deficiency;
            }
    EXPECT_THROW((void)structurally_singular({.n = 3, .deficiency = 3}), InvalidOption);
}

TEST(StructurallySingular, HidesItsDefectWhenCrowded)
{
    for (Index deficiency : {1, 3, 8}) {
        const auto        A = structurally_singular({.n = 10, .deficiency = deficiency, .defect = Defect::crowd});
        std::vector<char> column_used(10, 0);
        for (Index j : A.col()) column_used[j] = 1;
        EXPECT_EQ(std::ranges::count(column_used, 0), 0);
        for (Index i = 0; i < 10; ++i) EXPECT_LT(A.row_ptr()[i], A.row_ptr()[i + 1]);
    }
}

}  // namespace
}  // namespace ilux
