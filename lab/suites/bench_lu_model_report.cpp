#include "ilux/lab/suites/bench_lu_model_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "ilux/base/io/printable.hpp"
#include "ilux/base/types.hpp"
#include "ilux/lab/suites/scatter_chart.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double                          published_error = 0.218;  // [chen_wang_14, C.3], GTX580
constexpr std::array<std::string_view, 6> method_order{"dataflow", "left", "glu1", "glu3", "islu", "cpu"};

/// The object of an array whose `key` has this value, or null.
const Json* find_by(const Json& array, const char* key, const Json& value)
{
    for (const Json& one : array)
        if (one.contains(key) && one[key] == value) return &one;
    return nullptr;
}

Json compared(double predicted, const Json* measured)
{
    Json one{{"predicted", predicted}};
    if (measured == nullptr) return one;
    if (measured->contains("error")) {
        one["error"] = (*measured)["error"];
        return one;
    }
    const double seconds = (*measured)["numeric"]["median"];
    one["measured"] = seconds;
    if (measured->contains("cold")) one["measured_cold"] = (*measured)["cold"]["median"];
    one["relative_error"] = std::abs(predicted - seconds) / seconds;
    return one;
}

/// What of an array was predicted fastest, and was measured; against what was measured fastest. Null below two of them.
Json regret(const Json& compared, const char* key)
{
    const Json *chosen = nullptr, *best = nullptr;
    int         candidates = 0;
    for (const Json& one : compared) {
        if (!one.contains("measured") || one.contains("same_as")) continue;
        ++candidates;
        if (chosen == nullptr || one["predicted"] < (*chosen)["predicted"]) chosen = &one;
        if (best == nullptr || one["measured"] < (*best)["measured"]) best = &one;
    }
    if (candidates < 2) return nullptr;
    const double ratio = (*chosen)["measured"].get<double>() / (*best)["measured"].get<double>();
    return {{"chosen", (*chosen)[key]}, {"best", (*best)[key]}, {"ratio", ratio}};
}

Json left_comparison(const Json& predicted, const Json& measured)
{
    Json                  left = Json::array();
    std::map<Index, Json> seen;  // warps in all → each
    for (const Json& p : predicted) {
        Json one{{"each", p["each"]}, {"warps", p["warps"]}};
        one.update(compared(p["seconds"], find_by(measured, "each", p["each"])));
        for (const char* more : {"active", "miss", "case"}) one[more] = p[more];
        const auto [first, fresh] = seen.emplace(p["warps"].get<Index>(), p["each"]);
        if (!fresh) one["same_as"] = first->second;
        left.push_back(std::move(one));
    }
    return left;
}

/// Arithmetic and geometric mean, and the most, of what is asked of so many.
struct Statistics {
    double sum = 0, logarithms = 0, most = 0;
    int    count = 0;

    void add(double value)
    {
        sum += value;
        logarithms += std::log(value);
        most = std::max(most, value);
        ++count;
    }
    double mean() const { return sum / count; }
    double geometric_mean() const { return std::exp(logarithms / count); }
};

Statistics errors_of(const Json& findings, const char* list, std::string_view method)
{
    Statistics all;
    for (const Json& found : findings)
        if (found.contains(list))
            for (const Json& one : found[list])
                if (one.contains("relative_error") && !one.contains("same_as") && one.value("method", "") == method)
                    all.add(one["relative_error"]);
    return all;
}

std::string in_ms(double seconds) { return fmt::format("{:.4g}", 1e3 * seconds); }

std::string pair_text(const Json& one)
{
    const std::string predicted = in_ms(one["predicted"]);
    if (!one.contains("measured")) return fmt::format("{:>10}{:>10}{:>8}", predicted, "-", "-");
    return fmt::format("{:>10}{:>10}{:>7.0f} %", predicted, in_ms(one["measured"]),
                       100 * one["relative_error"].get<double>());
}

std::string regret_text(const Json& regret, const char* what)
{
    if (regret.is_null()) return "";
    const auto name = [](const Json& of) { return of.is_string() ? of.get<std::string>() : of.dump(); };
    return fmt::format("  {} chosen {}, best {}: {:.2f} times the best time\n", what, name(regret["chosen"]),
                       name(regret["best"]), regret["ratio"].get<double>());
}

}  // namespace

void add_comparison(Json& found)
{
    if (!found.contains("predicted")) return;
    const Json predicted = found["predicted"], measured = found["measured"];
    found["left"] = left_comparison(predicted["left"], measured["left"]);
    found["methods"] = Json::array();
    for (const std::string_view method : method_order) {
        const Json* p = find_by(predicted["methods"], "method", method);
        if (p == nullptr) continue;
        Json one{{"method", method}};
        one.update(compared((*p)["seconds"], find_by(measured["methods"], "method", method)));
        found["methods"].push_back(std::move(one));
    }
    found["regret"] = {{"warps", regret(found["left"], "each")}, {"method", regret(found["methods"], "method")}};
    found["model_seconds"] = predicted["model_seconds"];
    found.erase("predicted");
    found.erase("measured");
}

Json lu_model_summary(const Json& findings)
{
    Json summary = Json::object();
    if (const Statistics left = errors_of(findings, "left", ""); left.count > 0)
        summary["left"] = {{"points", left.count},
                           {"mean_relative_error", left.mean()},
                           {"most", left.most},
                           {"published", published_error}};
    for (const std::string_view method : method_order)
        if (const Statistics errors = errors_of(findings, "methods", method); errors.count > 0)
            summary["methods"].push_back(
                {{"method", method}, {"matrices", errors.count}, {"mean_relative_error", errors.mean()}});
    for (const char* what : {"warps", "method"}) {
        Statistics ratios;
        for (const Json& found : findings)
            if (found.contains("regret") && !found["regret"][what].is_null())
                ratios.add(found["regret"][what]["ratio"]);
        if (ratios.count > 0)
            summary["regret"][what] = {{"matrices", ratios.count},
                                       {"mean", ratios.geometric_mean()},
                                       {"most", ratios.most}};
    }
    return summary;
}

