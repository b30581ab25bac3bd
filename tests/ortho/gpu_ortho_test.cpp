// What only Gram-Schmidt on a device can get wrong: sizes at which its launches change, repeatability, streams that run
// at the same time, and the memory it may not ask for.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "ilux/tests/ortho/processes.hpp"

namespace ilux {
namespace {

using namespace test::ortho;

using test::eps;

class GpuGramSchmidt : public testing::TestWithParam<Process> {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};
INSTANTIATE_TEST_SUITE_P(Gpu, GpuGramSchmidt, testing::ValuesIn(on_gpu),
                         [](const auto& info) { return std::string(info.param.name); });

/// k < n vectors of n values that are orthonormal by construction: cosines, scaled by √(2/n).
Vector cosines(std::size_t n, std::size_t k)
{
    Vector V(n * k);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t i = 0; i < n; ++i)
            V[j * n + i] =
                std::sqrt(2. / static_cast<double>(n)) *
                std::cos(M_PI * static_cast<double>(j + 1) * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
    return V;
}

TEST_P(GpuGramSchmidt, DoesWhatTheCpuDoesAtSizesWhereItsLaunchesChange)
{
    const std::size_t sizes[] = {2, 31, 32, 33, 511, 512, 513, 1000, 67583, 67584, 67585, 300001};
    for (std::size_t n : sizes)
        for (std::size_t k : {1, 2, 5, 30}) {
            if (k >= n) continue;
            const Vector  V = cosines(n, k), w = test::random_vector(static_cast<Index>(n), n + k);
            Vector        on_cpu = w, on_gpu = w, h_cpu(k + 1), h_gpu(k + 1);
            const Process here{"", GetParam().kind, GetParam().threshold, false};
            const auto    expected = extend(here, V, on_cpu, h_cpu);
            ASSERT_EQ(extend(GetParam(), V, on_gpu, h_gpu), expected) << "n = " << n << ", k = " << k;
            const double size = std::sqrt(static_cast<double>(n));
            for (std::size_t j = 0; j <= k; ++j)
                ASSERT_NEAR(h_gpu[j], h_cpu[j], 1000 * size * eps) << n << ' ' << k << ' ' << j;
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_NEAR(on_gpu[i], on_cpu[i], 1000 * eps) << n << ' ' << k << ' ' << i;
        }
}

TEST_P(GpuGramSchmidt, HandlesRowsBeyondWhatTheDeviceKeeps)
{
    const std::size_t n = 3'000'001, k = 3;
    const Vector      V = cosines(n, k);
    Vector            w = test::random_vector(n, 5), h(k + 1);
    for (std::size_t i = 0; i < n; ++i) w[i] += 3 * V[i] - 2 * V[2 * n + i];
    const Vector before = w;
    ASSERT_EQ(extend(GetParam(), V, w, h), Extension::extended);
    long double norm = 0, worst = 0;
    for (double wi : w) norm += static_cast<long double>(wi) * wi;
    EXPECT_NEAR(static_cast<double>(norm), 1, 1e-12);
    for (std::size_t j = 0; j < k; ++j) {
        long double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(V[j * n + i]) * w[i];
        EXPECT_NEAR(static_cast<double>(sum), 0, 1e-13) << "j = " << j;
    }
    for (std::size_t i = 0; i < n; ++i) {
        long double back = static_cast<long double>(h[k]) * w[i] - before[i];
        for (std::size_t j = 0; j < k; ++j) back += static_cast<long double>(h[j]) * V[j * n + i];
        worst = std::max(worst, std::abs(back));
    }
    EXPECT_LE(static_cast<double>(worst), 1e-12);
}

TEST_P(GpuGramSchmidt, HandlesMoreVectorsThanOnePassTakes)
{
    const std::size_t n = 3000, k = 75;
    const Vector      A = test::random_vector(static_cast<Index>(n * k), 3);
    const Qr          qr = orthonormalize(GetParam(), A, n, k);
    EXPECT_EQ(qr.outcome, std::vector<Extension>(k, Extension::extended));
    double worst = 0;
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            long double sum = -static_cast<long double>(i == j);
            for (std::size_t l = 0; l < n; ++l) sum += static_cast<long double>(qr.Q[i * n + l]) * qr.Q[j * n + l];
            worst = std::max(worst, static_cast<double>(std::abs(sum)));
        }
    EXPECT_LE(worst, 1e-13);
}

TEST_P(GpuGramSchmidt, RepeatsBitForBit)
{
    for (std::size_t n : {1000, 200'001}) {
        const std::size_t k = 7;
        const Vector      V = cosines(n, k), w = test::random_vector(static_cast<Index>(n), 4);
        Vector            first = w, h_first(k + 1);
        ASSERT_EQ(extend(GetParam(), V, first, h_first), Extension::extended);
        for (int run = 0; run < 100; ++run) {
            Vector again = w, h(k + 1);
            ASSERT_EQ(extend(GetParam(), V, again, h), Extension::extended);
            ASSERT_TRUE(test::identical(again, first)) << "n = " << n << ", run " << run;
            ASSERT_TRUE(test::identical(h, h_first)) << "n = " << n << ", run " << run;
        }
    }
}

TEST_P(GpuGramSchmidt, ServesSeveralThreadsAtOnce)
{
    const std::size_t n = 100'000, k = 10;
    const Vector      V = cosines(n, k), w = test::random_vector(n, 4);
    Vector            expected = w, h_expected(k + 1);
    ASSERT_EQ(extend(GetParam(), V, expected, h_expected), Extension::extended);
    std::vector<std::thread> threads;
    std::vector<int>         wrong(4);
    for (int& count : wrong)
        threads.emplace_back([&] {
            Gpu gpu;
            for (int run = 0; run < 20; ++run) {
                Vector     mine = w, h(k + 1);
                const auto result = extend_on_gpu(gpu, GetParam(), V, mine, h);
                if (result != Extension::extended || !test::identical(mine, expected) ||
                    !test::identical(h, h_expected))
                    ++count;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_P(GpuGramSchmidt, AllocatesNothing)
{
    const std::size_t    n = 5000, k = 40;
    Gpu&                 gpu = shared_gpu();
    const Vector         V = cosines(n, k), w = test::random_vector(n, 4);
    DeviceBuffer<double> dV(n * k), dw(n);
    Vector               h(k + 1), scratch(k + 1);
    upload<double>(gpu, V, dV);
    upload<double>(gpu, w, dw);
    const auto run = [&] {
        if (GetParam().kind == Kind::cgs2) return cgs2(gpu, dV, dw, h, scratch);
        return GetParam().kind == Kind::mgso ? mgso(gpu, dV, dw, h, GetParam().threshold)
                                             : mgso_hybrid<Gpu>(gpu, dV, dw, h, GetParam().threshold);
    };
    ASSERT_EQ(run(), Extension::extended);
    const long              on_device = device_use().allocations;
    test::AllocationCounter counter;
    const auto              result = run();
    const long              on_host = counter.count();
    EXPECT_EQ(on_host, 0);
    EXPECT_EQ(device_use().allocations, on_device);
    EXPECT_EQ(result, Extension::extended);
}

}  // namespace
}  // namespace ilux
