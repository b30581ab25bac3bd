// ilux-lab lu: the tables of [peng_tan_20], [islu_24], [he16] and [chen_wang_14], measured here. Every matrix is
// measured by a process of its own; where a method does not end, or ends the process, the next one goes on with the
// methods that are left.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/lab/suites/bench_lu_measure.hpp"
#include "ilux/lab/suites/bench_lu_report.hpp"
#include "ilux/lab/suites/bench_lu_rivals.hpp"
#include "ilux/lab/suites/lu_arguments.hpp"
#include "ilux/lab/suites/suites.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// What is measured unless --methods says otherwise, in that order: what a crash or a time limit would cut off comes
/// last.
constexpr std::array<const char*, 7> standard_methods{"cpu", "klu", "auto", "left", "glu3", "glu1", "islu"};

/// Circuits with supply nets, with strings of elements and with random wires, a power grid and two meshes; about a
/// minute on two cores.
constexpr std::array<const char*, 6> standard_set{
    "gallery:like_ASIC_320ks:scale=0.1", "gallery:mna_random:n=5000,decades=6", "gallery:rlc_mesh:n=40,segments=10",
    "gallery:power_grid:n=100",          "gallery:like_G3_circuit:scale=0.03",  "gallery:poisson2d:n=120",
};

struct LuBenchArguments : LuArguments {
    std::vector<std::string> methods;
    bool                     ablation = false;
};

/// Rivals that only --methods names stand before the methods that a crash may cut off.
std::vector<std::string> all_methods()
{
    std::vector<std::string> all{"cpu", "klu"};
    for (const std::string& name : rival_names())
        if (name != "klu") all.push_back(name);
    all.insert(all.end(), std::ranges::find(standard_methods, std::string_view("auto")), standard_methods.end());
    return all;
}

/// The methods asked for, in our order. @throws InvalidOption with the nearest name
std::vector<std::string> chosen_methods(const std::string& given)
{
    const std::vector<std::string> known = all_methods(), wanted = split(given);
    for (const std::string& word : wanted) {
        if (std::ranges::count(known, word) > 0) continue;
        const std::string nearest = nearest_name(word, known);
        throw InvalidOption(fmt::format("--methods: there is no method '{}'; {}", word,
                                        nearest.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                        : fmt::format("did you mean '{}'?", nearest)));
    }
    std::vector<std::string> chosen;
    for (const std::string& name : known)
        if (std::ranges::count(wanted, name) > 0) chosen.push_back(name);
    return chosen;
}

/// false: only help was asked for.
bool parse_lu_bench(Arguments arguments, LuBenchArguments& given)
{
    LuParser    parser("lu",
                       {.summary = "Times LU factorizations with given pivots by every method that this machine has.",
                        .device = "cpu: no method of a GPU; gpu: an error without one",
                        .json = "one JSON object instead of the table",
                        .svg = "a chart of the numeric times",
                        .steps = "of --in-process: dependencies, a method, cpu:THREADS, ablation"},
                       given);
    std::string methods = fmt::format("{}", fmt::join(standard_methods, ","));
    parser.option("--methods", methods,
                  "some of them, or supernodes, supernodes_gpu, or other solvers: cudss, pardiso, umfpack, superlu",
                  "NAME,...", methods);
    parser.app()
        .add_flag("--ablation", given.ablation, "glu3 also without small blocks and without streams")
        ->group("Measurement");
    parser.app().needs_input = false;
    if (!parser.read(arguments)) return false;
    given.methods = chosen_methods(methods);
    if (given.paths.empty()) given.paths.assign(standard_set.begin(), standard_set.end());
    return true;
}

std::string why_not(const std::string& method, const std::string& no_gpu)
{
    if (method == "cpu") return "";
    return is_lu_rival(method) ? why_no_rival(method, no_gpu) : no_gpu;
}

/// What one matrix is measured by, in order.
std::vector<std::string> steps_of(const LuBenchArguments& given, const std::string& no_gpu)
{
    std::vector<std::string> steps;
    if (given.ablation || !std::ranges::all_of(given.methods, is_lu_rival)) steps.emplace_back("dependencies");
    for (const std::string& method : given.methods) {
        if (!why_not(method, no_gpu).empty()) continue;
        if (method != "cpu") {
            steps.push_back(method);
            continue;
        }
        const int threads = Cpu(given.bench.threads).threads();
        steps.emplace_back("cpu:1");
        if (threads > 1) steps.push_back(fmt::format("cpu:{}", threads));
    }
    if (given.ablation && no_gpu.empty()) steps.emplace_back("ablation");
    return steps;
}

