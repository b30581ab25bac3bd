#include "ilux/base/matrix/csr.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

CsrMatrix<double> triplets(Index rows, Index cols, std::vector<Index> row, std::vector<Index> col,
                           std::vector<double> val)
{
    return CsrMatrix<double>::from_triplets(rows, cols, row, col, val);
}

/// A matrix drawn by rapidcheck: shapes 0..40, some rows empty, some full.
CsrMatrix<double> drawn_matrix()
{
    const auto rows = *rc::gen::inRange<Index>(0, 41), cols = *rc::gen::inRange<Index>(0, 41);
    const auto per_row = *rc::gen::element<Index>(0, 1, 3, 40);
    return random_matrix(rows, cols, per_row, *rc::gen::arbitrary<std::uint64_t>());
}

TEST(CsrMatrix, SortsTripletsAndSumsDuplicatesInTheirOrder)
{
    const auto A = triplets(2, 3, {1, 0, 1, 1, 1}, {2, 1, 0, 2, 2}, {1e16, 5, 7, 1, -1e16});
    EXPECT_EQ(A.nnz(), 3);
    EXPECT_TRUE(std::ranges::equal(A.row_ptr(), std::vector<Offset>{0, 1, 3}));
    EXPECT_TRUE(std::ranges::equal(A.col(), std::vector<Index>{1, 0, 2}));
    EXPECT_EQ(A.at(1, 2), (1e16 + 1) - 1e16);  // 0 in double: another order would give 1
    EXPECT_EQ(A.at(0, 1), 5);
    EXPECT_EQ(A.at(0, 0), 0);
    EXPECT_EQ(broken_invariant(A), "");
}

TEST(CsrMatrix, KeepsExplicitZerosAndZerosFromCancellation)
{
    const auto A = triplets(2, 2, {0, 1, 1}, {0, 1, 1}, {0, 3, -3});
    EXPECT_EQ(A.nnz(), 2);
    EXPECT_EQ(A.at(1, 1), 0);
}

TEST(CsrMatrix, MayBeEmptyInEveryWay)
{
    for (auto [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {1, 1}, {33, 32}}) {
        const auto A = triplets(rows, cols, {}, {}, {});
        EXPECT_EQ(A.rows(), rows);
        EXPECT_EQ(A.cols(), cols);
        EXPECT_EQ(A.nnz(), 0);
        EXPECT_EQ(broken_invariant(A), "");
        EXPECT_EQ(transpose(A).rows(), cols);
    }
    EXPECT_EQ(CsrMatrix<double>().nnz(), 0);
    EXPECT_EQ(CsrMatrix<double>::identity(0).rows(), 0);
}

TEST(CsrMatrix, NamesTheEntryThatIsOutsideOrNotFinite)
{
    expect_refusal([] { triplets(2, 3, {0, 2}, {0, 0}, {1, 1}); }, {"entry 1", "row 2, column 0", "2 x 3"});
    expect_refusal([] { triplets(2, 3, {0}, {3}, {1}); }, {"row 0, column 3"});
    expect_refusal([] { triplets(2, 3, {-1}, {0}, {1}); }, {"row -1"});
    expect_refusal([] { triplets(2, 3, {0, 1}, {0, 2}, {1, nan}); }, {"entry 1", "row 1, column 2", "nan"});
    expect_refusal([] { triplets(2, 3, {0}, {0}, {-infinity}); }, {"-inf"});
    expect_refusal(
        [] {
            triplets(2, 3, {1, 1}, {2, 2}, {1.7e308, 1.7e308});
        },
        {"duplicates", "row 2, column 3 (counted from 1)", "inf"});
    expect_refusal([] { triplets(-1, 3, {}, {}, {}); }, {"-1 x 3"});
    expect_refusal([] { triplets(2, 3, {0}, {0, 1}, {1}); }, {"1 row indices, 2 column indices"});
    expect_refusal([] { CsrMatrix<double>::identity(-2); }, {"-2"});
}

