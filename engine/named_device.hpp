#pragma once
// Which device failed.

#include <fmt/core.h>

#include "ilux/base/error.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux {

/// What fails on a device says which one it was.
template <class Work>
void with_device_named(const Device& device, Work&& work)
{
    try {
        work();
    } catch (const DeviceError& error) {
        if (device.kind != "gpu") throw;
        throw DeviceError(fmt::format("{}: {}; device=cpu does without it", device.name, error.what()));
    }
}

}  // namespace ilux
