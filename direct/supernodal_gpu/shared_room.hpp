#pragma once
// Shared memory beyond what a launch may ask for unasked. Only .cu files include this.

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

/// Lets blocks of `kernel` ask for all shared memory that its own arrays leave. Never for less (allow_shared).
template <class Kernel>
void allow_all_shared(Gpu& gpu, Kernel* kernel)
{
    cudaFuncAttributes of{};
    check(cudaFuncGetAttributes(&of, kernel), "cudaFuncGetAttributes");
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               gpu.state().shared_bytes - static_cast<int>(of.sharedSizeBytes)),
          "cudaFuncSetAttribute");
}

}  // namespace ilux::cuda
