// ilux-lab lu-model: the performance model of [chen_wang_14, section 6] against what is measured, as in its figures 11
// and C.8. The device's parameters, and then every matrix, are measured by a process of its own.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/io/text_file.hpp"
#include "ilux/lab/model/device_parameters_json.hpp"
#include "ilux/lab/model/measure_device.hpp"
#include "ilux/lab/suites/bench_lu_model_measure.hpp"
#include "ilux/lab/suites/bench_lu_model_report.hpp"
#include "ilux/lab/suites/lu_arguments.hpp"
#include "ilux/lab/suites/suites.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double parameters_limit = 120;  // seconds; they take two

struct LuModelArguments : LuArguments {
    std::vector<Index> warps{1, 2, 4, 8, 16, 24, 32, 48, 64};
    std::string        parameters;
};

/// @throws InvalidOption for anything but ascending numbers from 1
std::vector<Index> parse_warps(const std::string& text)
{
    std::vector<Index> warps;
    for (const std::string& word : split(text)) {
        Index value = 0;
        parse_field("warps", word, value);
        check_range("warps", value, within(1, 4096));
        if (!warps.empty() && value <= warps.back())
            throw InvalidOption(fmt::format("--warps: {} after {}; expected ascending numbers", value, warps.back()));
        warps.push_back(value);
    }
    return warps;
}

/// false: only help was asked for.
bool parse_lu_model(Arguments arguments, LuModelArguments& given)
{
    LuParser    parser("lu-model",
                       {.summary = "Compares predicted and measured times of LU refactorization on a GPU.",
                        .device = "cpu: only predictions and cpu, with --parameters; gpu: an error without one",
                        .json = "JSON objects, one a line, instead of the table",
                        .svg = "a chart of predicted against measured times",
                        .steps = "of --in-process: parameters, left:WARPS, a method, cpu:THREADS",
                        .left_out = "loop-limit"},
                       given);
    std::string warps;
    parser.option("--warps", warps, "of method left on a multiprocessor, as far as they fit", "N,...",
                  fmt::format("{}", fmt::join(given.warps, ",")));
    parser.option("--parameters", given.parameters, "measured before: a report of this suite, or its key parameters",
                  "FILE.json");
    if (!parser.read(arguments)) return false;
    if (!warps.empty()) given.warps = parse_warps(warps);
    return true;
}

/// Reads the parameters from a file; from one process to another the text is the object itself.
DeviceParameters read_parameters(const std::string& given)
{
    if (given.starts_with('{')) return parse_device_parameters(given, "--parameters");
    const TextFile file(given);
    return parse_device_parameters(file.view(), given);
}

/// By a process of its own. @throws DeviceError with its reason
DeviceParameters parameters_measured_apart()
{
    Json              found;
    const std::string ended = run_self({"lu-model", "--in-process", "--steps", "parameters"}, parameters_limit,
                                       [&](std::string_view line) { found = Json::parse(line, nullptr, false); });
    if (found.contains("error")) throw DeviceError(found["error"].get<std::string>());
    if (!ended.empty() || !found.contains("parameters"))
        throw DeviceError(fmt::format("measuring the device's parameters {}", ended.empty() ? "found none" : ended));
    return parse_device_parameters(found.dump(), "device");
}

void measure_in_process(const LuModelArguments& given)
{
    if (given.steps == std::vector<std::string>{"parameters"}) {
        const std::string why = failure_of([] {
            Gpu gpu;
            print_finding({{"parameters", to_json(measure_device(gpu))}});
        });
        if (!why.empty()) print_finding({{"error", why}});
        return;
    }
    const DeviceParameters device = read_parameters(given.parameters);
    for (const std::string& path : given.paths)
        measure_lu_model(given.bench, path, device, given.warps, given.steps, print_finding);
}

/// What one matrix is measured by, in order.
std::vector<std::string> steps_of(const LuModelArguments& given, bool gpu)
{
    std::vector<std::string> steps{fmt::format("cpu:{}", Cpu(given.bench.threads).threads())};
    if (!gpu) return steps;
    for (const Index each : given.warps) steps.push_back(fmt::format("left:{}", each));
    for (const char* method : {"dataflow", "left", "glu3", "glu1", "islu"}) steps.emplace_back(method);
    return steps;
}

