#pragma once
// Kernels that begin while the one before them ends: they ask for what no kernel changes, then wait. Only .cu files
// include this.

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

/// The kernel behind this one in the stream may begin.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
/// Until the kernel before this one is done, and with it all others before. Every thread waits so before it touches
/// what other kernels touch; at least one thread of each kernel does, so that the end of a kernel is the end of all
/// before it.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Launches a kernel that calls both.
struct OverlappedLaunch {
    dim3         blocks;
    unsigned     threads = 0;
    std::size_t  shared = 0;  ///< bytes
    cudaStream_t stream = nullptr;

    template <class... Parameters, class... Arguments>
    void operator()(void (*kernel)(Parameters...), Arguments&&... arguments) const
    {
        cudaLaunchAttribute overlap{};
        overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        overlap.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = blocks;
        config.blockDim = threads;
        config.dynamicSmemBytes = shared;
        config.stream = stream;
        config.attrs = &overlap;
        config.numAttrs = CUDART_VERSION >= 12030 ? 1 : 0;  // graphs take it from then on
        check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "cudaLaunchKernelEx");
    }
};

}  // namespace ilux::cuda
