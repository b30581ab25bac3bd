// Solutions with factors of complex matrices, judged by a dense elimination of the real form and by residuals in long
// double.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/tests/direct/complex_systems.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

constexpr Transpose all_systems[] = {Transpose::no, Transpose::yes, Transpose::adjoint};

/// op(A) by rows, made the slow way.
CsrMatrix<Complex> op(const CsrMatrix<Complex>& A, Transpose transpose)
{
    return transpose == Transpose::no ? A : transpose == Transpose::yes ? ilux::transpose(A) : adjoint(A);
}

ComplexVector solved(const LuFactors<Complex>& F, std::span<const Complex> b, Transpose transpose)
{
    Cpu                  be(1);
    LuWorkspace<Complex> ws(F.pattern->n);
    ComplexVector        x(b.size());
    lu_solve(be, F, b, x, ws, transpose);
    return x;
}

TEST(ComplexLu, SolvesWithTheMatrixItsTransposeAndItsAdjoint)
{
    for (const Index n : orders) {
        const auto                 A = complex_system(n, n);
        const auto                 F = factor(A);
        const auto                 b = random_complex_vector(n, 1);
        std::vector<ComplexVector> x;
        for (const Transpose transpose : all_systems) {
            const auto expected = dense_solve(real_form(op(A, transpose)), real_form(b));
            x.push_back(solved(F, b, transpose));
            EXPECT_LE(relative_difference(real_form(x.back()), expected), 1e-10)
                << "n = " << n << ", system " << static_cast<int>(transpose);
        }
        if (n < 2) continue;
        EXPECT_GT(relative_difference(real_form(x[0]), real_form(x[1])), 0.1);
        EXPECT_GT(relative_difference(real_form(x[1]), real_form(x[2])), 0.1);
        EXPECT_GT(relative_difference(real_form(x[2]), real_form(x[0])), 0.1);
    }
}

TEST(ComplexLu, SolvesTheAdjointAsTheRealFormsTranspose)
{
    const Index   n = 33;
    const auto    A = complex_system(n, 4);
    const auto    wide = real_form(A);
    const auto    F = factor(A);
    const auto    real = gilbert_peierls(analyse(view(wide)), wide.val());
    const auto    b = random_complex_vector(n, 2);
    Cpu           be(1);
    LuWorkspace<> ws(2 * n);
    Vector        x(2 * n);
    lu_solve(be, real, real_form(b), x, ws);
    EXPECT_LE(relative_difference(real_form(solved(F, b, Transpose::no)), x), 1e-11);
    lu_solve(be, real, real_form(b), x, ws, Transpose::yes);
    EXPECT_LE(relative_difference(real_form(solved(F, b, Transpose::adjoint)), x), 1e-11);
    Vector same(2 * n);
    lu_solve(be, real, real_form(b), same, ws, Transpose::adjoint);
    EXPECT_EQ(same, x);
}

TEST(ComplexLu, GivesManySystemsTheBitsOfEachAlone)
{
    const Index n = 61;
    const auto  F = factor(complex_system(n, 5));
    for (const Index rhs : {2, 4, 11})
        for (const Transpose transpose : all_systems) {
            Cpu                  be(2);
            LuWorkspace<Complex> ws(n, rhs);
            const auto           b = random_complex_vector(n * rhs, 6);
            ComplexVector        x(b.size()), one_by_one;
            lu_solve(be, F, b, x, ws, transpose);
            for (Index c = 0; c < rhs; ++c)
                for (const Complex value : solved(F, std::span(b).subspan(std::size_t(c) * n, n), transpose))
                    one_by_one.push_back(value);
            EXPECT_EQ(x, one_by_one) << rhs << " right-hand sides";
        }
}

/// max_i |b − A x|_i / (|A||x| + |b|)_i in long double.
double largest_componentwise_error(const CsrMatrix<Complex>& A, std::span<const Complex> x, std::span<const Complex> b)
{
    using Wide = std::complex<long double>;
    double worst = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        Wide        r = b[i];
        long double size = std::abs(r);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Wide product = Wide(A.val()[p]) * Wide(x[A.col()[p]]);
            r -= product;
            size += std::abs(product);
        }
        worst = std::max(worst, static_cast<double>(std::abs(r) / size));
    }
    return worst;
}

