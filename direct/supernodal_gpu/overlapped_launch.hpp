#pragma once
// Kernels that begin while the one before them ends: they ask for what no kernel changes, then wait. Only .cu files include this.

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

/// The kernel behind this one in the stream may begin. Every thread of a kernel that launch_overlapped has launched calls this, and
/// wait_for_previous before it reads or writes what another kernel writes or reads.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
/// Until the kernel before this one is done, and with it all others before.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Launches a kernel that calls both.
template <class... Parameters, class... Arguments>
void launch_overlapped(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
                       Arguments&&... arguments)
{
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "cudaLaunchKernelEx");
}

}  // namespace ilux::cuda
