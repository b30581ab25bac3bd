#pragma once
// Times of work on a Gpu, taken by events on its stream, and the ceiling that this device sets to them. For benches
// only, and only in a build with CUDA (ilux_gpu_bench in CMakeLists.txt).

#include <cstddef>
#include <functional>
#include <memory>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux::bench {

/// Measures what a function enqueues on one Gpu. The function may also wait for it; then the wait counts as well.
class GpuTimer {
public:
    /// @throws OutOfMemory when there is no room for twice the second-level cache
    explicit GpuTimer(Gpu& gpu);
    ~GpuTimer();
    GpuTimer(const GpuTimer&) = delete;
    GpuTimer& operator=(const GpuTimer&) = delete;

    /// Seconds from the stream's reaching `work` to its end, with none of its data in the second-level cache: twice the
    /// cache's size of other data is read before. It is read, not written, so that no dirty line of it is written
    /// back while `work` runs. The host enqueues `work` behind that read, so its first launch costs nothing.
    double cold(const std::function<void()>& work);
    /// The same without the clearing.
    double warm(const std::function<void()>& work);
    /// The middle of `runs` cold times.
    double median_cold(int runs, const std::function<void()>& work);

    /// Bytes a second, read and written, of a copy of `bytes` from device memory to device memory; the middle of 9
    /// runs.
    double copy_bandwidth(std::size_t bytes = std::size_t{1} << 30);

private:
    struct Events;
    double time(const std::function<void()>& work, bool clear);

    Gpu&                    gpu_;
    std::unique_ptr<Events> events_;
};

}  // namespace ilux::bench
