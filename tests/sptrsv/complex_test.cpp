// Complex triangular systems on the host: the solution is that of a dense elimination of the real form.

#include <gtest/gtest.h>

#include "ilux/sptrsv/sptrsv.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {
namespace {

/// A triangle with complex entries, diagonally dominant where the diagonal is stored.
CsrMatrix<Complex> complex_triangle(Index n, Triangle triangle, Diagonal diagonal)
{
    Random             random(static_cast<std::uint64_t>(n));
    std::vector<Index> row, col;
    ComplexVector      val;
    const auto         add = [&](Index i, Index j, Complex value) {
        row.push_back(i);
        col.push_back(j);
        val.push_back(value);
    };
    for (Index i = 0; i < n; ++i) {
        if (diagonal == Diagonal::stored) add(i, i, std::polar(3., random.uniform(0, 6)));
        for (Index k = 1; k <= 3; ++k) {
            const Index j = triangle == Triangle::lower ? i - k * k : i + k * k;
            if (j >= 0 && j < n) add(i, j, std::polar(0.5, random.uniform(0, 6)));
        }
    }
    return CsrMatrix<Complex>::from_triplets(n, n, row, col, val);
}

CsrMatrix<Complex> with_unit_diagonal(const CsrMatrix<Complex>& A)
{
    std::vector<Index> row, col(A.col().begin(), A.col().end());
    ComplexVector      val(A.val().begin(), A.val().end());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) row.push_back(i);
    for (Index i = 0; i < A.rows(); ++i) {
        row.push_back(i);
        col.push_back(i);
        val.emplace_back(1);
    }
    return CsrMatrix<Complex>::from_triplets(A.rows(), A.rows(), row, col, val);
}

TEST(ComplexSpTrsv, SolvesWithTheTriangleItsTransposeAndItsAdjoint)
{
    const SpTrsvOptions engines[] = {{.engine = SpTrsvEngine::serial},
                                     {.transposable = true, .wide_level = 1},
                                     {.transposable = false, .wide_level = 1}};
    for (Index n : {0, 1, 33, 60})
        for (Triangle triangle : {Triangle::lower, Triangle::upper})
            for (Diagonal diagonal : {Diagonal::unit, Diagonal::stored}) {
                const auto A = complex_triangle(n, triangle, diagonal);
                const auto whole = diagonal == Diagonal::unit ? with_unit_diagonal(A) : A;
                const auto b = random_complex_vector(n, 1);
                const auto right = real_form(b);
                const auto expected = dense_solve(real_form(whole), right);
                const auto expected_t = dense_solve(real_form(transpose(whole)), right);
                const auto expected_h = dense_solve(to_csr(transposed(to_dense(real_form(whole)))), right);
                for (const auto& options : engines) {
                    Cpu                       be(2);
                    const SpTrsvPlan<Complex> plan(A, triangle, diagonal, options);
                    ComplexVector             x(n), x_t(n), x_h(n);
                    plan.solve(be, b, x);
                    plan.solve_transpose(be, b, x_t);
                    plan.solve_adjoint(be, b, x_h);
                    EXPECT_LE(relative_difference(real_form(x), expected), 1e3 * eps) << "n = " << n;
                    EXPECT_LE(relative_difference(real_form(x_t), expected_t), 1e3 * eps) << "n = " << n;
                    EXPECT_LE(relative_difference(real_form(x_h), expected_h), 1e3 * eps) << "n = " << n;
                }
            }
}

TEST(ComplexSpTrsv, SolvesManySystemsAtOnceWithValuesStoredInFloat)
{
    const Index                      n = 40, k = 6;
    const auto                       A = complex_triangle(n, Triangle::lower, Diagonal::stored);
    std::vector<std::complex<float>> rounded;
    ComplexVector                    widened;
    for (const Complex value : A.val()) {
        rounded.emplace_back(value);
        widened.emplace_back(rounded.back());
    }
    const std::vector<Offset>             row_ptr(A.row_ptr().begin(), A.row_ptr().end());
    const std::vector<Index>              col(A.col().begin(), A.col().end());
    const SpTrsvPlan<std::complex<float>> stored(CsrMatrix<std::complex<float>>::from_arrays(n, n, row_ptr, col,
                                                                                             rounded),
                                                 Triangle::lower, Diagonal::stored);
    const SpTrsvPlan<Complex> same(CsrMatrix<Complex>::from_arrays(n, n, row_ptr, col, widened), Triangle::lower,
                                   Diagonal::stored);
    const auto                b = random_complex_vector(n * k, 2);
    ComplexVector             x(b.size()), expected(b.size());
    Cpu                       be(1);
    stored.solve_adjoint(be, b, x);
    same.solve_adjoint(be, b, expected);
    EXPECT_EQ(x, expected);
    stored.solve(be, b, x);
    same.solve(be, b, expected);
    EXPECT_EQ(x, expected);
}

TEST(ComplexSpTrsv, FindsTheFirstZeroPivot)
{
    const auto A = CsrMatrix<Complex>::from_arrays(2, 2, {0, 1, 2}, {0, 1}, {{0, 1}, 0});
    EXPECT_EQ(SpTrsvPlan<Complex>(A, Triangle::lower, Diagonal::stored).zero_pivot(), 1);
}

}  // namespace
}  // namespace ilux::test