TEST(CsrMatrix, RefusesBrokenRowPointers)
{
    const auto arrays = [](std::vector<Offset> row_ptr, std::vector<Index> col, std::vector<double> val) {
        return [=] { CsrMatrix<double>::from_arrays(2, 2, row_ptr, col, val); };
    };
    expect_refusal(arrays({0, 1}, {0}, {1}), {"2 entries", "needs 3"});
    expect_refusal(arrays({1, 1, 1}, {0}, {1}), {"from 1"});
    expect_refusal(arrays({0, 1, 2}, {0}, {1}), {"to 2"});
    expect_refusal(arrays({0, 2, 1}, {0}, {1}), {"row_ptr"});
    expect_refusal(arrays({0, -1, 1}, {0}, {1}), {"decreases"});
    expect_refusal(arrays({0, 0, 1}, {0}, {1, 2}), {"1 columns but 2 values"});
    expect_refusal(arrays({0, 1, 1}, {5}, {1}), {"row 0, column 5"});
    expect_refusal(arrays({0, 1, 1}, {1}, {nan}), {"nan"});
}

TEST(CsrMatrix, SortsRowsLongerAndShorterThanItsInsertionSort)
{
    for (Index n : {0, 1, 2, 31, 32, 33, 200}) {
        std::vector<Index>  col, row(2 * n, 0);
        std::vector<double> val;
        for (int copy = 0; copy < 2; ++copy)  // every column twice, in two random orders
            for (Index j : random_permutation(n, 7 * copy + n)) {
                col.push_back(j);
                val.push_back(copy == 0 ? j : 1000);
            }
        const auto A = triplets(1, std::max(n, Index{1}), row, col, val);
        ASSERT_EQ(A.nnz(), n);
        EXPECT_EQ(broken_invariant(A), "");
        for (Index j = 0; j < n; ++j) EXPECT_EQ(A.at(0, j), j + 1000);
        EXPECT_TRUE(identical(A, CsrMatrix<double>::from_arrays(1, A.cols(), {0, 2 * n}, col, val)));
    }
}

TEST(CsrMatrix, AgreesWithADenseAccumulation)
{
    EXPECT_TRUE(rc::check("from_triplets = dense sums", [] {
        const auto          rows = *rc::gen::inRange<Index>(1, 20), cols = *rc::gen::inRange<Index>(1, 20);
        const auto          count = *rc::gen::inRange(0, 200);
        Random              random(*rc::gen::arbitrary<std::uint64_t>());
        Dense               D{rows, cols, std::vector<double>(rows * cols, 0)};
        std::vector<Index>  row, col;
        std::vector<double> val;
        for (int k = 0; k < count; ++k) {
            row.push_back(random.below(rows)), col.push_back(random.below(cols)), val.push_back(random.uniform());
            D(row.back(), col.back()) += val.back();
        }
        const auto A = triplets(rows, cols, row, col, val);
        RC_ASSERT(broken_invariant(A) == "");
        RC_ASSERT(to_dense(A) == D);
    }));
}

TEST(Transpose, TwiceIsTheIdentityAndOnceIsTheDenseTranspose)
{
    EXPECT_TRUE(rc::check("(Aᵀ)ᵀ = A", [] {
        const auto A = drawn_matrix();
        const auto At = transpose(A);
        RC_ASSERT(broken_invariant(At) == "");
        RC_ASSERT(to_dense(At) == transposed(to_dense(A)));
        RC_ASSERT(identical(transpose(At), A));
    }));
}

TEST(Permute, MovesEachEntryWhereItsDefinitionSays)
{
    const auto               A = triplets(3, 3, {0, 1, 2, 2}, {1, 0, 0, 2}, {1, 2, 3, 4});
    const std::vector<Index> p{2, 0, 1}, q{1, 2, 0};  // B(i, j) = A(p[i], q[j])
    EXPECT_EQ(to_dense(permute<double>(A, p, q)).a, (std::vector<double>{0, 4, 3, 1, 0, 0, 0, 0, 2}));
}

TEST(Permute, IsUndoneByTheInversePermutations)
{
    EXPECT_TRUE(rc::check("permute back", [] {
        const auto A = drawn_matrix();
        const auto p = random_permutation(A.rows(), *rc::gen::arbitrary<std::uint64_t>());
        const auto q = random_permutation(A.cols(), *rc::gen::arbitrary<std::uint64_t>());
        const auto B = permute<double>(A, p, q);
        RC_ASSERT(broken_invariant(B) == "");
        for (Index i = 0; i < B.rows(); ++i)
            for (Index j = 0; j < B.cols(); ++j) RC_ASSERT(B.at(i, j) == A.at(p[i], q[j]));
        RC_ASSERT(identical(permute<double>(B, inverse_permutation(p), inverse_permutation(q)), A));
        RC_ASSERT(identical(permute<double>(A, {}, {}), A));
    }));
}

