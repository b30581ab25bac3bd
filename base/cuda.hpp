#pragma once
// What .cu files share: checked calls, the stream of a Gpu, and its scratch memory. Only .cu files include this.

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <string>

#include "ilux/base/error.hpp"
#include "ilux/base/gpu.hpp"

namespace ilux {

struct Gpu::State {
    int          device = 0;
    cudaStream_t stream = nullptr;
    double*      partial = nullptr;  ///< device: max_vectors × max_chunks partial sums
    double*      sums = nullptr;     ///< page-locked host memory that the device writes: max_vectors results

    ~State();
};

namespace cuda {

constexpr int max_chunks = 1024;  ///< of one reduction: fixed by n alone, hence repeatable
constexpr int max_vectors = 32;   ///< of one pass of multi_dot or multi_axpy

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

/// A profiler range around one launcher; its end throws nothing, so launchers call check_launch themselves.
class Range {
public:
    explicit Range(const char* name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace cuda
}  // namespace ilux
