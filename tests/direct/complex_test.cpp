// LU of complex matrices on the host: factors, refactorization, solutions, judged by dense sums and by the real form.

#include <gtest/gtest.h>

#include <algorithm>

#include "ilux/direct/factor/pivot_monitor.hpp"
#include "ilux/tests/direct/complex_systems.hpp"

namespace ilux::test {
namespace {

/// |R A(row_perm, col_perm) C − L U − F| ≤ 4 n ε |L||U| entrywise.
void expect_factors_of(const LuFactors<Complex>& F, const CsrMatrix<Complex>& A)
{
    ASSERT_EQ(F.monitor.bad_column, -1);
    const LuPattern& P = *F.pattern;
    const Index      n = P.n;
    using Matrix = std::vector<ComplexVector>;
    Matrix L(n, ComplexVector(n)), U = L, above = L;
    for (Index k = 0; k < n; ++k) {
        L[k][k] = 1;
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) (p <= P.diag[k] ? U : L)[P.row[p]][k] = F.val[p];
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) above[P.f_row[p]][k] = F.f_val[p];
    }
    for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < n; ++k) {
            const Index  old_i = P.row_perm[i], old_k = P.col_perm[k];
            const double scale =
                (P.row_scale.empty() ? 1 : P.row_scale[old_i]) * (P.col_scale.empty() ? 1 : P.col_scale[old_k]);
            Complex difference = A.at(old_i, old_k) * scale - above[i][k];
            double  size = 0;
            for (Index m = 0; m < n; ++m) {
                difference -= L[i][m] * U[m][k];
                size += std::abs(L[i][m]) * std::abs(U[m][k]);
            }
            ASSERT_LE(std::abs(difference), 4 * n * eps * size) << "row " << i << ", column " << k << ", n = " << n;
        }
}

TEST(ComplexLu, FactorsReproduceTheMatrix)
{
    const LuOptions ways[] = {{},
                              {.ordering = LuOrdering::none, .matching = LuMatching::off, .scaling = LuScaling::none},
                              {.matching = LuMatching::on, .scaling = LuScaling::matching},
                              {.matching = LuMatching::off, .blocks = false, .pivot_tol = 1}};
    for (const Index n : orders)
        for (const LuOptions& options : ways) {
            const auto A = complex_system(n, n);
            expect_factors_of(factor(A, options), A);
        }
}

TEST(ComplexLu, BoundsMultipliersByTheirAbsoluteValues)
{
    for (const double pivot_tol : {1., 0.1}) {
        const LuOptions options{.matching = LuMatching::off, .pivot_tol = pivot_tol};
        const auto      F = factor(complex_system(90, 3), options);
        EXPECT_EQ(judge(F.monitor, options), PivotState::good);
        EXPECT_GT(F.monitor.max_multiplier, 0.5);
    }
}

TEST(ComplexLu, WithoutImaginaryPartsHasThePivotsOfTheRealOne)
{
    for (const Index n : orders) {
        const auto real = real_parts(complex_system(n, 7));
        const auto val = widened(real.val());
        const auto A = MatrixView<Complex>{n, real.row_ptr(), real.col(), val};
        const auto F = gilbert_peierls<Complex>(analyse(A), val);
        const auto expected = gilbert_peierls(analyse(view(real)), real.val());
        EXPECT_EQ(F.pattern->row_perm, expected.pattern->row_perm);
        EXPECT_EQ(F.pattern->col_perm, expected.pattern->col_perm);
        EXPECT_EQ(F.pattern->row_scale, expected.pattern->row_scale);
        ASSERT_EQ(F.pattern->row, expected.pattern->row);
        for (std::size_t p = 0; p < F.val.size(); ++p) {
            EXPECT_EQ(F.val[p].imag(), 0);
            EXPECT_LE(std::abs(F.val[p] - expected.val[p]), 1e-9 * std::abs(expected.val[p]) + 1e-12) << "n = " << n;
        }
    }
}

TEST(ComplexLu, LooksAtDuplicatesAddedWhenItChoosesTheDiagonal)
{
    const std::vector<Offset> ptr{0, 3, 5};
    const std::vector<Index>  col{0, 0, 1, 0, 1};
    const ComplexVector       val{{0, 1}, {0, -1}, 1, 1, {0, 1}};  // [0 1; 1 i]
    const auto                symbolic = analyse(MatrixView<Complex>{2, ptr, col, val});
    for (Index k = 0; k < 2; ++k) EXPECT_NE(symbolic->row_perm[k], symbolic->col_perm[k]);
}

TEST(ComplexLu, NamesTheColumnOfAZeroPivot)
{
    const auto A = CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, {0, 1}, {0, 1}, -1});
    const auto F = factor(A, {.ordering = LuOrdering::none, .matching = LuMatching::off});
    EXPECT_EQ(F.monitor.bad_column, 1);
    EXPECT_FALSE(F.monitor.not_finite);
}

TEST(ComplexLu, RefusesNaNInEitherPart)
{
    const auto A = complex_system(5, 1);
    const auto symbolic = analyse(view(A));
    for (const Complex bad : {Complex(nan, 0), Complex(0, nan), Complex(0, infinity)}) {
        ComplexVector val(A.val().begin(), A.val().end());
        val[A.row_ptr()[3]] = bad;
        expect_refusal([&] { gilbert_peierls<Complex>(symbolic, val); }, {"row 3", "column"});
        auto with_bad = view(A);
        with_bad.val = val;
        expect_refusal([&] { analyse(with_bad); }, {"row 3", "column"});
    }
}

}  // namespace
}  // namespace ilux::test
