// base/ for complex numbers: the same sources with another type, so what is looked at is what conjugates, and moduli.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {
namespace {

constexpr Complex i_unit{0, 1};

/// [1+i  2; 0  -3i]
CsrMatrix<Complex> small_complex()
{
    return CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 3}, {0, 1, 1}, {{1, 1}, 2, {0, -3}});
}

TEST(ComplexScalars, HaveTheirModuliAndConjugates)
{
    const Complex z{3, -4};
    EXPECT_EQ(conj(z), Complex(3, 4));
    EXPECT_EQ(conj(-2.), -2.);
    EXPECT_EQ(abs1(z), 7);
    EXPECT_EQ(abs1(-2.), 2);
    EXPECT_EQ(abs_squared(z), 25);
    EXPECT_EQ(abs_squared(-2.), 4);
    EXPECT_EQ(real_part(z), 3);
    EXPECT_TRUE(is_finite(z) && !is_nan(z));
    EXPECT_FALSE(is_finite(Complex(0, infinity)) || is_finite(Complex(nan, 0)) || is_finite(Complex(0, nan)));
    EXPECT_TRUE(is_nan(Complex(0, nan)) && is_nan(Complex(infinity, nan)) && !is_nan(Complex(0, infinity)));
    static_assert(std::same_as<real_of<Complex>, double> && std::same_as<real_of<std::complex<float>>, float>);
    static_assert(std::same_as<working_of<std::complex<float>>, Complex> && std::same_as<working_of<float>, double>);
    static_assert(Backend<Cpu, Complex>);
}

TEST(ComplexDot, ConjugatesItsFirstVector)
{
    Cpu                 be(1);
    const ComplexVector x{i_unit, {1, 2}}, y{2, {0, 1}};
    EXPECT_EQ(dot<Complex>(be, x, y), Complex(2, -1));  // −i·2 + (1 − 2i)·i
    EXPECT_EQ(dot<Complex>(be, y, x), Complex(2, 1));
    const auto both = dot_norm<Complex>(be, x, y);
    EXPECT_EQ(both.dot, Complex(2, -1));
    EXPECT_EQ(both.norm, std::sqrt(5.));
    ComplexVector h(2);
    multi_dot<Complex>(be, ComplexVector{i_unit, {1, 2}, 2, {0, 1}}, y, h);
    EXPECT_EQ(h, (ComplexVector{{2, -1}, 5}));
}

TEST(ComplexReductions, AgreeWithLongDoubleSumsForAnyNumberOfThreads)
{
    for (Index n : {0, 1, 33, 4097, 50'000}) {
        const auto                x = random_complex_vector(n, 1), y = random_complex_vector(n, 2);
        std::complex<long double> sum = 0;
        long double               squares = 0;
        for (Index i = 0; i < n; ++i) {
            sum += std::conj(std::complex<long double>(x[i])) * std::complex<long double>(y[i]);
            squares += std::norm(std::complex<long double>(x[i]));
        }
        Cpu           one(1), three(3);
        const Complex found = dot<Complex>(one, x, y);
        EXPECT_LE(std::abs(found - Complex(sum)), 4 * eps * (n + 1)) << "n = " << n;
        EXPECT_NEAR(norm2<Complex>(one, x), static_cast<double>(std::sqrt(squares)), 10 * eps * std::sqrt(n + 1));
        EXPECT_EQ(dot<Complex>(three, x, y), found);
        EXPECT_EQ(norm2<Complex>(three, x), norm2<Complex>(one, x));
    }
}

TEST(ComplexNorm2, NeitherOverflowsNorUnderflowsNorHidesNan)
{
    Cpu be(1);
    for (double size : {1., 1e200, 1e-200, 1e-310})
        EXPECT_NEAR(norm2<Complex>(be, ComplexVector{{2 * size, -4 * size}, {0, 4 * size}, 0}) / size, 6, 1e-12);
    EXPECT_EQ(norm2<Complex>(be, ComplexVector{{1, -infinity}}), infinity);
    EXPECT_TRUE(std::isnan(norm2<Complex>(be, ComplexVector{{0, nan}})));
    EXPECT_TRUE(std::isnan(norm2<Complex>(be, ComplexVector{{infinity, nan}})));
    EXPECT_FALSE(is_finite<Complex>(be, ComplexVector{1, {0, nan}}));
    EXPECT_TRUE(is_finite<Complex>(be, ComplexVector{1, {0, 2}}));
}

TEST(ComplexVectorUpdates, AreThoseOfTheFormulas)
{
    Cpu                 be(1);
    const ComplexVector x{i_unit, 2}, y0{1, {1, 1}};
    ComplexVector       y = y0, z = y0, w = y0, v(2);
    axpy<Complex>(be, i_unit, x, y);
    EXPECT_EQ(y, (ComplexVector{0, {1, 3}}));
    axpby<Complex>(be, 2, x, i_unit, z);
    EXPECT_EQ(z, (ComplexVector{{0, 3}, {3, 1}}));
    scale<Complex>(be, i_unit, w);
    EXPECT_EQ(w, (ComplexVector{i_unit, {-1, 1}}));
    multiply<Complex>(be, x, y0, v);
    EXPECT_EQ(v, (ComplexVector{i_unit, {2, 2}}));
    multi_axpy<Complex>(be, ComplexVector{i_unit}, x, v);
    EXPECT_EQ(v, (ComplexVector{{-1, 1}, {2, 4}}));
}

TEST(ComplexCsr, TellsTheAdjointFromTheTranspose)
{
    const auto A = small_complex();
    EXPECT_EQ(transpose(A).at(0, 0), Complex(1, 1));
    EXPECT_EQ(transpose(A).at(1, 1), Complex(0, -3));
    EXPECT_EQ(adjoint(A).at(0, 0), Complex(1, -1));
    EXPECT_EQ(adjoint(A).at(1, 0), Complex(2));
    EXPECT_EQ(adjoint(A).at(1, 1), Complex(0, 3));
}

TEST(ComplexCsr, TellsHermitianFromSymmetric)
{
    const auto of = [](Complex a, Complex b, Complex c, Complex d) {
        return CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {a, b, c, d});
    };
    const auto symmetric = of(1, i_unit, i_unit, 2), hermitian = of(1, i_unit, -i_unit, 2),
               turned_diagonal = of(i_unit, 2, 2, 1);
    EXPECT_TRUE(is_symmetric(symmetric) && !is_hermitian(symmetric));
    EXPECT_TRUE(is_hermitian(hermitian) && !is_symmetric(hermitian));
    EXPECT_TRUE(is_symmetric(turned_diagonal) && !is_hermitian(turned_diagonal));
    EXPECT_TRUE(has_positive_diagonal(hermitian) && !has_positive_diagonal(turned_diagonal));
    EXPECT_FALSE(has_positive_diagonal(of({1, 1}, 0, 0, 1)));
    EXPECT_TRUE(is_pattern_symmetric(hermitian) && !is_pattern_symmetric(small_complex()));
}

