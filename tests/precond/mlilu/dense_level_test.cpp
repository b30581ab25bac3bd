#include "ilux/precond/mlilu/dense_level.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::eps;
using test::to_dense;

Vector solve(const DenseLevel<>& level, const Vector& b, bool transpose = false)
{
    Vector x(b.size(), std::nan("")), work(level.workspace());
    if (transpose) level.solve_adjoint(b, x, work);
    else level.solve(b, x, work);
    return x;
}

/// The matrix that solve() applies.
Dense inverse_of(const DenseLevel<>& level, bool transpose = false)
{
    Dense X = zeros(level.size(), level.size());
    for (Index j = 0; j < X.rows; ++j) {
        Vector e(X.rows);
        e[j] = 1;
        const Vector x = solve(level, e, transpose);
        for (Index i = 0; i < X.rows; ++i) X(i, j) = x[i];
    }
    return X;
}

TEST(DenseLevel, SolvesRegularSystemsAndTheirTransposes)
{
    for (Index n : awkward_sizes)
        for (const auto& [name, A] : regular_matrices(n, n)) {
            const DenseLevel<> level(A, false);
            const Vector       b = test::random_vector(n, 5);
            EXPECT_EQ(level.deficiency(), 0) << name << " " << n;
            EXPECT_LE(test::backward_error(A, solve(level, b), b), 1e-13) << name << " " << n;
            EXPECT_LE(test::backward_error(transpose(A), solve(level, b, true), b), 1e-13) << name << " " << n;
            EXPECT_EQ(level.stored(), Offset{n} * n);
            EXPECT_GT(level.rcond(), 0);
        }
}

TEST(DenseLevel, OfOrderZeroAndOne)
{
    const DenseLevel none, empty(CsrMatrix<>(), false);
    EXPECT_EQ(none.size(), 0);
    EXPECT_EQ(empty.size(), 0);
    EXPECT_EQ(empty.deficiency(), 0);
    EXPECT_TRUE(solve(empty, {}).empty());
    const DenseLevel<> four(dense(1, {-4}), false);
    EXPECT_EQ(solve(four, {2}), Vector{-0.5});
    EXPECT_EQ(solve(four, {2}, true), Vector{-0.5});
    const DenseLevel<> zero(CsrMatrix<>::from_triplets(1, 1, {}, {}, {}), false);
    EXPECT_EQ(zero.deficiency(), 1);
    EXPECT_EQ(solve(zero, {2}), Vector{2});
}

TEST(DenseLevel, EstimatesTheConditionOfAHandMatrix)
{
    // [1 1; 1 −1]: ‖S‖₁ = 2, ‖S⁻¹‖₁ = 1.
    EXPECT_NEAR(DenseLevel(dense(2, {1, 1, 1, -1}), false).rcond(), 0.5, 4 * eps);
}

TEST(DenseLevel, SolvesInPlace)
{
    const auto         A = random_regular(33, 5, 4);
    const DenseLevel<> level(A, false);
    const Vector       b = test::random_vector(33, 6);
    Vector             x = b, work(level.workspace());
    level.solve(x, x, work);
    EXPECT_TRUE(test::identical(x, solve(level, b)));
    x = b;
    level.solve_adjoint(x, x, work);
    EXPECT_TRUE(test::identical(x, solve(level, b, true)));
}

TEST(DenseLevel, IsNotMisledByScale)
{
    for (double size : {1e-100, 1e100}) {
        const auto         A = times(random_regular(20, 4, 2), size);
        const DenseLevel<> level(A, false);
        const Vector       b = test::random_vector(20, 3);
        EXPECT_EQ(level.deficiency(), 0);
        EXPECT_LE(test::backward_error(A, solve(level, b), b), 1e-13);
        EXPECT_LE(test::backward_error(transpose(A), solve(level, b, true), b), 1e-13);
    }
}

