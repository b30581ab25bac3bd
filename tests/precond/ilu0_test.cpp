#include "ilux/precond/ilu0.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::to_dense;

/// IKJ elimination on the pattern of A, dense: L below the diagonal, U on and above it.
Dense slow_ilu0(const CsrMatrix<>& A)
{
    Dense      LU = to_dense(A), pattern = zeros(A.rows(), A.cols());
    const auto row_ptr = A.row_ptr();
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) pattern(i, A.col()[p]) = 1;
    for (Index i = 0; i < A.rows(); ++i)
        for (Index k = 0; k < i; ++k) {
            if (pattern(i, k) == 0) continue;
            LU(i, k) /= LU(k, k);
            for (Index j = k + 1; j < A.cols(); ++j)
                if (pattern(i, j) != 0) LU(i, j) -= LU(i, k) * LU(k, j);
        }
    return LU;
}

Dense slow_product(const Dense& LU)
{
    Dense L = zeros(LU.rows, LU.rows), U = L;
    for (Index i = 0; i < LU.rows; ++i)
        for (Index j = 0; j < LU.rows; ++j) (j < i ? L : U)(i, j) = LU(i, j);
    return multiply(with_unit_diagonal(L), U);
}

TEST(Ilu0, SolvesWithTheFactorsOfTheSlowElimination)
{
    for (Index n : awkward_sizes)
        for (const auto& A : {test::random_dominant(n, 4, n), test::random_spd(n, 2, n)}) {
            Ilu0         M(A);
            const auto   LU = test::to_csr(slow_product(slow_ilu0(A)));
            const Vector r = test::random_vector(n, 3);
            ASSERT_EQ(M.zero_pivot(), -1);
            EXPECT_EQ(M.size(), n);
            EXPECT_EQ(M.nnz(), A.nnz());
            EXPECT_LE(test::backward_error(LU, applied(M, r), r), 1e-13) << "n = " << n;
            EXPECT_LE(test::backward_error(transpose(LU), applied(M, r, true), r), 1e-13) << "n = " << n;
        }
}

TEST(Ilu0, MatchesAOnItsPattern)
{
    // By hand: A = [4 1 0 1; 1 4 1 0; 0 1 4 1; 1 0 1 4]. The fill at (1, 3), (3, 1) is left out.
    const auto A = dense(4, {4, 1, 0, 1, 1, 4, 1, 0, 0, 1, 4, 1, 1, 0, 1, 4});
    Ilu0       M(A);
    const auto LU = inverse(as_dense(M));
    for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 4; ++j)
            EXPECT_NEAR(LU(i, j), A.at(i, j) != 0 ? A.at(i, j) : (i + j == 4 && i % 2 == 1 ? 0.25 : LU(i, j)), 1e-14);
    EXPECT_NEAR(LU(1, 3), 0.25, 1e-15);
}

TEST(Ilu0, OfATridiagonalMatrixIsItsLu)
{
    const auto           A = gallery::tridiagonal({.n = 200, .lower = -1.3, .diagonal = 2.5, .upper = -0.9});
    const MatrixOperator op(A);
    Ilu0                 M(A);
    Cpu                  be(1);
    const Vector         b = test::random_vector(200, 1);
    Vector               x(200);
    GmresWorkspace<Cpu>  ws(200, {});
    EXPECT_LE(test::backward_error(A, applied(M, b), b), 1e-15);
    const auto report = gmres<Cpu>(be, op, M, b, x, ws, {});
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.steps, 1);
}

TEST(Ilu0, ReportsTheFirstRowWithoutAPivot)
{
    EXPECT_EQ(Ilu0(dense(3, {1, 2, 0, 0, 3, 1, 4, 0, 5})).zero_pivot(), -1);
    EXPECT_EQ(Ilu0(dense(3, {0, 2, 0, 1, 3, 1, 4, 0, 5})).zero_pivot(), 0);
    EXPECT_EQ(Ilu0(dense(3, {1, 2, 0, 1, 2, 1, 4, 0, 0})).zero_pivot(), 1);  // 2 − 1·2
    EXPECT_EQ(Ilu0(dense(3, {1, 2, 0, 1, 3, 1, 0, 0, 0})).zero_pivot(), 2);
    const auto stored_zero = CsrMatrix<>::from_triplets(1, 1, std::vector<Index>{0}, std::vector<Index>{0}, Vector{0});
    EXPECT_EQ(Ilu0(stored_zero).zero_pivot(), 0);
}

TEST(Ilu0, KeepsStoredZerosInItsPattern)
{
    // The stored zero at (1, 2) takes the fill 0 − 2·3 that the same matrix without it loses.
    const std::vector<Index> row{0, 0, 0, 1, 1, 1, 2}, col{0, 1, 2, 0, 1, 2, 2};
    const auto               A = CsrMatrix<>::from_triplets(3, 3, row, col, Vector{1, 1, 3, 2, 5, 0, 1});
    Ilu0                     M(A);
    EXPECT_LE(largest_difference(inverse(as_dense(M)), to_dense(A)), 1e-14);
}

TEST(Ilu0, TransposeIsTheTransposedMap)
{
    for (Index n : awkward_sizes) {
        Ilu0        M(test::random_dominant(n, 3, n + 1));
        const Dense X = as_dense(M);
        EXPECT_LE(largest_difference(X, test::transposed(as_dense(M, true))), 1e-15 * n * largest(X));
    }
}

TEST(Ilu0, GivesTheSameBitsForAnyNumberOfThreadsAndAllocatesNothing)
{
    const auto   A = gallery::convdiff2d({.n = 130});
    Ilu0         M(A);
    const Vector r = test::random_vector(A.rows(), 2);
    const Vector one = applied(M, r), one_t = applied(M, r, true);
    for (int threads : {1, 2, 3, 8}) {
        EXPECT_TRUE(test::identical(applied(M, r, false, threads), one));
        EXPECT_TRUE(test::identical(applied(M, r, true, threads), one_t));
    }
    Cpu                           be(1);
    Vector                        z(r.size());
    const test::AllocationCounter counter;
    M.apply(be, r, z);
    M.apply_adjoint(be, r, z);
    EXPECT_EQ(counter.count(), 0);
}

TEST(Ilu0, RefusesARectangularMatrix)
{
    test::expect_refusal([] { Ilu0 M(test::random_matrix(3, 4, 2, 1)); }, {"square", "3 x 4"});
}

}  // namespace
}  // namespace ilux