Json named_step(const std::string& step, Json result)
{
    if (step.starts_with("left:")) result["each"] = std::stoi(step.substr(5));
    else result["method"] = step.starts_with("cpu:") ? "cpu" : step;
    return result;
}

Json measured_apart(const LuModelArguments& given, const std::string& path, const Json& parameters,
                    const std::vector<std::string>& steps)
{
    Json found{{"name", path}};
    found["measured"] = {{"left", Json::array()}, {"methods", Json::array()}};
    found["error"] = nullptr;
    const std::vector<std::string> again{"lu-model",
                                         path,
                                         "--in-process",
                                         "--parameters",
                                         parameters.dump(),
                                         "--warps",
                                         fmt::format("{}", fmt::join(given.warps, ",")),
                                         "--repetitions",
                                         field_text(given.bench.repetitions),
                                         "--threads",
                                         field_text(given.bench.threads)};
    const auto                     add = [](Json& into, const std::string& step, const Json& result) {
        into["measured"][step.starts_with("left:") ? "left" : "methods"].push_back(named_step(step, result));
    };
    const auto failed = [](const std::string&, const std::string& why) { return Json{{"error", why}}; };
    measure_apart(found, again, steps, given.bench.time_limit, {.add = add, .failed = failed});
    add_comparison(found);
    return found;
}

Json head_json(const LuModelArguments& given, Arguments arguments, const Json& parameters, bool gpu)
{
    return {{"suite", "lu-model"},
            {"version", ILUX_VERSION},
            {"commit", given.commit.empty() ? Json(nullptr) : Json(given.commit)},
            {"command", fmt::format("ilux-lab lu-model {}", fmt::join(arguments, " "))},
            {"machine", machine_json(given.bench.threads, gpu)},
            {"repetitions", given.bench.repetitions},
            {"warps", given.warps},
            {"parameters", parameters}};
}

}  // namespace

int bench_lu_model(Arguments arguments)
{
    LuModelArguments given;
    if (!parse_lu_model(arguments, given)) return success;
    if (given.in_process) return measure_in_process(given), success;
    if (given.paths.empty()) throw InvalidOption("lu-model: PATHS are missing; see ilux-lab lu-model --help");
    if (given.device == DeviceChoice::cpu && given.parameters.empty())
        throw InvalidOption("lu-model: --device cpu measures no device; give --parameters FILE.json");
    const bool gpu = given.device != DeviceChoice::cpu && built_with_cuda() && gpu_count() > 0;
    if (!gpu && (given.device == DeviceChoice::gpu || given.parameters.empty())) require_device(DeviceChoice::gpu);

    const DeviceParameters device =
        given.parameters.empty() ? parameters_measured_apart() : read_parameters(given.parameters);
    const auto too_many = [&](Index each) { return each > device.resident_warps; };
    std::erase_if(given.warps, too_many);
    if (given.warps.empty())
        throw InvalidOption(fmt::format("--warps: at most {:.0f} fit on a multiprocessor", device.resident_warps));
    const Json parameters = to_json(device), head = head_json(given, arguments, parameters, gpu);
    if (given.json) print_finding(head);
    else write_out(lu_model_head(parameters));
    Json findings = Json::array();
    for (const std::string& path : given.paths) {
        if (isatty(STDERR_FILENO)) write_err(fmt::format("measuring {} ...\n", printable(path)));
        Json found = measured_apart(given, path, parameters, steps_of(given, gpu));
        if (given.json) print_finding(found);
        else write_out(lu_model_lines(found));
        findings.push_back(std::move(found));
    }
    const Json summary = lu_model_summary(findings);
    if (given.json) print_finding({{"summary", summary}});
    else write_out(lu_model_summary_lines(summary));
    if (given.svg) write_file(given.svg.file(), lu_model_chart(findings, gpu ? gpu_name(0) : cpu_name()));
    return summary.empty() ? not_converged : success;
}

}  // namespace ilux::app
