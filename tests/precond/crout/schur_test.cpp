#include "ilux/precond/crout/schur.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::identical;
using test::to_dense;

struct Blocks {
    CsrMatrix<> C, L_G;
    Vector      d;
    CsrMatrix<> U_F;
};

Blocks random_blocks(Index nB, Index nC, std::uint64_t seed)
{
    return {test::random_matrix(nC, nC, 4, seed), test::random_matrix(nC, nB, 3, seed + 1),
            test::random_vector(nB, seed + 2), test::random_matrix(nB, nC, 3, seed + 3)};
}

Blocks symmetric_blocks(Index nB, Index nC, std::uint64_t seed)
{
    const auto U_F = test::random_matrix(nB, nC, 3, seed);
    return {test::random_spd(nC, 3, seed + 1), transpose(U_F), test::random_vector(nB, seed + 2), U_F};
}

CsrMatrix<> schur(const Blocks& in, double drop_tol, bool symmetric = false, int threads = 1)
{
    Cpu be(threads);
    return schur_complement(be, in.C, in.L_G, in.d, in.U_F, drop_tol, symmetric);
}

Dense dense_schur(const Blocks& in)
{
    return plus(to_dense(in.C), multiply(multiply(to_dense(in.L_G), diagonal(in.d)), to_dense(in.U_F)), -1);
}

double largest_of_row(const Dense& S, Index i)
{
    double max = 0;
    for (Index j = 0; j < S.cols; ++j) max = std::max(max, std::abs(S(i, j)));
    return max;
}

TEST(Schur, IsCMinusLDUOfTheDenseBlocks)
{
    for (Index nC : awkward_sizes)
        for (Index nB : awkward_sizes) {
            const auto in = random_blocks(nB, nC, 10 * nB + nC);
            const auto S = schur(in, 0);
            EXPECT_EQ(test::broken_invariant(S), "");
            EXPECT_LE(largest_difference(to_dense(S), dense_schur(in)), 1e-14) << nB << " + " << nC;
        }
}

TEST(Schur, DropsRelativeToTheRowAndKeepsTheDiagonal)
{
    // S = C − (1, 2)ᵀ 2 (1, 0, 3/2): rows (8, 1, −3), (−4, ½, −5), and C alone for the third.
    const Blocks in{dense(3, {10, 1, 0, 0, 0.5, 1, 0.01, 1, 0.001}),
                    test::to_csr({3, 1, {1, 2, 0}}),
                    {2},
                    test::to_csr({1, 3, {1, 0, 1.5}})};
    EXPECT_EQ(to_dense(schur(in, 0)), (Dense{3, 3, {8, 1, -3, -4, 0.5, -5, 0.01, 1, 0.001}}));
    EXPECT_EQ(to_dense(schur(in, 0.125)), (Dense{3, 3, {8, 0, -3, -4, 0.5, -5, 0, 1, 0.001}}));  // 1 ≤ 8/8
    EXPECT_EQ(to_dense(schur(in, 0.9)), (Dense{3, 3, {8, 0, 0, 0, 0.5, -5, 0, 1, 0.001}}));
}

TEST(Schur, DropsWhatTheRuleNamesAndNothingElse)
{
    for (double drop_tol : {0.01, 0.1, 0.5})
        for (Index nC : awkward_sizes) {
            const auto  in = random_blocks(30, nC, nC);
            const auto  S = schur(in, drop_tol);
            const Dense all = dense_schur(in);
            Index       dropped = 0;
            for (Index i = 0; i < nC; ++i)
                for (Index j = 0; j < nC; ++j) {
                    const bool small = std::abs(all(i, j)) <= drop_tol * largest_of_row(all, i);
                    EXPECT_NEAR(S.at(i, j), small && i != j ? 0 : all(i, j), 1e-14);
                    if (small && all(i, j) != 0 && i != j) ++dropped;
                }
            EXPECT_TRUE(nC < 31 || dropped > 0);
        }
}

TEST(Schur, TakesRoundingNoiseForNothingWhateverTheSizeOfTheRow)
{
    // 0.3 − 0.1 · 3 is 5.6e-17 for rounding alone; beside it 1e-9 is a number, however small the unit.
    for (double unit : {1., 0x1p-40, 0x1p40}) {
        const Blocks in{dense(2, {0.3 * unit, 1e-9 * unit, 0, unit}),
                        test::to_csr({2, 1, {0.1, 0}}),
                        {unit},
                        test::to_csr({1, 2, {3, 0}})};
        EXPECT_EQ(to_dense(schur(in, 0)), (Dense{2, 2, {0, 1e-9 * unit, 0, unit}})) << unit;
    }
}

TEST(Schur, DropsOfASymmetricMatrixWhatIsSmallInItsRowAndInItsColumn)
{
    // At ⅛ the entry 1 is small in the rows of 8 and 16, not in the row of 4.
    const Blocks in{dense(3, {8, 1, 0, 1, 16, 1, 0, 1, 4}),
                    test::to_csr({3, 1, {0, 0, 0}}),
                    {1},
                    test::to_csr({1, 3, {0, 0, 0}})};
    EXPECT_EQ(to_dense(schur(in, 0.125, true)), (Dense{3, 3, {8, 0, 0, 0, 16, 1, 0, 1, 4}}));
}

TEST(Schur, StaysSymmetricToTheLastBit)
{
    for (double drop_tol : {0., 0.01, 0.1, 0.5})
        for (Index nC : awkward_sizes) {
            const auto  in = symmetric_blocks(40, nC, nC);
            const auto  S = schur(in, drop_tol, true);
            const Dense all = dense_schur(in);
            EXPECT_TRUE(is_symmetric(S)) << "n = " << nC << ", drop_tol " << drop_tol;
            for (Index i = 0; i < nC; ++i)
                for (Index j = 0; j < nC; ++j) {
                    const double least = std::min(largest_of_row(all, i), largest_of_row(all, j));
                    const bool   small = i != j && std::abs(all(i, j)) <= drop_tol * least;
                    EXPECT_NEAR(S.at(i, j), small ? 0 : all(i, j), 1e-13);
                }
        }
}

TEST(Schur, DoesNotDependOnTheThreads)
{
    for (bool symmetric : {false, true}) {
        const auto in = symmetric ? symmetric_blocks(900, 700, 1) : random_blocks(900, 700, 1);
        const auto one = schur(in, 0.02, symmetric);
        EXPECT_GT(one.nnz(), 700);
        for (int threads : {1, 2, 3, 8}) EXPECT_TRUE(identical(schur(in, 0.02, symmetric, threads), one)) << threads;
    }
}

TEST(Schur, OfNothingEliminatedIsC)
{
    const auto C = test::random_matrix(33, 33, 5, 3);
    EXPECT_TRUE(identical(
        schur({C, CsrMatrix<>::from_triplets(33, 0, {}, {}, {}), {}, CsrMatrix<>::from_triplets(0, 33, {}, {}, {})}, 0),
        C));
}

TEST(Schur, LeavesAnEmptyRowEmpty)
{
    const Blocks in{dense(2, {0, 0, 1, 2}), test::to_csr({2, 1, {0, 1}}), {1}, test::to_csr({1, 2, {1, 1}})};
    const auto   S = schur(in, 0.1);
    EXPECT_EQ(S.row_ptr()[1], 0);
    EXPECT_EQ(to_dense(S), (Dense{2, 2, {0, 0, 0, 1}}));
}

}  // namespace
}  // namespace ilux
