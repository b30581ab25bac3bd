#pragma once
// New copies of arrays, on the other side.

#include <span>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// The values of `host` in new memory of the device of `gpu`; on return `host` may change.
template <class T>
DeviceBuffer<T> on_device(Gpu& gpu, std::span<const T> host)
{
    gpu.make_current();
    DeviceBuffer<T> device(host.size());
    upload<T>(gpu, host, device);
    return device;
}

/// The values of `device` in new memory of the host, after what was asked of `gpu` before.
template <class T>
std::vector<T> on_host(Gpu& gpu, DeviceSpan<const T> device)
{
    std::vector<T> host(device.size());
    download<T>(gpu, device, host);
    return host;
}

}  // namespace ilux