TEST(Permute, RefusesWhatIsNoPermutationOfRowsOrColumns)
{
    const auto               A = CsrMatrix<double>::identity(3);
    const std::vector<Index> good{2, 1, 0}, twice{0, 0, 1}, outside{0, 1, 3}, negative{0, -1, 2}, brief{0, 1};
    for (const auto& bad : {twice, outside, negative}) {
        expect_refusal([&] { permute<double>(A, bad, good); }, {"not a permutation of 0..2"});
        expect_refusal([&] { permute<double>(A, good, bad); }, {"not a permutation of 0..2"});
        expect_refusal([&] { inverse_permutation(bad); }, {"not a permutation"});
    }
    expect_refusal([&] { permute<double>(A, brief, good); }, {"2 rows", "3 x 3"});
    EXPECT_TRUE(inverse_permutation({}).empty());
}

TEST(ScaleRowsCols, MultipliesEachEntryByItsFactors)
{
    auto                      A = triplets(2, 2, {0, 0, 1}, {0, 1, 1}, {1, 2, 3});
    const std::vector<double> r{2, 5}, c{7, 11};
    scale_rows_cols<double>(A, r, c);
    EXPECT_EQ(to_dense(A).a, (std::vector<double>{14, 44, 0, 165}));
    scale_rows_cols<double>(A, {}, {});
    EXPECT_EQ(A.at(1, 1), 165);
    expect_refusal([&] { scale_rows_cols<double>(A, std::vector<double>{1}, c); }, {"1 row", "2 x 2"});
    expect_refusal(
        [&] {
            scale_rows_cols<double>(A, std::vector<double>{1, 1e308}, c);
        },
        {"row 2, column 2 (counted from 1)", "inf"});
}

TEST(Symmetry, IsOfValuesOrOfThePatternAlone)
{
    EXPECT_TRUE(is_symmetric(random_spd(33, 3, 1)));
    const auto A = triplets(2, 2, {0, 1}, {1, 0}, {1, 2});
    EXPECT_FALSE(is_symmetric(A));
    EXPECT_TRUE(is_pattern_symmetric(A));
    const auto zero_stored = triplets(2, 2, {0}, {1}, {0});  // symmetric as numbers, not as a pattern
    EXPECT_FALSE(is_pattern_symmetric(zero_stored));
    EXPECT_FALSE(is_symmetric(random_matrix(3, 4, 2, 1)));
    EXPECT_FALSE(is_symmetric(triplets(3, 2, {0, 1}, {1, 0}, {1, 1})));  // symmetric but for its shape
    EXPECT_FALSE(is_symmetric(triplets(2, 3, {0, 1}, {1, 0}, {1, 1})));
    EXPECT_TRUE(is_symmetric(CsrMatrix<double>()));
}

TEST(PositiveDiagonal, HasNeitherZerosNorGaps)
{
    EXPECT_TRUE(has_positive_diagonal(triplets(2, 2, {0, 1, 1}, {0, 0, 1}, {5e-324, -1, 2})));
    for (double other : {0., -0., -1.})
        EXPECT_FALSE(has_positive_diagonal(triplets(2, 2, {0, 1}, {0, 1}, {1, other}))) << other;
    EXPECT_FALSE(has_positive_diagonal(triplets(2, 2, {0}, {0}, {1})));
    EXPECT_TRUE(has_positive_diagonal(CsrMatrix<double>()));
}

TEST(CsrMatrix, LeaksNothingWhenMemoryRunsOut)
{
    const auto A = random_matrix(40, 40, 40, 3);
    const auto p = random_permutation(40, 1);
    EXPECT_GE(fail_each_allocation([&] { permute<double>(transpose(A), p, p); }), 6);
    std::vector<Index>  row(A.col().begin(), A.col().end());
    std::vector<double> val(A.val().begin(), A.val().end());
    EXPECT_GE(fail_each_allocation([&] { CsrMatrix<double>::from_triplets(40, 40, row, row, val); }), 4);
}

}  // namespace
}  // namespace ilux::test
