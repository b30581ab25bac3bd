#include "ilux/lab/suites/bench_lu_gpu.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "ilux/apps/program/progress.hpp"
#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/published/refactor_right.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t other_values = std::size_t{1} << 26;  // 512 MB: many times any second-level cache

/// Bandwidth of a copy of one half of the memory onto the other.
double measured_bandwidth(Gpu& gpu, DeviceSpan<double> memory)
{
    const std::size_t half = memory.size() / 2;
    const Times       copying = timed(9, [&] {
        copy(gpu, memory.first(half), memory.subspan(half, half));
        gpu.synchronize();
    });
    return 2 * double(half * sizeof(double)) / copying.median;
}

LuOptions by(RefactorMethod method)
{
    LuOptions options;
    options.refactor = method;
    return options;
}

}  // namespace

template <Scalar S>
LuBenchGpu<S>::LuBenchGpu(const LuSystem<S>& system, const LuBench& bench)
    : system_(system),
      bench_(bench),
      host_values_(system.A.val().size()),
      values_(system.A.val().size()),
      other_(other_values),
      copy_bandwidth_(measured_bandwidth(gpu_, other_))
{
    std::ranges::copy(system.A.val(), host_values_.data());
    enqueue_upload(gpu_, host_values_, values_);
    gpu_.synchronize();
}

template <Scalar S>
typename LuBenchGpu<S>::Numeric LuBenchGpu<S>::numeric_times(const std::function<void()>& work)
{
    const auto waited = [&] {
        work();
        gpu_.synchronize();
    };
    // Read, not written, so that nothing of it is written back while the work runs.
    const auto clear = [&] { norm2(gpu_, other_); };
    return {.warm = timed(bench_.repetitions, waited), .cold = timed(bench_.repetitions, waited, clear)};
}

template <Scalar S>
Times LuBenchGpu<S>::transfer_times()
{
    return timed(bench_.repetitions, [&] {
        enqueue_upload(gpu_, host_values_, values_);
        gpu_.synchronize();
    });
}

template <Scalar S>
template <class T>
typename LuBenchGpu<S>::Numeric LuBenchGpu<S>::numeric(GpuRefactor<T>& refactor, const T* values)
{
    const auto run = [&] { refactor.run(gpu_, values); };
    GpuGraph   graph;
    if (!refactor.makes_graphs()) graph = GpuGraph(gpu_, run);
    const Numeric times = numeric_times([&] {
        if (graph) graph.launch(gpu_);
        else run();
    });
    require_pivots("the GPU", refactor.monitor(gpu_));
    return times;
}

/// Times by real_stand_ins.
template <Scalar S>
Json LuBenchGpu<S>::real_by_the_same_pattern(RefactorMethod method)
{
    if constexpr (is_complex<S>) {
        const auto           host = real_stand_ins(system_);
        DeviceBuffer<double> values(host.size());
        upload<double>(gpu_, host, values);
        GpuEntryRefactor<> refactor(gpu_, system_.first.pattern, by(method));
        const Numeric      times = numeric<double>(refactor, values.data());
        return {{"taken", refactor.method()}, {"numeric", to_json(times.warm)}, {"cold", to_json(times.cold)}};
    } else return nullptr;
}

template <Scalar S>
Json LuBenchGpu<S>::solution(GpuEntryRefactor<S>& refactor)
{
    const auto      solve = refactor.substitution(gpu_, false);
    DeviceBuffer<S> b(system_.b.size()), x(system_.b.size());
    upload<S>(gpu_, system_.b, b);
    const Times seconds = timed(bench_.repetitions, [&] {
        solve->refill(gpu_);
        solve->run(gpu_, b.data(), x.data());
        gpu_.synchronize();
    });

    LuFactors<S> F = system_.first;
    refactor.download(gpu_, F);
    F.monitor = refactor.monitor(gpu_);
    std::vector<S> host_x(system_.b.size());
    download<S>(gpu_, x, host_x);
    Cpu                be(bench_.threads);
    LuWorkspace<S>     ws(system_.A.rows());
    const RefineReport refined = lu_refine<S>(be, F, view(system_.A), system_.b, host_x, ws);
    return {{"solve", to_json(seconds)},
            {"bytes", refactor.bytes() + solve->bytes()},
            {"backward_error", refined.backward_error},
            {"refine_steps", refined.steps}};
}

