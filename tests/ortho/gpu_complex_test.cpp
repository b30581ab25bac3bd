// Gram-Schmidt on a device with complex vectors: coefficients, new vector and verdict are the host's.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

enum class Process { mgso, hybrid, cgs2 };

class GpuComplexGramSchmidt : public testing::TestWithParam<Process> {
protected:
    void SetUp() override
    {
        ILUX_SKIP_WITHOUT_GPU();
        gpu_ = std::make_unique<Gpu>();
    }

    Extension extend(const ComplexVector& V, ComplexVector& w, ComplexVector& h)
    {
        Gpu&                        gpu = *gpu_;
        const DeviceBuffer<Complex> dV = on_device(gpu, V);
        DeviceBuffer<Complex>       dw = on_device(gpu, w);
        ComplexVector               scratch(h.size());
        const auto                  run = [&] {
            switch (GetParam()) {
                case Process::mgso:
                    return mgso<Complex>(gpu, dV, dw, h);
                case Process::hybrid:
                    return mgso_hybrid<Gpu, Complex>(gpu, dV, dw, h);
                default:
                    return cgs2<Complex>(gpu, dV, dw, h, scratch);
            }
        };
        const Extension result = run();
        w = on_host(gpu, dw);
        return result;
    }
    Extension extend_on_cpu(const ComplexVector& V, ComplexVector& w, ComplexVector& h)
    {
        Cpu           cpu(1);
        ComplexVector scratch(h.size());
        return GetParam() == Process::cgs2 ? cgs2<Complex>(cpu, V, w, h, scratch) : mgso<Complex>(cpu, V, w, h);
    }

private:
    std::unique_ptr<Gpu> gpu_;
};

INSTANTIATE_TEST_SUITE_P(
    Gpu, GpuComplexGramSchmidt, testing::Values(Process::mgso, Process::hybrid, Process::cgs2), [](const auto& info) {
        return std::string(info.param == Process::mgso ? "Mgso" : info.param == Process::hybrid ? "Hybrid" : "Cgs2");
    });

/// k < n orthonormal vectors of n numbers: waves of different frequencies.
ComplexVector waves(std::size_t n, std::size_t k)
{
    ComplexVector V(n * k);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t i = 0; i < n; ++i)
            V[j * n + i] = std::polar(1 / std::sqrt(static_cast<double>(n)),
                                      2 * M_PI * static_cast<double>((j + 1) * i % n) / static_cast<double>(n));
    return V;
}

TEST_P(GpuComplexGramSchmidt, DoesWhatTheCpuDoesAtSizesWhereItsLaunchesChange)
{
    const std::size_t sizes[] = {2, 31, 32, 33, 511, 512, 513, 67583, 67584, 67585, 300'001};
    for (std::size_t n : sizes)
        for (std::size_t k : {1, 2, 5, 16, 17, 30}) {
            if (k >= n) continue;
            const auto    V = waves(n, k), w = random_complex_vector(static_cast<Index>(n), n + k);
            ComplexVector here = w, there = w, h_here(k + 1), h_there(k + 1);
            const auto    expected = extend_on_cpu(V, here, h_here);
            ASSERT_EQ(extend(V, there, h_there), expected) << n << ' ' << k;
            const double size = std::sqrt(static_cast<double>(n));
            for (std::size_t j = 0; j <= k; ++j)
                ASSERT_LE(std::abs(h_there[j] - h_here[j]), 1000 * size * eps) << n << ' ' << k << ' ' << j;
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_LE(std::abs(there[i] - here[i]), 1000 * eps) << n << ' ' << k << ' ' << i;
            ASSERT_EQ(h_there[k].imag(), 0);
        }
}

TEST_P(GpuComplexGramSchmidt, HandlesRowsBeyondWhatTheDeviceKeeps)
{
    const std::size_t n = 2'000'003, k = 3;
    const auto        V = waves(n, k);
    auto              w = random_complex_vector(static_cast<Index>(n), 5);
    for (std::size_t i = 0; i < n; ++i) w[i] += 3. * V[i] - Complex(0, 2) * V[2 * n + i];
    const auto    before = w;
    ComplexVector h(k + 1);
    ASSERT_EQ(extend(V, w, h), Extension::extended);
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Complex back = h[k] * w[i] - before[i];
        for (std::size_t j = 0; j < k; ++j) back += h[j] * V[j * n + i];
        worst = std::max(worst, std::abs(back));
    }
    EXPECT_LE(worst, 1e-12);
    for (std::size_t j = 0; j < k; ++j) {
        std::complex<long double> sum = 0;
        for (std::size_t i = 0; i < n; ++i)
            sum += std::conj(std::complex<long double>(V[j * n + i])) * std::complex<long double>(w[i]);
        EXPECT_LE(static_cast<double>(std::abs(sum)), 1e-13) << j;
    }
}

TEST_P(GpuComplexGramSchmidt, TellsWhatIsLeft)
{
    const std::size_t n = 1000, k = 4;
    const auto        V = waves(n, k);
    ComplexVector     h(k + 1), inside(n), zero(n);
    for (std::size_t i = 0; i < n; ++i) inside[i] = Complex(1, 2) * V[i] + Complex(0, 3) * V[3 * n + i];
    EXPECT_EQ(extend(V, inside, h), Extension::nothing_left);
    EXPECT_LE(std::abs(h[0] - Complex(1, 2)), 1e-13);
    EXPECT_LE(std::abs(h[3] - Complex(0, 3)), 1e-13);
    EXPECT_EQ(h[k], Complex(0));
    EXPECT_EQ(extend(V, zero, h), Extension::nothing_left);
    auto bad = random_complex_vector(static_cast<Index>(n), 1);
    bad[500] = {0, nan};
    EXPECT_EQ(extend(V, bad, h), Extension::not_finite);
}

TEST_P(GpuComplexGramSchmidt, RepeatsBitForBit)
{
    for (std::size_t n : {1000, 200'001}) {
        const std::size_t k = 7;
        const auto        V = waves(n, k), w = random_complex_vector(static_cast<Index>(n), 4);
        auto              first = w;
        ComplexVector     h_first(k + 1);
        ASSERT_EQ(extend(V, first, h_first), Extension::extended);
        for (int run = 0; run < 100; ++run) {
            auto          again = w;
            ComplexVector h(k + 1);
            ASSERT_EQ(extend(V, again, h), Extension::extended);
            ASSERT_TRUE(identical(again, first) && identical(h, h_first)) << "n = " << n << ", run " << run;
        }
    }
}

TEST_P(GpuComplexGramSchmidt, MakesManyVectorsOrthonormal)
{
    const std::size_t n = 3000, k = 60;
    ComplexVector     Q;
    for (std::size_t j = 0; j < k; ++j) {
        auto          w = random_complex_vector(static_cast<Index>(n), j);
        ComplexVector h(j + 1);
        if (j == 0) {
            Cpu cpu(1);
            scale<Complex>(cpu, 1 / norm2<Complex>(cpu, w), w);
        } else ASSERT_EQ(extend(Q, w, h), Extension::extended);
        Q.insert(Q.end(), w.begin(), w.end());
    }
    double worst = 0;
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            Complex sum = i == j ? -1 : 0;
            for (std::size_t l = 0; l < n; ++l) sum += std::conj(Q[i * n + l]) * Q[j * n + l];
            worst = std::max(worst, std::abs(sum));
        }
    EXPECT_LE(worst, 1e-13);
}

}  // namespace
}  // namespace ilux::test
