// cuDSS on the device of LuBenchGpu.

#include <nlohmann/json.hpp>

#include "ilux/apps/bench/lu/bench_lu_gpu.hpp"
#include "ilux/apps/bench/lu/rivals/cudss_rival.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/report/lu_facts.hpp"

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
Json LuBenchGpu<S>::measure_cudss()
{
    Json            json{{"method", "cudss"}};
    DeviceBuffer<S> first(system_.first_values.size()), b(system_.b.size()), x(system_.b.size());
    upload<S>(gpu_, system_.first_values, first);
    upload<S>(gpu_, system_.b, b);
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
    json["solve"] = to_json(timed(bench_.repetitions, [&] {
        cudss->solve(b.data(), x.data());
        gpu_.synchronize();
    }));
    std::vector<S> host_x(system_.b.size());
    download<S>(gpu_, x, host_x);
    json["backward_error"] = ilux::measure<S>(system_.A, host_x, system_.b).rowwise;
    json["copy_bandwidth"] = copy_bandwidth_;
    json.update(facts_json(cudss->facts()));
    return json;
}

#define ILUX_INSTANTIATE(S) template nlohmann::ordered_json LuBenchGpu<S>::measure_cudss();
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