TEST(DenseLevel, IsNotMisledByRowsOrColumnsOfVeryDifferentSize)
{
    for (double decades : {5., 20., 100.})
        for (bool rows : {false, true}) {
            const auto   A = random_regular(20, 4, 2);
            const Vector size = sizes(20, decades, 7), none;
            auto         graded = A;
            scale_rows_cols(graded, rows ? size : none, rows ? none : size);
            const DenseLevel<> level(graded, false);
            EXPECT_EQ(level.deficiency(), 0) << "1e±" << decades << (rows ? " rows" : " columns");
            const Vector y =
                test::random_vector(20, 1);  // graded: x = y for rows; else column j's unknown is y_j / size_j
            Vector b = multiply(to_dense(A), y);
            for (Index i = 0; rows && i < 20; ++i) b[i] *= size[i];
            Vector x = solve(level, b);
            for (Index i = 0; i < 20; ++i) (rows ? b[i] : x[i]) *= rows ? 1 / size[i] : size[i];
            EXPECT_LE(test::backward_error(A, x, b), 1e-12) << "1e±" << decades << (rows ? " rows" : " columns");
        }
}

/// n×n of rank `rank` exactly in structure and to rounding in numbers.
Dense random_of_rank(Index n, Index rank, std::uint64_t seed)
{
    const Dense X{n, rank, test::random_vector(n * rank, seed)}, Y{rank, n, test::random_vector(n * rank, seed + 1)};
    return multiply(X, Y);
}

TEST(DenseLevel, OfASingularMatrixSolvesConsistentSystems)
{
    for (Index n : {2, 3, 31, 32, 33})
        for (Index rank : {1, n / 2, n - 1}) {
            const Dense        S = random_of_rank(n, rank, n);
            const auto         A = test::to_csr(S);
            const DenseLevel<> level(A, false);
            EXPECT_EQ(level.deficiency(), n - rank);
            EXPECT_EQ(level.rcond(), 0);
            const Vector x = test::random_vector(n, 3);
            const Vector b = multiply(S, x), bt = multiply(test::transposed(S), x);
            EXPECT_LE(test::backward_error(A, solve(level, b), b), 1e-11) << n << " of rank " << rank;
            EXPECT_LE(test::backward_error(transpose(A), solve(level, bt, true), bt), 1e-11)
                << n << " of rank " << rank;
        }
}

TEST(DenseLevel, OfASingularMatrixIsARegularGeneralizedInverse)
{
    for (Index n : {3, 10, 32}) {
        const Dense        S = random_of_rank(n, n / 2, n + 50);
        const DenseLevel<> level(test::to_csr(S), false);
        const Dense        X = inverse_of(level), M = inverse(X);
        EXPECT_LE(largest_difference(multiply(multiply(S, X), S), S), 1e-10 * largest(S) * largest(X));
        EXPECT_LE(largest(M) * largest(X), 1e6);  // regular: M is S but for n/2 directions where it is about 1
    }
}

TEST(DenseLevel, TransposeIsTheTransposedMap)
{
    for (Index n : awkward_sizes) {
        auto matrices = regular_matrices(n, n + 7);
        for (const auto& singular : singular_matrices(n, n + 7)) matrices.push_back(singular);
        if (n > 0) matrices.push_back({"half rank", test::to_csr(random_of_rank(n, (n + 1) / 2, n))});
        for (const auto& [name, A] : matrices) {
            const DenseLevel<> level(A, false);
            const Dense        X = inverse_of(level), Y = test::transposed(inverse_of(level, true));
            EXPECT_LE(largest_difference(X, Y), 1e-11 * largest(X)) << name << " " << n;
        }
    }
}

TEST(DenseLevel, PairsEmptyRowsWithEmptyColumns)
{
    // Row 1 and columns 0 and 2 are empty; rows 0, 2, 3 of columns 1, 3 are [2 1; 0 4; 1 3]: rank 2.
    const auto         A = dense(4, {0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 3});
    const DenseLevel<> level(A, false);
    EXPECT_EQ(level.deficiency(), 2);
    const Vector b = multiply(to_dense(A), Vector{7, 1, 7, 2});
    EXPECT_LE(test::backward_error(A, solve(level, b), b), 1e-15);
    EXPECT_NEAR(solve(level, b)[1], 1, 1e-14);
    EXPECT_NEAR(solve(level, b)[3], 2, 1e-14);
    const Vector bt = multiply(test::transposed(to_dense(A)), Vector{1, 7, 1, 2});
    EXPECT_LE(test::backward_error(transpose(A), solve(level, bt, true), bt), 1e-14);
    EXPECT_EQ(DenseLevel(transpose(A), false).deficiency(), 2);
    EXPECT_LE(largest(inverse(inverse_of(level))), 1e3);
}

