#pragma once
// What .cu files share: checked calls, the stream of a Gpu, and its scratch memory. Only .cu files include this.

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <mutex>
#include <string>

#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"

namespace ilux {
namespace cuda {

constexpr int max_partials = 1 << 17;  ///< partial sums
constexpr int max_tickets = 128;
constexpr int max_results = 4096;     ///< numbers that one call may leave for the host
constexpr int max_neighbours = 1024;  ///< blocks that may exchange numbers within a launch

/// A piece of the stream between two events, on its way into a total of seconds (stopwatch.hpp of krylov/).
struct Timing {
    cudaEvent_t begin = nullptr, end = nullptr;
    const void* owner = nullptr;  ///< null: free
    double*     total = nullptr;
    bool        open = false;  ///< its end is not recorded yet
};

}  // namespace cuda

/// Device memory here is scratch of whatever runs on the stream: no call may rely on what an earlier one left, but for
/// `tickets` and `exchange`.
struct Gpu::State {
    int                      device = 0;
    int                      multiprocessors = 0;
    int                      shared_bytes = 0;  ///< that a block may ask for
    cudaStream_t             stream = nullptr;
    bool                     owns_stream = false;
    double*                  sums = nullptr;  ///< page-locked host memory that the device writes: max_results numbers
    DeviceBuffer<double>     partial;         ///< max_partials numbers
    DeviceBuffer<double>     coefficients;    ///< max_results numbers that one launch leaves for the next
    DeviceBuffer<unsigned>   tickets;         ///< max_tickets counts of blocks done; 0 between launches
    DeviceBuffer<ulonglong2> exchange;        ///< 4 × max_neighbours tagged numbers (ortho/mgso.cu)
    unsigned                 epoch = 0;       ///< the last tag in `exchange`
    std::array<cuda::Timing, 64> timings;
    std::size_t                  next_timing = 0;

    ~State();
};

namespace cuda {

/// Throws DeviceError, naming the call, unless `error` is success.
inline void check(cudaError_t error, const char* call)
{
    if (error == cudaSuccess) return;
    cudaGetLastError();  // a failed call is reported once, here
    throw DeviceError(std::string(call) + ": " + cudaGetErrorString(error));
}

/// The stream to launch on, its device made current.
inline cudaStream_t stream(Gpu& gpu)
{
    check(cudaSetDevice(gpu.state().device), "cudaSetDevice");
    return gpu.state().stream;
}

constexpr std::size_t reserved_shared = 1024;  ///< of a block: what kernels declare beside their arrays

/// Lets blocks of `kernel` ask for all shared memory but reserved_shared. Never for less: the limit is the whole
/// process's, and one made for a launch would fail the larger launch of another thread.
template <class Kernel>
void allow_shared(Gpu& gpu, Kernel* kernel)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               gpu.state().shared_bytes - static_cast<int>(reserved_shared)),
          "cudaFuncSetAttribute");
}

/// Blocks of `kernel` that one multiprocessor holds at once, without shared memory asked for at the launch.
template <class Kernel>
int blocks_a_multiprocessor(Kernel kernel, int block_size)
{
    int count = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, block_size, 0), "occupancy");
    return count;
}

/// A profiler range around one launcher; its end throws nothing, so launchers call check_launch themselves.
class Range {
public:
    explicit Range(const char* name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

/// Held while a stream is captured, and by what waits for a whole device: such a wait from another thread would break
/// the capture.
std::recursive_mutex& capture_or_wait();

/// device ← host on any stream of the current device; on return it is done.
void upload(cudaStream_t stream, const void* host, void* device, std::size_t bytes);

}  // namespace cuda
}  // namespace ilux
