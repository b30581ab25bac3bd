// The primitives of a Gpu in single precision, against the host's in double.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/gpu_test.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using test::Complex;
using GpuSingle = test::GpuTest;
constexpr double unit = 1.2e-7;  // of rounding, with a margin

template <class S>
std::vector<S> random_values(Index n, std::uint64_t seed)
{
    if constexpr (is_complex<S>) return test::random_complex_vector(n, seed);
    else return test::random_vector(n, seed);
}

template <class S>
std::vector<single_of<S>> rounded(const std::vector<S>& x)
{
    return {x.begin(), x.end()};
}
template <>
std::vector<std::complex<float>> rounded(const std::vector<Complex>& x)
{
    std::vector<std::complex<float>> y;
    for (const Complex& z : x) y.emplace_back(z);
    return y;
}

template <class T>
DeviceBuffer<T> on_device(Gpu& gpu, const std::vector<T>& host)
{
    gpu.make_current();
    DeviceBuffer<T> device(host.size());
    upload<T>(gpu, host, device);
    return device;
}

template <class T>
std::vector<T> on_host(Gpu& gpu, const DeviceBuffer<T>& device)
{
    std::vector<T> host(device.size());
    download<T>(gpu, device, std::span(host));
    return host;
}

/// As large as the terms of a sum of n products of numbers below 1.
template <class S>
void expect_near(S found, S expected, double size)
{
    EXPECT_LE(std::abs(found - expected), 8 * unit * size) << found << " for " << expected;
}

template <class S>
void expect_primitives(Gpu& gpu, Index n)
{
    using F = single_of<S>;
    Cpu        cpu(1);
    const auto x = random_values<S>(n, 1), y = random_values<S>(n, 2);
    auto       dx = on_device<F>(gpu, rounded<S>(x)), dy = on_device<F>(gpu, rounded<S>(y));
    expect_near<S>(dot<F>(gpu, dx, dy), dot<S>(cpu, x, y), n);
    expect_near<S>(dotu<F>(gpu, dx, dy), dotu<S>(cpu, x, y), n);
    EXPECT_NEAR(norm2<F>(gpu, dx), norm2<S>(cpu, x), unit * n);
    const auto both = dot_norm<F>(gpu, dx, dy);
    expect_near<S>(both.dot, dot<S>(cpu, x, y), n);
    EXPECT_NEAR(both.norm, norm2<S>(cpu, y), unit * n);
    EXPECT_TRUE(is_finite<F>(gpu, dx));

    axpy<F>(gpu, F(0.5f), dx, dy);
    axpby<F>(gpu, F(2), dx, F(-1), dy);
    multiply<F>(gpu, dx, dy, dy);
    const auto found = on_host<F>(gpu, dy);
    for (Index i = 0; i < n; ++i) expect_near<S>(S(found[i]), x[i] * (2. * x[i] - (y[i] + 0.5 * x[i])), 8);

    DeviceBuffer<S> wide(n);
    widen<S>(gpu, dx, wide);
    narrow<S>(gpu, 4, wide, dy);
    const auto kept = on_host<F>(gpu, dx), four = on_host<F>(gpu, dy);
    for (Index i = 0; i < n; ++i) EXPECT_EQ(four[i], 4.f * kept[i]);
}

TEST_F(GpuSingle, HasThePrimitivesOfDouble)
{
    for (const Index n : {0, 1, 31, 32, 33, 1000, 100'000}) {
        expect_primitives<double>(gpu(), n);
        expect_primitives<Complex>(gpu(), n);
    }
}

template <class S>
void expect_blocks(Gpu& gpu, Index n, Index k)
{
    using F = single_of<S>;
    Cpu            cpu(1);
    const auto     V = random_values<S>(n * k, 3), w = random_values<S>(n, 4), c = random_values<S>(k, 5);
    auto           dV = on_device<F>(gpu, rounded<S>(V)), dw = on_device<F>(gpu, rounded<S>(w));
    std::vector<S> h(k), sum = w;
    std::vector<F> found(k);
    multi_dot<S>(cpu, V, w, h);
    multi_dot<F>(gpu, dV, dw, found);
    for (Index j = 0; j < k; ++j) expect_near<S>(S(found[j]), h[j], n);
    multi_axpy<S>(cpu, c, V, sum);
    multi_axpy<F>(gpu, rounded<S>(c), dV, dw);
    const auto result = on_host<F>(gpu, dw);
    for (Index i = 0; i < n; ++i) expect_near<S>(S(result[i]), sum[i], k + 1);
}

TEST_F(GpuSingle, PassesOverBlocksOfVectors)
{
    for (const Index n : {1, 31, 32, 33, 5000})
        for (const Index k : {1, 3, 4, 17, 33}) {
            expect_blocks<double>(gpu(), n, k);
            expect_blocks<Complex>(gpu(), n, k);
        }
}

template <class S>
void expect_product(Gpu& gpu, const CsrMatrix<S>& A)
{
    using F = single_of<S>;
    Cpu            cpu(1);
    const auto     x = random_values<S>(A.cols(), 6);
    std::vector<S> y(A.rows()), size(A.rows());
    spmv<S>(cpu, 1, A, x, 0, y);
    const auto F_of_A =
        CsrMatrix<F>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                  {A.col().begin(), A.col().end()}, rounded<S>({A.val().begin(), A.val().end()}));
    const DeviceCsr<F> on_gpu(gpu, F_of_A);
    auto               dx = on_device<F>(gpu, rounded<S>(x));
    DeviceBuffer<F>    dy(A.rows());
    spmv<F, F>(gpu, 1, on_gpu, dx, 0, dy);
    const auto found = on_host<F>(gpu, dy);
    for (Index i = 0; i < A.rows(); ++i) {
        double terms = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) terms += std::abs(A.val()[p]);
        expect_near<S>(S(found[i]), y[i], 4 * terms);
    }
}

TEST_F(GpuSingle, MultipliesMatrices)
{
    for (const Index n : {1, 31, 32, 33}) expect_product<double>(gpu(), gallery::poisson2d(n, 1));
    expect_product<double>(gpu(), gallery::convdiff2d({.n = 40}));
    expect_product<Complex>(gpu(), test::turned(gallery::convdiff2d({.n = 40}), 1));
}

TEST_F(GpuSingle, FindsNormsOfAnySize)
{
    for (const float size : {1e-40f, 1e-30f, 1e30f}) {
        auto x = on_device<float>(gpu(), std::vector<float>(1000, size));
        EXPECT_NEAR(norm2<float>(gpu(), x) / size, std::sqrt(1000.), 1e-3 * std::sqrt(1000.)) << size;
    }
    auto x = on_device<float>(gpu(), {1.f, NAN});
    EXPECT_FALSE(is_finite<float>(gpu(), x));
    EXPECT_TRUE(std::isnan(norm2<float>(gpu(), x)));
}

}  // namespace
}  // namespace ilux
