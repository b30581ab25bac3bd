// Oracle: elimination of the same pivots on a dense matrix of bits.

#include "ilux/direct/analysis/contraction.hpp"

#include <algorithm>
#include <numeric>

#include "ilux/tests/direct/analysis/boolean_matrix.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::Bits;

PatternView view_of(const CsrMatrix<double>& A) { return {A.rows(), A.row_ptr(), A.col()}; }

/// Other entries in row (or column) k among what is left.
Index degree(const Bits& B, Index k, bool row, const std::vector<char>& done)
{
    Index others = 0;
    for (Index j = 0; j < B.n; ++j) others += j != k && !done[j] && (row ? B(k, j) : B(j, k));
    return others;
}

CsrMatrix<double> with_diagonal(const CsrMatrix<double>& A)
{
    std::vector<Index> row, col;
    for (Index i = 0; i < A.rows(); ++i) {
        row.push_back(i);
        col.push_back(i);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            row.push_back(i);
            col.push_back(A.col()[p]);
        }
    }
    return CsrMatrix<double>::from_triplets(A.rows(), A.rows(), row, col, std::vector<double>(row.size(), 1.));
}

TEST(Contraction, LeavesWhatEliminationOfItsPivotsLeavesAndNoPivotCausesFill)
{
    Index contracted = 0, left = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const Index n = seed % 37;
        const auto  A = with_diagonal(test::random_matrix(n, n, 1 + seed % 3, seed));
        const auto  rest = contract(view_of(A));
        contracted += static_cast<Index>(rest.eliminated.size());
        left += rest.pattern().n;

        auto all = rest.eliminated;
        all.insert(all.end(), rest.vertex.begin(), rest.vertex.end());
        std::ranges::sort(all);
        std::vector<Index> identity(n);
        std::iota(identity.begin(), identity.end(), Index{0});
        ASSERT_EQ(all, identity) << "seed " << seed;

        Bits              B = test::to_bits(view_of(A));
        std::vector<char> done(n, 0);
        for (const Index k : rest.eliminated) {
            ASSERT_LE(std::min(degree(B, k, true, done), degree(B, k, false, done)), 1) << "seed " << seed;
            test::eliminate(B, k, done);
            done[k] = 1;
        }
        const Bits R = test::to_bits(rest.pattern());
        for (Index i = 0; i < R.n; ++i)
            for (Index j = 0; j < R.n; ++j)
                ASSERT_EQ(R(i, j), B(rest.vertex[i], rest.vertex[j])) << "seed " << seed << ", " << i << ", " << j;
        for (Index i = 0; i < R.n; ++i)
            ASSERT_TRUE(std::is_sorted(rest.col.begin() + rest.row_ptr[i], rest.col.begin() + rest.row_ptr[i + 1]));
    }
    EXPECT_GT(contracted, 1000);
    EXPECT_GT(left, 1000);
}

TEST(Contraction, TakesAllOfATreeAndNothingOfAFullMatrix)
{
    const auto star = test::to_csr({4, 4, {1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1}});
    EXPECT_EQ(contract(view_of(star)).vertex.size(), 0u);
    const auto full = test::to_csr({4, 4, std::vector<double>(16, 1.)});
    EXPECT_EQ(contract(view_of(full)).eliminated.size(), 0u);
    EXPECT_EQ(contract(view_of(full)).col.size(), 16u);
}

}  // namespace
}  // namespace ilux
