#include "ilux/solver/compare/compare.hpp"

#include <fmt/core.h>

#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/engine/machine/host.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

void require_comparable(const SolverOptions& options, std::span<const std::string> names)
{
    for (const std::string& name : names)
        if (name != "direct" && name != "iterative" && name != "auto")
            throw InvalidOption(fmt::format("there is no strategy '{}'; there are direct, iterative and auto", name));
    if (options.mode != SolverMode::automatic)
        throw InvalidOption(
            fmt::format("mode={}: what is compared are the strategies themselves", field_text(options.mode)));
    if (!options.plan.empty()) throw InvalidOption("plan: a comparison measures what it takes to make one");
    if (options.method == MethodChoice::lu)
        throw InvalidOption("method=lu: ask for the strategy direct; method is of the iteration");
}

std::vector<Strategy> on_devices(DeviceChoice device, std::span<const std::string> names)
{
    const bool            gpu = device != DeviceChoice::cpu && built_with_cuda() && gpu_count() > 0;
    std::vector<Strategy> all;
    for (const std::string& name : names) {
        if (device != DeviceChoice::gpu) all.push_back({name, "", "cpu"});
        if (gpu) all.push_back({name, "", "gpu"});
    }
    return all;
}

void fail(Json& row, std::string_view outcome, const std::string& why)
{
    row["outcome"] = outcome;
    row["detail"] = why;
}

template <Scalar S>
Json measured_row(const Strategy& strategy, const SystemToMeasure<S>& given)
{
    constexpr double   none = std::numeric_limits<double>::infinity();
    Json               row = strategy_row(strategy);
    SystemToMeasure<S> system = given;
    const double       limit = given.options.time_limit;
    system.stop = given.stop.within(limit > 0 ? limit : none);
    try {
        measure_strategy<S>(strategy, system, [&](const Json& finding) { add_finding(row, finding); });
        given.stop.check();
    } catch (const Cancelled&) {
        throw;
    } catch (const InvalidOption&) {
        throw;
    } catch (const OutOfTime& late) {
        fail(row, name(Outcome::time_limit), late.what());
    } catch (const std::bad_alloc&) {
        fail(row, name(Outcome::out_of_memory), "the machine's memory is exhausted");
    } catch (const Error& error) {
        fail(row, "failed", error.what());
    }
    return row;
}

}  // namespace

template <Scalar S>
Json compare(const SystemToMeasure<S>& system, std::span<const std::string> names)
{
    require_comparable(system.options, names);
    require_device(system.options.device);
    require(system.repeats >= 1, [&] { return fmt::format("repeats is {}, less than 1", system.repeats); });
    Cpu serial(1);
    require(is_finite<S>(serial, system.b), [] { return "compare: b is not finite"; });
    Json rows = Json::array();
    for (const Strategy& strategy : on_devices(system.options.device, names))
        rows.push_back(measured_row(strategy, system));
    return rows;
}

#define ILUX_INSTANTIATE(S) template Json compare(const SystemToMeasure<S>&, std::span<const std::string>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