/// Every row of A and b times 2^exponent.
CsrMatrix<Complex> scaled(const CsrMatrix<Complex>& A, int exponent)
{
    ComplexVector val;
    for (const Complex a : A.val()) val.emplace_back(std::ldexp(a.real(), exponent), std::ldexp(a.imag(), exponent));
    return CsrMatrix<Complex>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                           {A.col().begin(), A.col().end()}, val);
}

TEST(ComplexLu, RefinementReachesRoundingErrorsComponentByComponent)
{
    const Index n = 90;
    const auto  plain = complex_system(n, 8);
    for (const int exponent :
         {0, -1000, 1020})  // the last two: sizes that under- or overflow where they are not scaled
        for (const Transpose transpose : all_systems)
            for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::columns}) {
                if (exponent > 1000 && transpose != Transpose::no) continue;  // A⁻ᵀ R⁻¹ b overflows before it is scaled
                const auto stored = scaled(layout == MatrixLayout::rows ? plain : ilux::transpose(plain), exponent);
                auto       A = view(stored);
                A.layout = layout;
                const auto    F = gilbert_peierls<Complex>(analyse(A), A.val);
                ComplexVector b;
                for (const Complex value : random_complex_vector(n, 9)) b.push_back(std::ldexp(1., exponent) * value);
                auto                 x = solved(F, b, transpose);
                Cpu                  be(1);
                LuWorkspace<Complex> ws(n);
                for (Index i = 0; i < n; ++i) x[i] *= Complex(1 + 1e-7, 1e-7 * i);
                const RefineReport report = lu_refine(be, F, A, b, x, ws, transpose);
                EXPECT_GE(report.steps, 1);
                EXPECT_GT(report.first_errors[0], 1e-8);
                EXPECT_TRUE(report.finite);
                EXPECT_LE(report.backward_error, 1e-14);
                EXPECT_LE(largest_componentwise_error(op(scaled(plain, exponent), transpose), x, b), 1e-14)
                    << "2^" << exponent << ", system " << static_cast<int>(transpose);
            }
}

TEST(ComplexLu, WithoutImaginaryPartsHasTheSolutionOfTheRealOne)
{
    const Index n = 90;
    const auto  real = real_parts(complex_system(n, 10));
    const auto  val = widened(real.val());
    const auto  b = random_vector(n, 11);
    const auto  A = MatrixView<Complex>{n, real.row_ptr(), real.col(), val};
    const auto  F = gilbert_peierls<Complex>(analyse(A), val);
    const auto  F_real = gilbert_peierls(analyse(view(real)), real.val());
    for (const Transpose transpose : all_systems) {
        Cpu                  be(1);
        LuWorkspace<Complex> ws(n);
        LuWorkspace<>        ws_real(n);
        ComplexVector        x(n);
        Vector               expected(n);
        lu_solve(be, F, widened(b), x, ws, transpose);
        lu_solve(be, F_real, b, expected, ws_real, transpose);
        EXPECT_LE(relative_difference(real_form(x), real_form(widened(expected))), 1e-11);
        lu_refine(be, F, A, widened(b), x, ws, transpose);
        lu_refine(be, F_real, view(real), b, expected, ws_real, transpose);
        EXPECT_LE(relative_difference(real_form(x), real_form(widened(expected))), 1e-12);
    }
}

TEST(ComplexLu, EstimatesTheConditionFromBelowWithinAFactorOfThree)
{
    for (const Index n : {1, 2, 33, 60}) {
        const auto A = complex_system(n, 12);
        const auto F = factor(A);
        double     norm = 0, inverse = 0;
        for (Index j = 0; j < n; ++j) {
            ComplexVector e(n);
            e[j] = 1;
            double column = 0, of_inverse = 0;
            for (Index i = 0; i < n; ++i) column += std::abs(A.at(i, j));
            for (const Complex x : solved(F, e, Transpose::no)) of_inverse += std::abs(x);
            norm = std::max(norm, column);
            inverse = std::max(inverse, of_inverse);
        }
        Cpu                  be(1);
        LuWorkspace<Complex> ws(n);
        const double         estimate = condition_estimate(be, F, view(A), ws);
        EXPECT_LE(estimate, norm * inverse * (1 + 1e-9)) << "n = " << n;
        EXPECT_GE(estimate, norm * inverse / 3) << "n = " << n;
    }
}

}  // namespace
}  // namespace ilux::test
