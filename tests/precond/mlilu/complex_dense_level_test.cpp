// The dense last level for complex matrices, singular and indefinite ones included.

#include <gtest/gtest.h>

#include <vector>

#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {
namespace {

CsrMatrix<Complex> whole(Index n, const ComplexVector& a)
{
    std::vector<Index> row, col;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            row.push_back(i);
            col.push_back(j);
        }
    return CsrMatrix<Complex>::from_triplets(n, n, row, col, a);
}

ComplexVector product(Index n, const ComplexVector& A, const ComplexVector& x)
{
    ComplexVector y(n);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) y[i] += A[i * n + j] * x[j];
    return y;
}

ComplexVector solved(const DenseLevel<Complex>& level, const ComplexVector& b, bool adjoint = false)
{
    ComplexVector x(b.size(), Complex(nan, nan)), work(level.workspace());
    if (adjoint) level.solve_adjoint(b, x, work);
    else level.solve(b, x, work);
    return x;
}

/// X Yᴴ with X and Y of `rank` columns.
ComplexVector random_of_rank(Index n, Index rank)
{
    const auto    X = random_complex_vector(n * rank, 1), Y = random_complex_vector(n * rank, 2);
    ComplexVector S(n * n);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            for (Index k = 0; k < rank; ++k) S[i * n + j] += X[i * rank + k] * std::conj(Y[j * rank + k]);
    return S;
}

TEST(ComplexDenseLevel, OfASingularMatrixSolvesConsistentSystems)
{
    for (const auto& [n, rank] : {std::pair{2, 1}, {20, 7}, {33, 32}}) {
        const auto                S = random_of_rank(n, rank);
        const DenseLevel<Complex> level(whole(n, S), false);
        ASSERT_EQ(level.deficiency(), n - rank);
        const auto b = product(n, S, random_complex_vector(n, 3));
        EXPECT_LE(relative_difference(real_form(product(n, S, solved(level, b))), real_form(b)), 1e-11);
    }
}

TEST(ComplexDenseLevel, AdjointIsTheAdjointMapAlsoWhereRankIsMissing)
{
    for (const auto& [n, rank] : {std::pair{1, 1}, {20, 20}, {20, 7}}) {
        const DenseLevel<Complex> level(whole(n, random_of_rank(n, rank)), false);
        const auto                r = random_complex_vector(n, 3), s = random_complex_vector(n, 4);
        const auto                z = solved(level, r), t = solved(level, s, true);
        Complex                   one = 0, two = 0;
        double                    size = 0;
        for (Index i = 0; i < n; ++i) {
            one += std::conj(z[i]) * s[i];
            two += std::conj(r[i]) * t[i];
            size += std::abs(z[i] * s[i]) + std::abs(r[i] * t[i]);
        }
        EXPECT_LE(std::abs(one - two), 1e-12 * size) << "rank " << rank << " of " << n;
    }
}

/// By hand: S = [0 i; −i 0] has the eigenvalues ±1, so |S| = I.
TEST(ComplexDenseLevel, TakesTheModulusOfAnIndefiniteHermitianMatrix)
{
    const Complex             i(0, 1);
    const DenseLevel<Complex> level(whole(2, {0, i, -i, 0}), true);
    const ComplexVector       b{{1, 2}, {-3, 1}};
    EXPECT_LE(relative_difference(real_form(solved(level, b)), real_form(b)), 8 * eps);
    EXPECT_LE(relative_difference(real_form(solved(level, b, true)), real_form(b)), 8 * eps);
}

}  // namespace
}  // namespace ilux::test
