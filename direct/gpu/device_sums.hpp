#pragma once
// CUB's calls on whole arrays of the device. Only .cu files include this.

#include <cstddef>
#include <cub/device/device_scan.cuh>

#include "ilux/base/gpu/cuda.hpp"

namespace ilux {

/// Runs a call of CUB, which first says what memory it needs: call(memory, bytes). Waits for the device.
/// @throws OutOfMemory
template <class Call>
void with_cub_memory(const char* name, Call&& call)
{
    std::size_t bytes = 0;
    cuda::check(call(nullptr, bytes), name);
    DeviceBuffer<std::byte> memory(bytes > 0 ? bytes : 1);  // a null pointer would only ask for the size
    cuda::check(call(static_cast<void*>(memory.data()), bytes), name);
}

/// x_i ← Σ_{j<i} x_j for `count` numbers, in place; as with_cub_memory.
template <class T>
void add_up(Gpu& gpu, T* x, std::int64_t count)
{
    with_cub_memory("cub::DeviceScan", [&](void* memory, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(memory, bytes, x, x, count, cuda::stream(gpu));
    });
}

/// One number of the device's; waits.
template <class T>
T value_at(Gpu& gpu, const T* device)
{
    T value{};
    detail::download_bytes(gpu, device, &value, sizeof value);
    return value;
}

}  // namespace ilux