std::string lu_model_head(const Json& parameters)
{
    const auto of = [&](const char* name) { return parameters[name].get<double>(); };
    return fmt::format(
        "{:.0f} multiprocessors at {:.3g} GHz, {:.0f} warps of left each; cycles of an access {:.0f} to {:.0f} (cache), "
        "{:.0f} to {:.0f} (memory);\nGB/s {:.0f} (memory), {:.0f} (cache of {:.0f} MB); cycles of a step {:.3g} full, "
        "{:.3g} alone; µs of a flag {:.3g}, a node {:.3g},\na level {:.3g}, a call {:.3g}.\nMilliseconds, numeric phase, "
        "caches warm, medians; W: warps of left on a multiprocessor.\n\n",
        of("multiprocessors"), 1e-9 * of("clock"), of("resident_warps"),
        parameters["cache_cycle"].front().get<double>(), parameters["cache_cycle"].back().get<double>(),
        parameters["global_cycle"].front().get<double>(), parameters["global_cycle"].back().get<double>(),
        1e-9 * of("bandwidth"), 1e-9 * of("cache_bandwidth"), 1e-6 * of("cache_bytes"), of("comp_cycle"),
        of("comp_latency"), 1e6 * of("flag"), 1e6 * of("launch"), 1e6 * of("barrier"), 1e6 * of("call"));
}

std::string lu_model_lines(const Json& found)
{
    std::string text = printable(found["name"].get<std::string>());
    if (!found.contains("left"))
        return text + fmt::format("\n  {}\n\n",
                                  found["error"].is_string() ? printable(found["error"].get<std::string>()) : "");
    text += fmt::format(" n {}, nnz(L + U) {}, levels {}, longest column {} updates; the model took {:.3g} ms\n",
                        found["n"].get<Offset>(), found["nnz_LU"].get<Offset>(), found["levels"]["left"].get<Index>(),
                        found["longest_column"].get<Index>(), 1e3 * found["model_seconds"].get<double>());
    text += fmt::format("  {:<10}{:>10}{:>10}{:>9}\n", "", "predicted", "measured", "error");
    for (const Json& one : found["left"])
        text += fmt::format("  {:<10}{}  case {}, {:.2g} at work, miss {:.2g}{}\n",
                            fmt::format("left W {}", one["each"].get<Index>()), pair_text(one), one["case"].get<int>(),
                            one["active"].get<double>(), one["miss"].get<double>(),
                            one.contains("same_as") ? " (the same warps as before)" : "");
    for (const Json& one : found["methods"])
        text += fmt::format("  {:<10}{}{}\n", one["method"].get<std::string>(), pair_text(one),
                            one.contains("error") ? "  " + printable(one["error"].get<std::string>()) : "");
    text += regret_text(found["regret"]["warps"], "W") + regret_text(found["regret"]["method"], "method");
    if (!found["error"].is_null()) text += fmt::format("  {}\n", printable(found["error"].get<std::string>()));
    return text + '\n';
}

std::string lu_model_summary_lines(const Json& summary)
{
    std::string text;
    if (summary.contains("left"))
        text +=
            fmt::format("left: mean relative error {:.1f} % over {} points, most {:.0f} % ([chen_wang_14]: {:.1f} %)\n",
                        100 * summary["left"]["mean_relative_error"].get<double>(),
                        summary["left"]["points"].get<int>(), 100 * summary["left"]["most"].get<double>(),
                        100 * published_error);
    if (summary.contains("methods"))
        for (const Json& one : summary["methods"])
            text += fmt::format("{}: mean relative error {:.1f} % over {} matrices\n", one["method"].get<std::string>(),
                                100 * one["mean_relative_error"].get<double>(), one["matrices"].get<int>());
    if (summary.contains("regret"))
        for (const auto& [what, of] : summary["regret"].items())
            text += fmt::format("regret of the chosen {}: {:.3f} in geometric mean, most {:.2f}, {} matrices\n", what,
                                of["mean"].get<double>(), of["most"].get<double>(), of["matrices"].get<int>());
    return text;
}

std::string lu_model_chart(const Json& findings, const std::string& machine)
{
    ScatterChart chart{.title = "Refactorization: predicted against measured time",
                       .subtitle = machine,
                       .x = "measured, milliseconds",
                       .y = "predicted, milliseconds",
                       .series = {},
                       .notes = {
                           "A point a matrix and method, of left also a number of warps. Dashed: a factor of 2."}};
    const auto   add = [](ScatterSeries& series, const Json& one) {
        if (one.contains("measured") && !one.contains("same_as"))
            series.points.emplace_back(1e3 * one["measured"].get<double>(), 1e3 * one["predicted"].get<double>());
    };
    ScatterSeries left{.name = "left, all W"};
    for (const Json& found : findings)
        if (found.contains("left"))
            for (const Json& one : found["left"]) add(left, one);
    if (!left.points.empty()) chart.series.push_back(std::move(left));
    for (const std::string_view method : method_order) {
        if (method == "left") continue;  // is among those of all W
        ScatterSeries series{.name = std::string(method)};
        for (const Json& found : findings)
            if (found.contains("methods"))
                for (const Json& one : found["methods"])
                    if (one["method"] == method) add(series, one);
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
    return to_svg(chart);
}

}  // namespace ilux::app
