#pragma once
// Refactorization on a GPU, measured. Times are those of a host that waits: launches and waiting count.

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/direct/lu/gpu_entry_refactor.hpp"
#include "ilux/direct/published/refactor_left.hpp"
#include "ilux/lab/suites/bench_lu_measure.hpp"

namespace ilux::app {

/// A device with the values of one system there, as many bytes again that push them out of its caches, and what a copy
/// reaches.
template <Scalar S = double>
class LuBenchGpu {
public:
    /// @throws DeviceError without a GPU; OutOfMemory
    LuBenchGpu(const LuSystem<S>& system, const LuBench& bench);

    /// Measures as on_host, and transfer: the values, from page-locked memory; cold: numeric, with the caches full of
    /// other data; first_prepare: prepare, but the first time, which also loads kernels; what auto has taken; modes of
    /// glu3; copy_bandwidth. Of complex values also real: numeric and cold for real values by the same pattern.
    /// @throws InvalidInput for a bad pivot, and as GpuEntryRefactor
    nlohmann::ordered_json measure(RefactorMethod method);

    /// {taken, numeric, cold}, and warps of left: the numeric phase alone. @throws as measure
    nlohmann::ordered_json measure_numeric(RefactorMethod method);
    nlohmann::ordered_json measure_left(const LeftTuning& tuning);

    /// Measures as on_rival, by cuDSS, with transfer, cold and copy_bandwidth as of measure; first_analyse and
    /// first_factor, of a run before, which also loaded kernels. Values, b and x are in device memory. @throws as
    /// CudssRival
    nlohmann::ordered_json measure_cudss();

    /// Measures our supernodes in this way: analyse has the host's analysis and plan, and what goes to the device;
    /// factor the first numbers.
    nlohmann::ordered_json measure_supernodes();

    /// glu3 as it is, without small blocks and without streams: numeric and cold.
    nlohmann::ordered_json ablation();

private:
    struct Numeric {
        Times warm, cold;
    };
    nlohmann::ordered_json timed_solution(const std::function<void(const S* b, S* x)>& solve);
    Numeric                numeric_times(const std::function<void()>& work);
    Times                  transfer_times();
    template <class T>
    Numeric                             numeric(GpuRefactor<T>& refactor, const T* values);
    std::shared_ptr<const GpuLuPattern> pattern_there();
    nlohmann::ordered_json              real_by_the_same_pattern(RefactorMethod method);
    nlohmann::ordered_json              solution(GpuEntryRefactor<S>& refactor);

    const LuSystem<S>&   system_;
    const LuBench&       bench_;
    Gpu                  gpu_;
    HostBuffer<S>        host_values_;
    DeviceBuffer<S>      values_;
    DeviceBuffer<double> other_;
    double               copy_bandwidth_ = 0;  ///< bytes a second, read and written
};

}  // namespace ilux::app
