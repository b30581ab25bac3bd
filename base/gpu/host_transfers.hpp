#pragma once
// What crosses between host and device.

#include <cstddef>

namespace ilux {

/// Bytes that ilux's copies moved since the program began, of all devices and threads. Copies within a captured graph
/// count once, when they are captured; single numbers that kernels leave for the host do not count.
struct HostTransfers {
    std::size_t to_device = 0, to_host = 0;

    std::size_t total() const { return to_device + to_host; }
};
HostTransfers host_transfers() noexcept;

}  // namespace ilux
