// Complex vectors and matrices on a device, against the host, and against real ones where imaginary parts are zero.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

constexpr Complex i_unit{0, 1};

class GpuComplex : public GpuTest {
protected:
    ComplexVector product(Complex a, const DeviceCsr<Complex>& A, const ComplexVector& x, Complex b, ComplexVector y)
    {
        const auto dx = on_device(gpu(), x);
        auto       dy = on_device(gpu(), y);
        spmv<Complex>(gpu(), a, A, dx, b, dy);
        return on_host(gpu(), dy);
    }
};

/// Rows of very different lengths: none, short ones, and some of several segments.
CsrMatrix<Complex> mixed_rows(Index n)
{
    Random             random(3);
    std::vector<Index> row, col;
    ComplexVector      val;
    for (Index i = 0; i < n; ++i) {
        const Index length = i % 1000 == 7 ? n : i % 50 == 3 ? 300 : i % 9;
        for (Index k = 0; k < std::min(length, n); ++k) {
            row.push_back(i);
            col.push_back(length >= n ? k : random.below(n));
            val.emplace_back(random.uniform(), random.uniform());
        }
    }
    return CsrMatrix<Complex>::from_triplets(n, n, row, col, val);
}

TEST_F(GpuComplex, ReducesAsTheCpuDoes)
{
    Cpu cpu(1);
    for (Index n : {0, 1, 31, 32, 33, 4097, 300'001}) {
        const auto   x = random_complex_vector(n, 1), y = random_complex_vector(n, 2);
        const auto   dx = on_device(gpu(), x), dy = on_device(gpu(), y);
        const double close = 4 * eps * (n + 1.);
        EXPECT_LE(std::abs(dot<Complex>(gpu(), dx, dy) - dot<Complex>(cpu, x, y)), close) << n;
        EXPECT_NEAR(norm2<Complex>(gpu(), dx), norm2<Complex>(cpu, x), close);
        const auto both = dot_norm<Complex>(gpu(), dx, dy);
        EXPECT_EQ(both.dot, dot<Complex>(gpu(), dx, dy));
        EXPECT_EQ(both.norm, norm2<Complex>(gpu(), dy));
        EXPECT_TRUE(is_finite<Complex>(gpu(), dx));
    }
}

TEST_F(GpuComplex, NormNeitherOverflowsNorUnderflowsNorHidesNan)
{
    const auto norm = [&](const ComplexVector& x) { return norm2<Complex>(gpu(), on_device(gpu(), x)); };
    for (double size : {1., 1e200, 1e-200, 1e-310})
        EXPECT_NEAR(norm({{2 * size, -4 * size}, {0, 4 * size}, 0}) / size, 6, 1e-12);
    EXPECT_EQ(norm({{1, -infinity}}), infinity);
    EXPECT_TRUE(std::isnan(norm({{0, nan}})));
}

TEST_F(GpuComplex, WhatHasNoSizeIsNotFinite)
{
    constexpr double largest = std::numeric_limits<double>::max();
    for (const Complex bad : {Complex(0, nan), Complex(nan, 0), Complex(infinity, 0), Complex(largest, largest)}) {
        ComplexVector x(100, 1);
        x[70] = bad;
        EXPECT_FALSE(is_finite<Complex>(gpu(), on_device(gpu(), x))) << bad;
    }
    EXPECT_TRUE(is_finite<Complex>(gpu(), on_device(gpu(), {{largest, 0}, {0, -largest}})));
}

TEST_F(GpuComplex, UpdatesAreThoseOfTheFormulas)
{
    const ComplexVector x{i_unit, 2}, y0{1, {1, 1}};
    const auto          dx = on_device(gpu(), x), d0 = on_device(gpu(), y0);
    const auto          after = [&](auto update) {
        auto y = on_device(gpu(), y0);
        update(y);
        return on_host(gpu(), y);
    };
    EXPECT_EQ(after([&](auto& y) { axpy<Complex>(gpu(), i_unit, dx, y); }), (ComplexVector{0, {1, 3}}));
    EXPECT_EQ(after([&](auto& y) { axpby<Complex>(gpu(), 2, dx, i_unit, y); }), (ComplexVector{{0, 3}, {3, 1}}));
    EXPECT_EQ(after([&](auto& y) { scale<Complex>(gpu(), i_unit, y); }), (ComplexVector{i_unit, {-1, 1}}));
    EXPECT_EQ(after([&](auto& y) { multiply<Complex>(gpu(), dx, d0, y); }), (ComplexVector{i_unit, {2, 2}}));
    EXPECT_EQ(after([&](auto& y) { fill<Complex>(gpu(), i_unit, y); }), (ComplexVector{i_unit, i_unit}));
    EXPECT_EQ(after([&](auto& y) { copy<Complex>(gpu(), dx, y); }), x);
    EXPECT_EQ(after([&](auto& y) { multi_axpy<Complex>(gpu(), ComplexVector{i_unit}, dx, y); }),
              (ComplexVector{0, {1, 3}}));
}

TEST_F(GpuComplex, BlocksOfAnyNumberOfVectorsGiveTheCpusSums)
{
    Cpu cpu(1);
    for (Index n : {1, 33, 1000, 70'001})
        for (Index k : {1, 3, 4, 5, 8, 13, 16, 17, 40}) {
            const auto    V = random_complex_vector(n * k, 1), w = random_complex_vector(n, 2);
            const auto    c = random_complex_vector(k, 3);
            const auto    dV = on_device(gpu(), V);
            ComplexVector h(k), expected(k), y = w;
            multi_dot<Complex>(gpu(), dV, on_device(gpu(), w), h);
            multi_dot<Complex>(cpu, V, w, expected);
            for (Index j = 0; j < k; ++j) ASSERT_LE(std::abs(h[j] - expected[j]), 4 * eps * n) << n << ' ' << k;
            auto dy = on_device(gpu(), w);
            multi_axpy<Complex>(gpu(), c, dV, dy);
            multi_axpy<Complex>(cpu, c, V, y);
            const auto on_gpu = on_host(gpu(), dy);
            for (Index i = 0; i < n; ++i) ASSERT_LE(std::abs(on_gpu[i] - y[i]), 10 * eps * k) << n << ' ' << k;
        }
}

TEST_F(GpuComplex, ReductionsRepeatBitForBit)
{
    const auto x = on_device(gpu(), random_complex_vector(200'001, 1)),
               y = on_device(gpu(), random_complex_vector(200'001, 2));
    const auto first = dot_norm<Complex>(gpu(), x, y);
    for (int run = 0; run < 100; ++run) {
        const auto again = dot_norm<Complex>(gpu(), x, y);
        ASSERT_EQ(again.dot, first.dot);
        ASSERT_EQ(again.norm, first.norm);
    }
}

TEST_F(GpuComplex, ProductsAreTheCpusAtEveryLengthOfRow)
{
    Cpu cpu(1);
    for (Index n : {1, 31, 33, 2000, 20'000}) {
        const auto A = n > 2000 ? mixed_rows(n) : turned(random_matrix(n, n, 7, 5), 6);
        const auto x = random_complex_vector(n, 1), y = random_complex_vector(n, 2);
        for (int lanes : {0, 1, 8, 32}) {
            const DeviceCsr<Complex> dA(gpu(), A, lanes);
            for (const Complex b : {Complex(0), Complex(0.5, -2)}) {
                ComplexVector expected = y;
                spmv<Complex>(cpu, {1, 2}, A, x, b, expected);
                const auto found = product({1, 2}, dA, x, b, y);
                EXPECT_LE(relative_difference(found, expected), 1e-13) << n << ' ' << lanes;
                EXPECT_TRUE(identical(found, product({1, 2}, dA, x, b, y)));
            }
        }
    }
}

TEST_F(GpuComplex, ProductsWithoutImaginaryPartsHaveTheBitsOfRealOnes)
{
    const auto               A = random_matrix(3000, 3000, 9, 1);
    const auto               x = random_vector(3000, 2);
    const DeviceCsr<double>  real(gpu(), A);
    const DeviceCsr<Complex> complex(gpu(), as_complex(A));
    DeviceBuffer<double>     dx(x.size()), dy(x.size());
    std::vector<double>      y(x.size());
    upload<double>(gpu(), x, dx);
    spmv(gpu(), 1, real, dx, 0, dy);
    download<double>(gpu(), dy, y);
    const auto found = product(1, complex, as_complex(x), 0, ComplexVector(x.size(), {nan, nan}));
    EXPECT_TRUE(identical(real_parts(found), y));
}

TEST_F(GpuComplex, ValuesMayBeStoredInFloat)
{
    const auto                       A = turned(random_matrix(500, 500, 5, 1), 2);
    std::vector<std::complex<float>> rounded;
    ComplexVector                    widened;
    for (const Complex& a : A.val()) {
        rounded.emplace_back(a);
        widened.emplace_back(rounded.back());
    }
    const std::vector<Offset>            row_ptr(A.row_ptr().begin(), A.row_ptr().end());
    const std::vector<Index>             col(A.col().begin(), A.col().end());
    const DeviceCsr<std::complex<float>> dA(gpu(), CsrMatrix<std::complex<float>>::from_sorted(500, 500, row_ptr, col,
                                                                                               rounded));
    const auto                           x = random_complex_vector(500, 3);
    Cpu                                  cpu(1);
    ComplexVector                        expected(500);
    spmv<Complex>(cpu, 1, CsrMatrix<Complex>::from_sorted(500, 500, row_ptr, col, widened), x, 0, expected);
    const auto dx = on_device(gpu(), x);
    auto       dy = on_device(gpu(), ComplexVector(500));
    spmv(gpu(), 1, dA, dx, 0, dy);
    EXPECT_LE(relative_difference(on_host(gpu(), dy), expected), 1e-14);
}

TEST_F(GpuComplex, OperatorTellsTheAdjointFromTheTranspose)
{
    Cpu                              cpu(1);
    const auto                       A = turned(random_matrix(70, 70, 5, 3), 4);
    const MatrixOperator<Complex>    here(A, true);
    const GpuMatrixOperator<Complex> there(gpu(), A, true), without(gpu(), A);
    const auto                       x = random_complex_vector(70, 1);
    const auto                       dx = on_device(gpu(), x);
    ComplexVector                    y(70), of_transpose(70);
    auto                             dy = on_device(gpu(), y);
    there.apply(gpu(), dx, dy);
    here.apply(cpu, x, y);
    EXPECT_LE(relative_difference(on_host(gpu(), dy), y), 1e-14);
    there.apply_adjoint(gpu(), dx, dy);
    here.apply_adjoint(cpu, x, y);
    EXPECT_LE(relative_difference(on_host(gpu(), dy), y), 1e-14);
    spmv_transpose<Complex>(cpu, 1, A, x, 0, of_transpose);
    EXPECT_GT(relative_difference(y, of_transpose), 0.1);
    EXPECT_THROW(without.apply_adjoint(gpu(), dx, dy), InvalidInput);
}

}  // namespace
}  // namespace ilux::test
