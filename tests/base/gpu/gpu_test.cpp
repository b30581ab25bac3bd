#include "ilux/base/gpu/gpu.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/tests/support/checks.hpp"

using namespace ilux;
using test::eps;
using test::random_vector;

namespace {

constexpr Index sizes[] = {0, 1, 31, 32, 33, 100000};

static_assert(!std::is_convertible_v<DeviceSpan<double>, std::span<double>>);
static_assert(!std::is_convertible_v<std::span<double>, DeviceSpan<double>>);
static_assert(!std::is_convertible_v<DeviceSpan<double>, double*>);
static_assert(!std::is_convertible_v<DeviceSpan<const double>, DeviceSpan<double>>);
static_assert(!std::is_convertible_v<const DeviceBuffer<double>&, DeviceSpan<double>>);
static_assert(std::is_constructible_v<DeviceSpan<const double>, DeviceBuffer<double>&>);

DeviceBuffer<double> on_device(Gpu& gpu, const std::vector<double>& host)
{
    DeviceBuffer<double> device(host.size());
    upload<double>(gpu, host, device);
    return device;
}

std::vector<double> on_host(Gpu& gpu, const DeviceBuffer<double>& device)
{
    std::vector<double> host(device.size());
    download<double>(gpu, device, host);
    return host;
}

double sum_of_products(const std::vector<double>& x, const std::vector<double>& y)
{
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] * y[i]);
    return sum;
}

class GpuPrimitives : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto why = test::why_no_gpu(); !why.empty()) GTEST_SKIP()
        << why;
        gpu_ = std::make_unique<Gpu>();
    }
    Gpu& gpu() { return *gpu_; }
    Cpu  cpu;

private:
    std::unique_ptr<Gpu> gpu_;
};

/// Runs one y ← f(x, y) on both backends and expects results equal to `ulps` of the largest |term|.
template <class F>
void expect_same_update(Cpu& cpu, Gpu& gpu, F&& update)
{
    for (Index n : sizes) {
        auto x = random_vector(n, 1), y = random_vector(n, 2);
        auto dx = on_device(gpu, x), dy = on_device(gpu, y);
        update(cpu, std::span<const double>(x), std::span<double>(y));
        update(gpu, DeviceSpan<const double>(dx), DeviceSpan<double>(dy));
        const auto result = on_host(gpu, dy);
        for (Index i = 0; i < n; ++i) ASSERT_NEAR(result[i], y[i], 8 * eps) << "n = " << n << ", i = " << i;
    }
}

}  // namespace

TEST(GpuMissing, IsReportedAndNeverFatal)
{
    if (test::why_no_gpu().empty()) GTEST_SKIP()
    << "needs a machine without a GPU";
    EXPECT_EQ(gpu_count(), 0);
    EXPECT_THROW(Gpu(), DeviceError);
    EXPECT_THROW(gpu_name(0), DeviceError);
    EXPECT_NO_THROW(DeviceBuffer<double>(0));
    EXPECT_THROW(DeviceBuffer<double>(1), DeviceError);
}

TEST_F(GpuPrimitives, RefuseDevicesThatDoNotExist)
{
    EXPECT_FALSE(gpu_name(0).empty());
    EXPECT_GT(Gpu().multiprocessors(), 0);
    EXPECT_THROW(Gpu(-1), DeviceError);
    EXPECT_THROW(Gpu{gpu_count()}, DeviceError);
    EXPECT_THROW(gpu_name(gpu_count()), DeviceError);
}

TEST_F(GpuPrimitives, TransferEveryValueUnchanged)
{
    for (Index n : sizes) {
        const auto x = random_vector(n, 3);
        EXPECT_TRUE(test::identical(on_host(gpu(), on_device(gpu(), x)), x)) << "n = " << n;
        EXPECT_TRUE(test::identical(on_host(gpu(), DeviceBuffer<double>(n)), std::vector<double>(n))) << "n = " << n;
    }
    DeviceBuffer<double> two(2);
    EXPECT_THROW(upload<double>(gpu(), std::vector<double>(3), two), InvalidInput);
}

