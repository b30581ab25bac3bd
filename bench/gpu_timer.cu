// Events around the work, a sweep over other data before it.

#include "ilux/bench/gpu_timer.hpp"

#include <algorithm>
#include <vector>

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::bench {
namespace {

using cuda::check;

constexpr int block_size = 256;

/// Reads all of `values`; `sink` is written when their sum is NaN, which zeros have not: so the reads must happen.
__global__ void sweep(const double* values, std::size_t n, double* sink)
{
    const std::size_t stride = std::size_t(gridDim.x) * block_size;
    double            sum = 0;
    for (std::size_t i = std::size_t(blockIdx.x) * block_size + threadIdx.x; i < n; i += stride) sum += values[i];
    if (sum != sum) *sink = sum;
}

std::size_t cache_bytes(int device)
{
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    return static_cast<std::size_t>(bytes);
}

}  // namespace

struct GpuTimer::Events {
    cudaEvent_t          begin = nullptr, end = nullptr;
    DeviceBuffer<double> other;  ///< twice the cache, of zeros

    explicit Events(Gpu& gpu)
    {
        check(cudaSetDevice(gpu.device()), "cudaSetDevice");
        other = DeviceBuffer<double>(2 * cache_bytes(gpu.device()) / sizeof(double) + 1);
        check(cudaEventCreate(&begin), "cudaEventCreate");
        check(cudaEventCreate(&end), "cudaEventCreate");
    }
    ~Events()
    {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
};

GpuTimer::GpuTimer(Gpu& gpu) : gpu_(gpu), events_(std::make_unique<Events>(gpu)) {}
GpuTimer::~GpuTimer() = default;

double GpuTimer::time(const std::function<void()>& work, bool clear)
{
    const auto stream = cuda::stream(gpu_);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (clear) {
        sweep<<<1024, block_size, 0, stream>>>(events_->other.data(), events_->other.size(), events_->other.data());
        cuda::check_launch("sweep");
    }
    check(cudaEventRecord(events_->begin, stream), "cudaEventRecord");
    work();
    check(cudaEventRecord(events_->end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(events_->end), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, events_->begin, events_->end), "cudaEventElapsedTime");
    return 1e-3 * milliseconds;
}

double GpuTimer::cold(const std::function<void()>& work) { return time(work, true); }
double GpuTimer::warm(const std::function<void()>& work) { return time(work, false); }

double GpuTimer::median_cold(int runs, const std::function<void()>& work)
{
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) times.push_back(cold(work));
    std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
    return times[runs / 2];
}

double GpuTimer::copy_bandwidth(std::size_t bytes)
{
    DeviceBuffer<char> from(bytes), to(bytes);
    const double       seconds = median_cold(9, [&] {
        check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, cuda::stream(gpu_)), "copy");
    });
    return 2 * static_cast<double>(bytes) / seconds;
}

}  // namespace ilux::bench
