#pragma once
// Refactorization on a GPU, measured. Times are those of a host that waits: launches and waiting count.

#include <nlohmann/json_fwd.hpp>

#include "ilux/apps/bench/lu/bench_lu_measure.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/direct/lu/gpu_refactor.hpp"

namespace ilux::app {

/// A device with the values of one system there, as many bytes again that push them out of its caches, and what a copy reaches.
class LuBenchGpu {
public:
    /// @throws DeviceError without a GPU; OutOfMemory
    LuBenchGpu(const LuSystem<>& system, const LuBench& bench);

    /// As on_host, and transfer: the values, from page-locked memory; cold: numeric, with the caches full of other data; modes
    /// of glu3; what auto has taken; copy_bandwidth. @throws InvalidInput for a bad pivot, and as GpuRefactor
    nlohmann::ordered_json measure(RefactorMethod method);

    /// {taken, numeric, cold}, and warps of left: the numeric phase alone. @throws as measure
    nlohmann::ordered_json measure_numeric(RefactorMethod method, const LeftTuning& left = {});

    /// glu3 as it is, without small blocks and without streams: numeric and cold.
    nlohmann::ordered_json ablation();

private:
    struct Numeric {
        Times warm, cold;
    };
    Numeric                numeric(GpuRefactor& refactor);
    nlohmann::ordered_json solution(GpuRefactor& refactor);

    const LuSystem<>&    system_;
    const LuBench&       bench_;
    Gpu                  gpu_;
    HostBuffer<double>   host_values_;
    DeviceBuffer<double> values_, other_;
    double               copy_bandwidth_ = 0;  ///< bytes a second, read and written
};

}  // namespace ilux::app