TEST(DenseLevel, TakesAStoredZeroForNothing)
{
    const std::vector<Index> row{0, 0, 1}, col{0, 1, 1};
    const DenseLevel<>       level(CsrMatrix<>::from_triplets(2, 2, row, col, Vector{2, 0, 0}), false);
    EXPECT_EQ(level.deficiency(), 1);
    EXPECT_EQ(level.stored(), 1);
    EXPECT_EQ(solve(level, {4, 5}), (Vector{2, 5}));
}

TEST(DenseLevel, OfAnAllZeroMatrixIsTheIdentity)
{
    for (bool positive : {false, true}) {
        const DenseLevel<> level(CsrMatrix<>::from_triplets(5, 5, {}, {}, {}), positive);
        EXPECT_EQ(level.deficiency(), 5);
        EXPECT_EQ(solve(level, {1, 2, 3, 4, 5}), (Vector{1, 2, 3, 4, 5}));
        EXPECT_EQ(solve(level, {1, 2, 3, 4, 5}, true), (Vector{1, 2, 3, 4, 5}));
    }
}

TEST(DenseLevel, TakesTheAbsoluteValueWhereTheMatrixShouldBeDefiniteAndIsNot)
{
    // Eigenvalues 2 and −0.001 along (1, 1) and (1, −1).
    const double a = 0.9995, b = 1.0005;
    const auto   spoilt = dense(2, {a, b, b, a});
    const Dense  absolute = inverse_of(DenseLevel(spoilt, true));
    EXPECT_NEAR(absolute(0, 0), 500.25, 1e-8);  // (½ + 1000) / 2
    EXPECT_NEAR(absolute(0, 1), -499.75, 1e-8);
    EXPECT_NEAR(inverse_of(DenseLevel(spoilt, false))(0, 0), -499.75, 1e-8);
    // Eigenvalues 3 and −1: |S| = [2 1; 1 2].
    const auto indefinite = dense(2, {1, 2, 2, 1});
    EXPECT_LE(largest_difference(inverse_of(DenseLevel(indefinite, true)), {2, 2, {2. / 3, -1. / 3, -1. / 3, 2. / 3}}),
              1e-14);
    EXPECT_NEAR(inverse_of(DenseLevel(indefinite, false))(0, 0), -1. / 3, 1e-14);
}

TEST(DenseLevel, LeavesADefiniteMatrixAsItIs)
{
    for (Index n : awkward_sizes) {
        const auto A = test::random_spd(n, 3, n);
        EXPECT_LE(largest_difference(inverse_of(DenseLevel(A, true)), inverse(to_dense(A))), 1e-12);
    }
}

TEST(DenseLevel, IsDefiniteWhereItShouldBe)
{
    Dense S = to_dense(gallery::singular({.n = 5}));  // semidefinite
    for (double shift : {0., 1e-3, 1.}) {
        Dense shifted = S;
        for (Index i = 0; i < S.rows; ++i) shifted(i, i) -= shift;
        const Dense X = inverse_of(DenseLevel(test::to_csr(shifted), true));
        EXPECT_LE(largest_difference(X, test::transposed(X)), 1e-10 * largest(X)) << shift;
        EXPECT_TRUE(is_positive_definite(X)) << shift;
    }
}

TEST(DenseLevel, AllocatesNothingWhileSolving)
{
    const DenseLevel<> level(random_regular(20, 4, 1), false), truncated(test::to_csr(random_of_rank(20, 7, 1)), false);
    Vector             x(20, 1.), work(level.workspace() + truncated.workspace());
    const test::AllocationCounter counter;
    for (const auto* each : {&level, &truncated}) {
        each->solve(x, x, work);
        each->solve_adjoint(x, x, work);
    }
    EXPECT_EQ(counter.count(), 0);
}

}  // namespace
}  // namespace ilux
