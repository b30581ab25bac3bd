#include "ilux/lab/suites/bench_lu_model_measure.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/lab/model/perf_methods.hpp"
#include "ilux/lab/suites/bench_lu_gpu.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// dataflow is what method auto takes where it does not take left.
std::string name_of(RefactorMethod method)
{
    return method == RefactorMethod::automatic ? "dataflow" : field_text(method);
}

Json measured_step(const LuSystem<>& system, const LuBench& bench, const DeviceParameters& device,
                   const std::string& step, std::unique_ptr<LuBenchGpu<>>& gpu)
{
    if (step.starts_with("cpu:")) {
        std::int32_t threads = 0;
        parse_field("threads", std::string_view(step).substr(4), threads);
        return {{"numeric", on_host(system, bench, threads)["numeric"]}};
    }
    if (!gpu) gpu = std::make_unique<LuBenchGpu<>>(system, bench);
    if (step.starts_with("left:")) {
        std::int32_t each = 0;
        parse_field("warps", std::string_view(step).substr(5), each);
        return gpu->measure_left({.warps = static_cast<Index>(each * device.multiprocessors)});
    }
    RefactorMethod method = RefactorMethod::automatic;
    if (step != "dataflow") parse_field("methods", step, method);
    Json found = gpu->measure_numeric(method);
    require(found["taken"] == step, [&] { return "auto takes " + found["taken"].get<std::string>() + " here"; });
    return found;
}

}  // namespace

Json predictions_json(const LuSystem<>& system, const DeviceParameters& device, const std::vector<Index>& each,
                      int threads)
{
    const LuPattern& P = *system.first.pattern;
    const WallClock  clock;
    const LeftModel  model(P, device);
    Json             left = Json::array(), methods = Json::array();
    for (const Index e : each) {
        const LeftPrediction found = model.predict(static_cast<Index>(e * device.multiprocessors));
        left.push_back({{"each", e},
                        {"warps", found.warps},
                        {"seconds", found.seconds},
                        {"active", found.active},
                        {"miss", found.miss},
                        {"case", static_cast<int>(found.which)}});
    }
    for (const MethodPrediction& found : predict_methods(P, device, threads))
        methods.push_back({{"method", name_of(found.method)}, {"seconds", found.seconds}});
    return {{"left", left}, {"methods", methods}, {"model_seconds", clock.seconds()}};
}

void measure_lu_model(const LuBench& bench, const std::string& path, const DeviceParameters& device,
                      const std::vector<Index>& each, const std::vector<std::string>& steps, const TakeJson& take)
{
    LuSystem<>        system;
    const std::string failure = failure_of([&] {
        system = load_lu_system(path);
        Json matrix = system_json(system);
        matrix["predicted"] = predictions_json(system, device, each, Cpu(bench.threads).threads());
        take({{"matrix", matrix}});
    });
    if (!failure.empty()) return take({{"error", failure}});
    std::unique_ptr<LuBenchGpu<>> gpu;
    run_steps(
        steps, [&](const std::string& step) { return measured_step(system, bench, device, step, gpu); }, take);
}

}  // namespace ilux::app
