// Rates of one matrix, ratios over all.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "ilux/lab/suites/bench_lu_report.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;
using Ratio = std::function<std::optional<double>(const Json& found)>;

/// Seconds that count, if the method was measured. Of cpu: with the most threads.
std::optional<double> seconds_of(const Json& found, std::string_view method, bool one_thread = false)
{
    std::optional<double> seconds;
    for (const Json& m : found["methods"])
        if (m["method"] == method && m.contains("seconds") && (!one_thread || m.value("threads", 0) == 1))
            seconds = m["seconds"].get<double>();  // threads ascend
    return seconds;
}

/// Seconds of a refactorization and a solution on one thread.
std::optional<double> with_solution(const Json& found, std::string_view method)
{
    for (const Json& m : found["methods"])
        if (m["method"] == method && m.value("threads", 1) == 1 && m.contains("numeric") && m.contains("solve"))
            return m["numeric"]["median"].get<double>() + m["solve"]["median"].get<double>();
    return {};
}

std::optional<double> best_published(const Json& found)
{
    std::optional<double> best;
    for (const char* method : {"left", "glu1", "glu3", "islu"})
        if (const auto seconds = seconds_of(found, method); seconds && (!best || *seconds < *best)) best = seconds;
    return best;
}

std::optional<double> divided(std::optional<double> by, std::optional<double> what)
{
    if (!by || !what || *what <= 0) return {};
    return *by / *what;
}

std::optional<double> dependency_ratio(const Json& found, const char* name)
{
    const auto dependencies = found.find("dependencies");
    if (dependencies == found.end() || !dependencies->contains(name) || !(*dependencies)[name].is_number()) return {};
    return (*dependencies)[name].get<double>();
}

std::optional<double> over_bound(const Json& found, std::string_view method)
{
    for (const Json& m : found["methods"])
        if (m["method"] == method && m.contains("over_bound")) return m["over_bound"].get<double>();
    return {};
}

void add_ratio(Json& summary, const char* name, const Json& findings, const Ratio& ratio)
{
    double logarithms = 0, least = std::numeric_limits<double>::infinity(), most = 0;
    int    matrices = 0;
    for (const Json& found : findings) {
        const auto value = ratio(found);
        if (!value || !(*value > 0) || !std::isfinite(*value)) continue;
        logarithms += std::log(*value);
        least = std::min(least, *value);
        most = std::max(most, *value);
        ++matrices;
    }
    if (matrices > 0)
        summary.push_back({{"ratio", name},
                           {"mean", std::exp(logarithms / matrices)},
                           {"least", least},
                           {"most", most},
                           {"matrices", matrices}});
}

}  // namespace

void add_rates(Json& found)
{
    for (Json& method : found["methods"])
        if (method.contains("numeric"))
            method["seconds"] = method[method.contains("cold") ? "cold" : "numeric"]["median"];
    if (!found.contains("nnz_LU")) return;
    const bool   complex = found.value("complex", false);
    const double doubles = complex ? 2 : 1;
    const double traffic = doubles * (16 * found["nnz_LU"].get<double>() + 8 * found["nnz"].get<double>());
    const double chain = found["levels"]["left"].get<double>() * device_rule::hop_seconds;
    found["least_traffic"] = traffic;
    for (Json& method : found["methods"]) {
        if (!method.contains("seconds")) continue;
        const double seconds = method["seconds"];
        method["gflops"] = (complex ? 4e-9 : 1e-9) * found["flops"].get<double>() / seconds;
        method["bandwidth"] = traffic / seconds;
        if (!method.contains("copy_bandwidth")) continue;
        const double bound = std::max(traffic / method["copy_bandwidth"].get<double>(), chain);
        method["over_bound"] = seconds / bound;
        found["bound"] = {{"seconds", bound}, {"hop", device_rule::hop_seconds}};
    }
}

Json summary_json(const Json& findings)
{
    Json       summary = Json::array();
    const auto add = [&](const char* name, const Ratio& ratio) { add_ratio(summary, name, findings, ratio); };
    const auto times = [&](const char* name, std::string_view slow, std::string_view fast) {
        add(name, [=](const Json& found) { return divided(seconds_of(found, slow), seconds_of(found, fast)); });
    };
    add("best published / auto",
        [](const Json& found) { return divided(best_published(found), seconds_of(found, "auto")); });
    times("left / auto", "left", "auto");
    times("glu1 / auto", "glu1", "auto");
    times("glu3 / auto", "glu3", "auto");
    times("islu / auto", "islu", "auto");
    times("cpu / auto", "cpu", "auto");
    times("cudss / auto", "cudss", "auto");
    times("cudss / supernodes_gpu", "cudss", "supernodes_gpu");
    add("cpu / auto, n > 30000", [](const Json& found) -> std::optional<double> {
        if (found.value("n", 0) <= 30'000) return {};
        return divided(seconds_of(found, "cpu"), seconds_of(found, "auto"));
    });
    add("auto / bound", [](const Json& found) { return over_bound(found, "auto"); });
    add("cpu, 1 thread / cpu", [](const Json& found) -> std::optional<double> {
        return divided(seconds_of(found, "cpu", true), seconds_of(found, "cpu"));
    });
    times("klu / cpu", "klu", "cpu");
    add("klu / cpu, 1 thread",
        [](const Json& found) { return divided(seconds_of(found, "klu"), seconds_of(found, "cpu", true)); });
    add("klu / cpu, 1 thread, with a solution",
        [](const Json& found) { return divided(with_solution(found, "klu"), with_solution(found, "cpu")); });
    times("pardiso / cpu", "pardiso", "cpu");
    times("umfpack / cpu", "umfpack", "cpu");
    for (const auto& [name, rival] : {std::pair{"cpu / supernodes", "cpu"},
                                      {"klu / supernodes", "klu"},
                                      {"pardiso / supernodes", "pardiso"},
                                      {"umfpack / supernodes", "umfpack"},
                                      {"superlu / supernodes", "superlu"}})
        times(name, rival, "supernodes");
    times("superlu / cpu", "superlu", "cpu");
    add("complex / real, cpu, 1 thread", [](const Json& found) -> std::optional<double> {
        for (const Json& m : found["methods"])
            if (m.value("threads", 0) == 1 && m.contains("real") && m["real"].is_object() && m.contains("seconds"))
                return divided(m["seconds"].get<double>(), m["real"]["median"].get<double>());
        return {};
    });
    add("complex / real, auto", [](const Json& found) -> std::optional<double> {
        for (const Json& m : found["methods"])
            if (m.value("method", "") == "auto" && m.contains("real") && m.contains("cold"))
                return divided(m["cold"]["median"].get<double>(), m["real"]["cold"]["median"].get<double>());
        return {};
    });
    add("dependencies: exact / relaxed", [](const Json& found) { return dependency_ratio(found, "exact_by_relaxed"); });
    add("dependencies: GLU 2.0 / exact, n > 30000", [](const Json& found) -> std::optional<double> {
        if (found.value("n", 0) <= 30'000) return {};
        return dependency_ratio(found, "published_by_exact");
    });
    return summary;
}

}  // namespace ilux::app