void add_step(Json& found, const std::string& step, const Json& result)
{
    if (step == "dependencies" || step == "ablation") found[step] = result;
    else found["methods"].push_back(result);
}

Json failed_step(const std::string& step, const std::string& why)
{
    if (step == "dependencies" || step == "ablation") return {{"error", why}};
    if (!step.starts_with("cpu:")) return {{"method", step}, {"error", why}};
    return {{"method", "cpu"}, {"threads", std::stoi(step.substr(4))}, {"error", why}};
}

Json measured_apart(const LuBenchArguments& given, const std::string& path, const std::vector<std::string>& steps)
{
    Json                     found{{"name", path}, {"methods", Json::array()}, {"error", nullptr}};
    std::vector<std::string> again{"lu", path, "--in-process"};
    LuBench                  bench = given.bench;
    for_each_field(bench, [&](const std::string& name, auto& field, Range, std::string_view) {
        again.insert(again.end(), {"--" + name, field_text(field)});
    });
    measure_apart(found, again, steps, given.bench.time_limit, {.add = add_step, .failed = failed_step});
    add_rates(found);
    return found;
}

Json report_json(const LuBenchArguments& given, Arguments arguments, const std::string& no_gpu)
{
    Json json;
    json["suite"] = "lu";
    json["version"] = ILUX_VERSION;
    json["commit"] = given.commit.empty() ? Json(nullptr) : Json(given.commit);
    json["command"] = fmt::format("ilux-lab lu{}{}", arguments.empty() ? "" : " ", fmt::join(arguments, " "));
    json["machine"] = machine_json(given.bench.threads, no_gpu.empty());
    json["repetitions"] = given.bench.repetitions;
    json["unavailable"] = Json::array();
    for (const std::string& method : given.methods)
        if (const std::string why = why_not(method, no_gpu); !why.empty())
            json["unavailable"].push_back({{"method", method}, {"reason", why}});
    if (given.ablation && !no_gpu.empty()) json["unavailable"].push_back({{"method", "ablation"}, {"reason", no_gpu}});
    json["matrices"] = Json::array();
    return json;
}

/// Methods that share a reason share a line.
std::string unavailable_lines(const Json& unavailable)
{
    std::vector<std::pair<std::string, std::string>> lines;  // reason, methods
    for (const Json& one : unavailable) {
        const std::string method = one["method"], reason = one["reason"];
        const auto        same = std::ranges::find(lines, reason, &std::pair<std::string, std::string>::first);
        if (same == lines.end()) lines.emplace_back(reason, method);
        else same->second += ", " + method;
    }
    std::string text;
    for (const auto& [reason, methods] : lines) text += fmt::format("not measured: {} ({})\n", methods, reason);
    return text;
}

bool measured_any(const Json& found)
{
    return std::ranges::any_of(found["methods"], [](const Json& method) { return method.contains("numeric"); });
}

}  // namespace

int bench_lu(Arguments arguments)
{
    LuBenchArguments given;
    if (!parse_lu_bench(arguments, given)) return success;
    if (given.in_process) {
        for (const std::string& path : given.paths) measure_lu(given.bench, path, given.steps, print_finding);
        return success;
    }
    require_device(given.device);

    const std::string no_gpu = why_no_gpu_rows(given.device);
    const auto        steps = steps_of(given, no_gpu);
    Json              json = report_json(given, arguments, no_gpu);
    if (!given.json) write_out(unavailable_lines(json["unavailable"]) + lu_bench_head());
    bool measured = false;
    for (const std::string& path : given.paths) {
        if (isatty(STDERR_FILENO)) write_err(fmt::format("measuring {} ...\n", printable(path)));
        Json found = measured_apart(given, path, steps);
        if (!given.json) write_out(lu_bench_lines(found));
        measured = measured || measured_any(found);
        json["matrices"].push_back(std::move(found));
    }
    json["summary"] = summary_json(json["matrices"]);
    if (given.json) write_out(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    else write_out(lu_summary_lines(json["summary"]));
    if (given.svg)
        write_file(given.svg.file(), lu_bench_chart(json["matrices"], no_gpu.empty() ? gpu_name(0) : cpu_name()));
    return measured ? success : not_converged;
}

}  // namespace ilux::app