TEST_F(GpuPrimitives, MoveBuffersWithoutCopyingThem)
{
    auto                 a = on_device(gpu(), {1, 2, 3});
    DeviceBuffer<double> b = std::move(a), c(1);
    c = std::move(b);
    EXPECT_EQ(on_host(gpu(), c), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(a.size(), 0u);  // NOLINT(bugprone-use-after-move): a moved-from buffer is empty
}

TEST_F(GpuPrimitives, TellWhatAnAllocationLacked)
{
    const std::size_t huge = std::size_t(1) << 50;
    test::expect_refusal<OutOfMemory>([&] { DeviceBuffer<char>{huge}; },
                                      {"no room for " + std::to_string(huge) + " bytes", "are free"});
    EXPECT_NO_THROW(DeviceBuffer<double>(1));
}

TEST_F(GpuPrimitives, CountTheMemoryOfBuffers)
{
    restart_device_peak();
    const DeviceUse before = device_use();
    EXPECT_EQ(before.peak_bytes, before.bytes);
    {
        DeviceBuffer<double> a(1000), b(500);
        EXPECT_EQ(device_use().bytes, before.bytes + 12'000);
        a = DeviceBuffer<double>();
        b = DeviceBuffer<double>(10);
    }
    const DeviceUse after = device_use();
    EXPECT_EQ(after.bytes, before.bytes);
    EXPECT_EQ(after.peak_bytes, before.bytes + 12'000);
    EXPECT_EQ(after.allocations, before.allocations + 3);
    EXPECT_THROW(DeviceBuffer<char>(std::size_t(1) << 50), OutOfMemory);
    EXPECT_EQ(device_use().bytes, before.bytes);
}

TEST_F(GpuPrimitives, ReportTheMemoryOfADevice)
{
    const GpuMemory before = gpu_memory(0);
    EXPECT_GT(before.free, 0u);
    EXPECT_LE(before.free, before.total);
    const DeviceBuffer<char> held(std::size_t(256) << 20);
    EXPECT_LE(gpu_memory(0).free, before.free - held.size() / 2);  // others may free some meanwhile
    EXPECT_THROW(gpu_memory(gpu_count()), DeviceError);
}

TEST_F(GpuPrimitives, MakeNewBuffersOfZerosWhereverOldOnesLay)
{
    for (int run = 0; run < 5; ++run) {
        DeviceBuffer<double> old(70'000);
        fill(gpu(), 7, old);
        old = DeviceBuffer<double>();
        ASSERT_TRUE(test::identical(on_host(gpu(), DeviceBuffer<double>(70'000)), std::vector<double>(70'000)));
    }
}

TEST_F(GpuPrimitives, TransferLargeArraysInPieces)
{
    const std::size_t piece = (std::size_t(4) << 20) / sizeof(double);
    for (std::size_t n : {2 * piece, 2 * piece + 1, 3 * piece - 1, 5 * piece + 17}) {
        const auto x = random_vector(static_cast<Index>(n), n);
        ASSERT_TRUE(test::identical(on_host(gpu(), on_device(gpu(), x)), x)) << "n = " << n;
    }
    std::vector<std::thread> threads;
    std::vector<int>         wrong(3);
    for (int& count : wrong)
        threads.emplace_back([&count, piece] {
            Gpu        mine;
            const auto x = random_vector(static_cast<Index>(3 * piece), 5);
            for (int run = 0; run < 5; ++run) count += !test::identical(on_host(mine, on_device(mine, x)), x);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(3));
}

/// A stream of the driver's, as a caller has one.
class CallersStream {
public:
    CallersStream()
    {
        void* driver = dlopen("libcuda.so.1", RTLD_NOW);
        load(driver, "cuStreamCreate", create);
        load(driver, "cuStreamDestroy_v2", destroy);
        load(driver, "cuStreamSynchronize", wait);
        load(driver, "cuMemsetD8Async", set);
        if (create(&stream, 1) != 0)
            throw std::runtime_error("cuStreamCreate failed");  // 1: does not wait for stream 0
    }
    ~CallersStream() { destroy(stream); }
    CallersStream(const CallersStream&) = delete;
    CallersStream& operator=(const CallersStream&) = delete;

    CUstream_st* stream = nullptr;
    int (*create)(CUstream_st**, unsigned);
    int (*destroy)(CUstream_st*);
    int (*wait)(CUstream_st*);
    int (*set)(unsigned long long device, unsigned char value, std::size_t bytes, CUstream_st*);

private:
    template <class F>
    static void load(void* driver, const char* name, F& function)
    {
        function = reinterpret_cast<F>(dlsym(driver, name));
    }
};

TEST_F(GpuPrimitives, WorkInOrderOnACallersStreamAndLeaveItAlive)
{
    const std::size_t    n = 4'000'000;
    CallersStream        callers;
    DeviceBuffer<double> x(n);
    const auto           address = reinterpret_cast<unsigned long long>(x.data());
    {
        Gpu on_callers(0, callers.stream);
        for (int run = 0; run < 20; ++run) {  // each call undoes what the one before did
            fill(on_callers, 3, x);
            ASSERT_EQ(callers.set(address, 0, n * sizeof(double), callers.stream), 0);
            for (int times = 0; times < 3; ++times) axpby(on_callers, 0, x, 1, x);
            ASSERT_EQ(norm2(on_callers, x), 0) << "run " << run;
        }
        fill(on_callers, 5, x);
    }
    ASSERT_EQ(callers.wait(callers.stream), 0);
    EXPECT_EQ(on_host(gpu(), x), std::vector<double>(n, 5));
    Gpu on_default(0, nullptr);
    fill(on_default, 6, x);
    EXPECT_EQ(on_host(on_default, x), std::vector<double>(n, 6));
}

TEST_F(GpuPrimitives, UpdateVectorsAsTheCpuDoes)
{
    expect_same_update(cpu, gpu(), [](auto& be, auto x, auto y) { copy(be, x, y); });
    expect_same_update(cpu, gpu(), [](auto& be, auto, auto y) { fill(be, 2.5, y); });
    expect_same_update(cpu, gpu(), [](auto& be, auto, auto y) { scale(be, -0.3, y); });
    expect_same_update(cpu, gpu(), [](auto& be, auto x, auto y) { axpy(be, 0.7, x, y); });
    expect_same_update(cpu, gpu(), [](auto& be, auto x, auto y) { axpby(be, 0.7, x, -1.1, y); });
    expect_same_update(cpu, gpu(), [](auto& be, auto x, auto y) { multiply(be, x, y, y); });
}

TEST_F(GpuPrimitives, ReduceAsTheCpuDoes)
{
    for (Index n : sizes) {
        const auto x = random_vector(n, 4), y = random_vector(n, 5);
        auto       dx = on_device(gpu(), x), dy = on_device(gpu(), y);
        const auto tolerance = 2 * std::max<Index>(n, 1) * eps * sum_of_products(x, y);
        EXPECT_NEAR(dot(gpu(), dx, dy), dot(cpu, x, y), tolerance) << "n = " << n;
        EXPECT_NEAR(norm2(gpu(), dx), norm2(cpu, x), 2 * std::max<Index>(n, 1) * eps * norm2(cpu, x)) << "n = " << n;
        const auto both = dot_norm(gpu(), dx, dy);
        EXPECT_NEAR(both.dot, dot(cpu, x, y), tolerance) << "n = " << n;
        EXPECT_DOUBLE_EQ(both.norm, norm2(gpu(), dy)) << "n = " << n;
        EXPECT_TRUE(is_finite(gpu(), dx));
    }
}

TEST_F(GpuPrimitives, RepeatReductionsBitForBit)
{
    for (Index n : {1000, 100'000, 3'000'000}) {
        const Index  k = n > 1'000'000 ? 3 : 20;
        auto         block = on_device(gpu(), random_vector(n * k, 6)), w = on_device(gpu(), random_vector(n, 7));
        const auto   x = DeviceSpan<const double>(block).first(n);
        const auto   inner = dot_norm(gpu(), x, w);
        const double product = dot(gpu(), x, w), norm = norm2(gpu(), w);
        std::vector<double> first(k), h(k);
        multi_dot(gpu(), block, w, first);
        for (int run = 0; run < 100; ++run) {
            ASSERT_EQ(dot(gpu(), x, w), product);
            ASSERT_EQ(norm2(gpu(), w), norm);
            ASSERT_EQ(dot_norm(gpu(), x, w).dot, inner.dot);
            ASSERT_EQ(dot_norm(gpu(), x, w).norm, inner.norm);
            multi_dot(gpu(), block, w, h);
            ASSERT_TRUE(test::identical(h, first)) << "n = " << n << ", run " << run;
        }
    }
}

TEST_F(GpuPrimitives, HandleBlocksOfManyVectors)
{
    for (Index n : {0, 1, 33, 5000, 200'001})
        for (std::size_t k : {0, 1, 3, 4, 5, 8, 9, 13, 17, 21, 25, 31, 32, 33, 70}) {
            if (n > 5000 && k > 32) continue;
            const auto          block = random_vector(static_cast<Index>(n * k), 7), w = random_vector(n, 8);
            const auto          c = random_vector(static_cast<Index>(k), 9);
            auto                dblock = on_device(gpu(), block), dw = on_device(gpu(), w);
            std::vector<double> expected(k), h(k, -1), y = w;
            multi_dot(cpu, block, w, expected);
            multi_dot(gpu(), dblock, dw, h);
            for (std::size_t i = 0; i < k; ++i) ASSERT_NEAR(h[i], expected[i], 4 * (n + 1) * eps) << n << ' ' << i;
            multi_axpy(cpu, c, block, y);
            multi_axpy(gpu(), c, dblock, dw);
            const auto result = on_host(gpu(), dw);
            for (Index i = 0; i < n; ++i) ASSERT_NEAR(result[i], y[i], 4 * (k + 1) * eps) << n << ' ' << k << ' ' << i;
        }
}

TEST_F(GpuPrimitives, MeasureNormsThatOverflowOrUnderflow)
{
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_DOUBLE_EQ(norm2(gpu(), on_device(gpu(), {3e200, 4e200})), 5e200);
    EXPECT_DOUBLE_EQ(norm2(gpu(), on_device(gpu(), {3e-200, 4e-200})), 5e-200);
    EXPECT_EQ(norm2(gpu(), on_device(gpu(), {0, -0.})), 0);
    EXPECT_EQ(norm2(gpu(), on_device(gpu(), {1, -inf})), inf);
    EXPECT_TRUE(std::isnan(norm2(gpu(), on_device(gpu(), {1, nan, inf}))));
    const auto both = dot_norm(gpu(), on_device(gpu(), {1, 0}), on_device(gpu(), {3e200, 4e200}));
    EXPECT_EQ(both.dot, 3e200);
    EXPECT_DOUBLE_EQ(both.norm, 5e200);
}

TEST_F(GpuPrimitives, NoticeOneBadValueAnywhere)
{
    for (Index n : {1, 31, 32, 33, 100000})
        for (Index bad : {0, n / 2, n - 1})
            for (double value : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
                auto x = random_vector(n, 10);
                x[bad] = value;
                EXPECT_FALSE(is_finite(gpu(), on_device(gpu(), x))) << "n = " << n << ", at " << bad;
            }
}

TEST_F(GpuPrimitives, LeaveValuesOutsideTheSpanAlone)
{
    auto y = on_device(gpu(), {1, 2, 3, 4, 5});
    fill(gpu(), 9, DeviceSpan<double>(y).subspan(1, 3));
    EXPECT_EQ(on_host(gpu(), y), (std::vector<double>{1, 9, 9, 9, 5}));
}
