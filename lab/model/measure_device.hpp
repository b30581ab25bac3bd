#pragma once
// The parameters of the performance model, measured on the device at hand by small kernels.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/lab/model/perf_model.hpp"

namespace ilux {

/// Latencies of accesses by transactions, from the cache and from memory, and how many are missed when so much is in
/// use; both bandwidths; what method left's own inner loop takes on cached data; flags, launches, levels; the clock.
/// What is random is seeded, so every call runs the same. A hit rate no kernel can read: it is inferred from latencies
/// between that of a hit and that of a miss. Waits; below 2 s. Needs 8 times the second-level cache in device memory.
/// @throws OutOfMemory; DeviceError without CUDA, or when a figure makes no sense
DeviceParameters measure_device(Gpu& gpu);

}  // namespace ilux
