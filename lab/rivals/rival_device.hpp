#pragma once
// What rivals on a GPU need of CUDA.

#include <cuda_runtime_api.h>

#include <string>

#include "ilux/base/error.hpp"

namespace ilux::app {

/// @param who  the rival, for the message
/// @throws DeviceError where there is no GPU
inline void require_gpu(const std::string& who)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) throw DeviceError(who + ": there is no GPU");
}

/// Waits for all that was begun, on whichever stream.
/// @throws DeviceError
inline void await_device(const std::string& who)
{
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess)
        throw DeviceError(who + ": " + cudaGetErrorString(error));
}

}  // namespace ilux::app
