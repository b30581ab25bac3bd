// cuDSS on the device of LuBenchGpu, and our supernodes measured as it is.

#include <nlohmann/json.hpp>

#include "ilux/apps/program/progress.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_solve.hpp"
#include "ilux/lab/rivals/cudss_rival.hpp"
#include "ilux/lab/suites/bench_lu_gpu.hpp"
#include "ilux/engine/report/lu_facts.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

Json facts_json(const CudssFacts& facts)
{
    Json       json{{"version", facts.version}, {"host_threads", facts.host_threads}};
    const auto add = [&](const char* name, const std::optional<std::int64_t>& value) {
        if (value) json[name] = *value;
    };
    add("nnz_LU", facts.nnz_LU);
    add("bytes", facts.bytes);
    add("host_bytes", facts.host_bytes);
    add("perturbed_pivots", facts.perturbed_pivots);
    add("refine_steps", facts.refine_steps);
    add("refine_limit", facts.refine_limit);
    return json;
}

}  // namespace

template <Scalar S>
Json LuBenchGpu<S>::timed_solution(const std::function<void(const S* b, S* x)>& solve)
{
    DeviceBuffer<S> b(system_.b.size()), x(system_.b.size());
    upload<S>(gpu_, system_.b, b);
    const Numeric  times = numeric_times([&] { solve(b.data(), x.data()); });
    std::vector<S> host_x(system_.b.size());
    download<S>(gpu_, x, host_x);
    return {{"solve", to_json(times.warm)},
            {"solve_cold", to_json(times.cold)},
            {"backward_error", ilux::measure<S>(system_.A, host_x, system_.b).rowwise},
            {"copy_bandwidth", copy_bandwidth_}};
}

template <Scalar S>
Json LuBenchGpu<S>::measure_supernodes()
{
    Json            json{{"method", "supernodes_gpu"}};
    Cpu             be(bench_.threads);
    DeviceBuffer<S> first(system_.first_values.size());
    upload<S>(gpu_, system_.first_values, first);
    WallClock           clock;
    const LuOptions     options;
    const auto          symbolic = ilux::analyse<S>(first_view(system_), options, {}, be);
    const auto          plan = make_front_plan(be, *symbolic);
    const auto          pattern = front_pattern<S>(be, *symbolic, *plan, options, system_.first_values);
    GpuFrontRefactor<S> refactor(gpu_, plan, pattern);
    GpuFrontSolve<S>    solve(gpu_, refactor, Transpose::no);
    gpu_.synchronize();
    json["analyse"] = clock.seconds();
    clock = WallClock();
    refactor.run(gpu_, first.data());
    gpu_.synchronize();
    json["factor"] = clock.seconds();
    json["prepare"] = json["analyse"].template get<double>() + json["factor"].template get<double>();

    json["transfer"] = to_json(transfer_times());
    const GpuGraph graph(gpu_, [&] { refactor.run(gpu_, values_.data()); });
    const Numeric  times = numeric_times([&] { graph.launch(gpu_); });
    json["numeric"] = to_json(times.warm);
    json["cold"] = to_json(times.cold);
    const PivotMonitor monitor = refactor.monitor(gpu_);
    require_pivots("supernodes_gpu", monitor);
    GpuGraph solution;
    json.update(timed_solution([&](const S* b, S* x) {
        if (!solution) solution = GpuGraph(gpu_, [&] { solve.run(gpu_, b, x); });
        solution.launch(gpu_);
    }));
    json.update({{"version", ILUX_VERSION},
                 {"host_threads", be.threads()},
                 {"nnz_LU", plan->numbers()},
                 {"flops", 2 * plan->multiply_adds},
                 {"ordering", field_text(symbolic->report.ordering)},
                 {"bytes", refactor.bytes() + solve.bytes()},
                 {"perturbed_pivots", monitor.replaced},
                 {"refine_steps", 0}});
    return json;
}

template <Scalar S>
Json LuBenchGpu<S>::measure_cudss()
{
    Json            json{{"method", "cudss"}};
    DeviceBuffer<S> first(system_.first_values.size());
    upload<S>(gpu_, system_.first_values, first);
    const int  threads = Cpu(bench_.threads).threads();
    const auto prepared = [&](const char* analyse, const char* factor) {
        auto      cudss = std::make_unique<CudssRival<S>>(gpu_, system_.A, threads);
        WallClock clock;
        cudss->analyse(first.data());
        gpu_.synchronize();
        json[analyse] = clock.seconds();
        clock = WallClock();
        cudss->factor(first.data());
        gpu_.synchronize();
        json[factor] = clock.seconds();
        return cudss;
    };
    prepared("first_analyse", "first_factor");
    const auto cudss = prepared("analyse", "factor");
    json["prepare"] = json["analyse"].get<double>() + json["factor"].get<double>();

    json["transfer"] = to_json(transfer_times());
    const Numeric times = numeric_times([&] { cudss->refactor(values_.data()); });
    json["numeric"] = to_json(times.warm);
    json["cold"] = to_json(times.cold);
    json.update(timed_solution([&](const S* b, S* x) { cudss->solve(b, x); }));
    json.update(facts_json(cudss->facts()));
    return json;
}

#define ILUX_INSTANTIATE(S)                                                                                  \
    template nlohmann::ordered_json LuBenchGpu<S>::timed_solution(const std::function<void(const S*, S*)>&); \
    template nlohmann::ordered_json LuBenchGpu<S>::measure_cudss();                                          \
    template nlohmann::ordered_json LuBenchGpu<S>::measure_supernodes();
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