TEST(ComplexCsr, ScalesByRealsAndRefusesWhatIsNotFinite)
{
    auto A = small_complex();
    scale_rows_cols(A, std::vector<double>{2, 1}, std::vector<double>{1, 0.5});
    EXPECT_EQ(A.at(0, 0), Complex(2, 2));
    EXPECT_EQ(A.at(0, 1), Complex(2));
    EXPECT_EQ(A.at(1, 1), Complex(0, -1.5));
    const std::vector<Index> place{0};
    expect_refusal([&] { CsrMatrix<Complex>::from_triplets(1, 1, place, place, ComplexVector{{2, nan}}); }, {"2+nani"});
}

TEST(ComplexSpmv, IsTheProductOfTheRealForm)
{
    const auto    A = turned(random_matrix(33, 17, 5, 1), 2);
    const auto    x = random_complex_vector(17, 3), y = random_complex_vector(33, 4);
    const auto    R = to_dense(real_form(A));
    Cpu           be(2);
    ComplexVector Ax(33), Ahy(17), Aty(17);
    spmv<Complex>(be, 1, A, x, 0, Ax);
    spmv_adjoint<Complex>(be, 1, A, y, 0, Ahy);
    EXPECT_LE(relative_difference(real_form(Ax), multiply(R, real_form(x))), 100 * eps);
    EXPECT_LE(relative_difference(real_form(Ahy), multiply(transposed(R), real_form(y))), 100 * eps);
    ComplexVector conj_y = y;
    for (Complex& value : conj_y) value = std::conj(value);
    spmv_transpose<Complex>(be, 1, A, conj_y, 0, Aty);  // Aᵀ ȳ is the conjugate of Aᴴ y
    for (std::size_t j = 0; j < 17; ++j) EXPECT_LE(std::abs(Aty[j] - std::conj(Ahy[j])), 100 * eps);
    ComplexVector twice = Ax;
    spmv<Complex>(be, i_unit, A, x, 2, twice);
    for (std::size_t i = 0; i < 33; ++i) EXPECT_LE(std::abs(twice[i] - Complex(2, 1) * Ax[i]), 100 * eps);
}

TEST(ComplexMatrixOperator, AppliesTheAdjointEitherWay)
{
    const auto A = turned(random_matrix(33, 33, 4, 1), 2);
    const auto x = random_complex_vector(33, 2);
    const auto expected = multiply(transposed(to_dense(real_form(A))), real_form(x));
    Cpu        be(1);
    for (bool adjoinable : {false, true}) {
        const MatrixOperator op(A, adjoinable);
        ComplexVector        y(33), r(33);
        op.apply_adjoint(be, x, y);
        EXPECT_LE(relative_difference(real_form(y), expected), 100 * eps);
        op.apply(be, x, y);
        EXPECT_LE(residual<Cpu>(be, op, x, y, r), 100 * eps);
    }
}

TEST(ComplexSpmv, TakesSinglePrecisionValues)
{
    const std::vector<Index>               place{0};
    const std::vector<std::complex<float>> val{{0.5F, 2}};
    const auto                             A = CsrMatrix<std::complex<float>>::from_triplets(1, 1, place, place, val);
    ComplexVector                          y(1);
    Cpu                                    be(1);
    spmv<std::complex<float>>(be, 1, A, ComplexVector{{1e10, 1}}, 0, y);
    EXPECT_EQ(y[0], Complex(5e9 - 2, 2e10 + 0.5));
}

}  // namespace
}  // namespace ilux::test