template <Scalar S>
Json LuBenchGpu<S>::measure(RefactorMethod method)
{
    Json       json{{"method", field_text(method)}};
    const auto prepared = [&](const char* field) {
        const WallClock clock;
        auto            refactor =
            std::make_unique<GpuEntryRefactor<S>>(gpu_, system_.first.pattern, by(method), Cpu(bench_.threads));
        gpu_.synchronize();
        json[field] = clock.seconds();
        return refactor;
    };
    prepared("first_prepare");
    const auto           made = prepared("prepare");
    GpuEntryRefactor<S>& refactor = *made;
    json["transfer"] = to_json(transfer_times());
    const Numeric times = numeric<S>(refactor, values_.data());
    json.update({{"numeric", to_json(times.warm)}, {"cold", to_json(times.cold)}, {"copy_bandwidth", copy_bandwidth_}});
    if (method == RefactorMethod::automatic) json["taken"] = refactor.method();
    json.update(solution(refactor));
    if (is_complex<S>) json["real"] = real_by_the_same_pattern(method);
    if (method == RefactorMethod::glu3) {
        const RightModes modes = RightRefactor<S>(gpu_, pattern_there()).modes();
        json["modes"] = {{"small_block", modes.small_block},
                         {"large_block", modes.large_block},
                         {"stream", modes.stream}};
    }
    return json;
}

template <Scalar S>
Json LuBenchGpu<S>::measure_numeric(RefactorMethod method)
{
    GpuEntryRefactor<S> refactor(gpu_, system_.first.pattern, by(method));
    const Numeric       times = numeric<S>(refactor, values_.data());
    return {{"taken", refactor.method()}, {"numeric", to_json(times.warm)}, {"cold", to_json(times.cold)}};
}

template <Scalar S>
Json LuBenchGpu<S>::measure_left(const LeftTuning& tuning)
{
    const auto          pattern = pattern_there();
    auto                left = std::make_unique<LeftRefactor<S>>(gpu_, pattern, tuning);
    const Index         warps = left->warps();
    GpuEntryRefactor<S> refactor(gpu_, pattern, std::move(left), RefactorMethod::left);
    const Numeric       times = numeric<S>(refactor, values_.data());
    return {{"taken", "left"}, {"numeric", to_json(times.warm)}, {"cold", to_json(times.cold)}, {"warps", warps}};
}

template <Scalar S>
std::shared_ptr<const GpuLuPattern> LuBenchGpu<S>::pattern_there()
{
    const auto& pattern = system_.first.pattern;
    return std::make_shared<const GpuLuPattern>(gpu_, pattern, entry_inputs(*pattern, Cpu(bench_.threads)));
}

template <Scalar S>
Json LuBenchGpu<S>::ablation()
{
    Json       json = Json::array();
    const auto add = [&](const char* name, bool small_blocks, bool streams) {
        const auto          pattern = pattern_there();
        const RightTuning   tuning{.small_blocks = small_blocks, .streams = streams};
        GpuEntryRefactor<S> refactor(gpu_, pattern, std::make_unique<RightRefactor<S>>(gpu_, pattern, tuning),
                                     RefactorMethod::glu3);
        const Numeric       times = numeric<S>(refactor, values_.data());
        json.push_back({{"name", name}, {"numeric", to_json(times.warm)}, {"cold", to_json(times.cold)}});
    };
    add("glu3", true, true);
    add("no small blocks", false, true);
    add("no streams", true, false);
    return json;
}

#define ILUX_INSTANTIATE(S) template class LuBenchGpu<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
