#include "ilux/direct/model/refactor_choice.hpp"

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/model/perf_methods.hpp"
#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"

namespace ilux {

namespace {

using namespace refactor_rule;

// Where the work of dot products takes up to this many times as long as their waits, left was predicted to take 3.4 to 30 times as long
// as they do in all (eight circuits of 6·10⁴ to 6·10⁶ products). So its simulation, 7 ms for 30,000 columns, is spared.
constexpr double clearly_dot_products = 3;

template <Scalar S>
constexpr double dot_factor = is_complex<S> ? complex_by_dot_products : 1;
template <Scalar S>
constexpr double cpu_factor = is_complex<S> ? complex_on_cpu : 1;

template <Scalar S>
GpuCost dataflow_cost(const LuPattern& pattern, const DataflowPrediction& predicted)
{
    const double products = pattern.multiply_adds(), entries = double(pattern.nnz()) + double(pattern.nnz_F());
    return {.seconds = transfer_seconds + dot_factor<S> * predicted.seconds,
            .setup = products * setup_product + entries * setup_entry,
            .bytes = products * product_bytes + entries * (entry_bytes + sizeof(S) - sizeof(double))};
}

template <Scalar S>
GpuCost left_cost(const LuPattern& pattern, const DeviceParameters& device)
{
    return {.method = RefactorMethod::left,
            .seconds = transfer_seconds + LeftModel(pattern, device).predict(0).seconds,
            .setup = double(pattern.nnz()) * left_setup_entry,
            .bytes = double(16 + sizeof(S)) * double(pattern.nnz()) + double(LeftTuning{}.work_bytes)};
}

}  // namespace

template <Scalar S>
GpuCost gpu_cost(const LuPattern& pattern, double free_bytes, int multiprocessors)
{
    const DeviceParameters   device{.multiprocessors = double(multiprocessors)};
    const DataflowPrediction predicted = predict_dataflow(pattern, device);
    const GpuCost            dataflow = dataflow_cost<S>(pattern, predicted);
    const bool               possible = dataflow.setup <= most_setup && dataflow.bytes <= free_bytes;
    if (possible && predicted.work <= clearly_dot_products * predicted.waits) return dataflow;
    const GpuCost left = left_cost<S>(pattern, device);
    return possible && (dataflow.seconds <= left.seconds || left.bytes > free_bytes) ? dataflow : left;
}

template <Scalar S>
std::string why_cpu(const LuPattern& pattern, int threads, double systems, double free_bytes, int multiprocessors)
{
    const GpuCost gpu = gpu_cost<S>(pattern, free_bytes, multiprocessors);
    if (gpu.bytes > free_bytes)
        return fmt::format("factors on a GPU would take about {:.2g} GB, {:.2g} GB are free", 1e-9 * gpu.bytes,
                           1e-9 * free_bytes);
    const double cpu = cpu_factor<S> * detail::expected_seconds(pattern, threads);
    if (cpu <= gpu.seconds)
        return fmt::format("{} threads refactor in about {:.2g} ms, a GPU in {:.2g} ms", threads, 1e3 * cpu,
                           1e3 * gpu.seconds);
    if (systems * (cpu - gpu.seconds) < gpu.setup)
        return fmt::format(
            "a GPU would save about {:.2g} ms a system, but {:.2g} s of preparation are too much for {:.0f} systems",
            1e3 * (cpu - gpu.seconds), gpu.setup, systems);
    return "";
}

#define ILUX_INSTANTIATE(S)                                          \
    template GpuCost     gpu_cost<S>(const LuPattern&, double, int); \
    template std::string why_cpu<S>(const LuPattern&, int, double, double, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
