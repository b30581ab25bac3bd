#include "ilux/lab/suites/bench_lu_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ilux/apps/draw/bar_chart.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/types.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// In the order of the chart and its colours; those from cudss on only where one was measured.
constexpr std::size_t                      always_charted = 7;
constexpr std::array<std::string_view, 11> charted{"auto", "left",  "glu1",    "glu3",    "islu",   "cpu",
                                                   "klu",  "cudss", "pardiso", "umfpack", "superlu"};

/// JSON has no NaN or infinity, and writes null for them.
double number(const Json& json) { return json.is_number() ? json.get<double>() : std::nan(""); }

/// Milliseconds with three digits.
std::string milliseconds(double seconds)
{
    const double value = 1e3 * seconds;
    return value < 0.9995  ? fmt::format("{:.4f}", value)
           : value < 99.95 ? fmt::format("{:.2f}", value)
                           : fmt::format("{:.0f}", value);
}

/// The median in an object of times, or "-" without one.
std::string median_ms(const Json& method, const char* stage)
{
    return method.contains(stage) ? milliseconds(method[stage]["median"].get<double>()) : "-";
}

/// How far the slowest run is from the fastest, in percent of the median.
std::string spread(const Json& times)
{
    const double median = times["median"], range = times["most"].get<double>() - times["least"].get<double>();
    return median > 0 ? fmt::format("{:.0f} %", 100 * range / median) : "-";
}

std::string label(const Json& method)
{
    const std::string name = method["method"];
    return method.contains("threads") ? fmt::format("{}, {} thr.", name, method["threads"].get<int>()) : name;
}

std::string method_line(const Json& method)
{
    if (!method.contains("seconds"))
        return fmt::format("  {:<16}{}\n", label(method),
                           printable(method.value("error", std::string("not measured"))));
    const Json& counted = method[method.contains("cold") ? "cold" : "numeric"];
    const auto  rate = [&](const char* name, double unit) {
        return method.contains(name) ? fmt::format("{:.3g}", unit * method[name].get<double>()) : "-";
    };
    return fmt::format("  {:<16}{:>9}{:>10}{:>9}{:>9}{:>8}{:>9}{:>9}{:>8}{:>8}{:>10}  {:.1e}\n", label(method),
                       milliseconds(method["prepare"].get<double>()), median_ms(method, "transfer"),
                       median_ms(method, "numeric"), median_ms(method, "cold"), spread(counted),
                       median_ms(method, "solve"), rate("gflops", 1), rate("bandwidth", 1e-9),
                       method.contains("over_bound") ? fmt::format("{:.1f}", method["over_bound"].get<double>()) : "-",
                       method.contains("bytes") ? bytes_text(method["bytes"].get<double>()) : "-",
                       number(method["backward_error"]));
}

std::string dependency_line(const Json& dependencies)
{
    if (dependencies.contains("error"))
        return fmt::format("  dependencies: {}\n", printable(dependencies["error"].get<std::string>()));
    const Json& published = dependencies["published"];
    const char* more = published["complete"].get<bool>() ? "" : "> ";
    return fmt::format(
        "  dependencies: exact {} ms, relaxed {} ms ({:.2f}×), the loops of GLU 2.0 {}{} ms ({}{:.0f}× the exact rule)\n",
        milliseconds(dependencies["exact"]["median"].get<double>()),
        milliseconds(dependencies["relaxed"]["median"].get<double>()), number(dependencies["exact_by_relaxed"]), more,
        milliseconds(published["seconds"].get<double>()), more, number(dependencies["published_by_exact"]));
}

std::string matrix_lines(const Json& found)
{
    const Json& levels = found["levels"];
    const auto  level = [&](const char* rule) { return levels[rule].get<Index>(); };
    return fmt::format(
        " ({}), n {}, nnz {}; {}: blocks {}, L + U {}, F {}, fill {:.2f}, {:.3g} flops; longest column {} "
        "updates\n  levels: left {}, exact {}, relaxed {}; exact with at most {} columns {}\n",
        found["source"].get<std::string>(), found["n"].get<Offset>(), found["nnz"].get<Offset>(),
        found["ordering"].get<std::string>(), found["blocks"].get<Index>(), found["nnz_LU"].get<Offset>(),
        found["nnz_F"].get<Offset>(), found["fill"].get<double>(), found["flops"].get<double>(),
        found["longest_column"].get<Index>(), level("left"), level("exact"), level("relaxed"), level("capacity"),
        level("resource_aware"));
}

/// How a rival came to its times: what it prepared, what its factors are.
std::string rival_line(const Json& method)
{
    const auto counted = [&](const char* name, const char* before) {
        const bool told = method.contains(name) && method[name].is_number();
        return told ? fmt::format(", {}{:.0f}", before, method[name].get<double>()) : "";
    };
    return fmt::format("  {} {}: analysis {} ms, first factorization {} ms{}{}{}{}{}\n",
                       method["method"].get<std::string>(), method["version"].get<std::string>(),
                       milliseconds(method["analyse"].get<double>()), milliseconds(method["factor"].get<double>()),
                       counted("nnz_LU", "L + U "), counted("refine_steps", "steps of refinement "),
                       counted("perturbed_pivots", "perturbed pivots "), counted("host_threads", "host threads "),
                       method.contains("blas") ? ", " + method["blas"].get<std::string>() : "");
}

std::string rival_lines(const Json& found)
{
    std::string text;
    for (const Json& method : found["methods"])
        if (method.contains("version")) text += rival_line(method);
    return text;
}

std::string glu3_lines(const Json& found)
{
    std::string text;
    for (const Json& method : found["methods"])
        if (method.contains("modes"))
            text += fmt::format("  glu3, levels by mode: small block {}, large block {}, stream {}\n",
                                method["modes"]["small_block"].get<Index>(),
                                method["modes"]["large_block"].get<Index>(), method["modes"]["stream"].get<Index>());
    const auto ablation = found.find("ablation");
    if (ablation == found.end()) return text;
    if (!ablation->is_array())
        return text + fmt::format("  ablation: {}\n", printable(ablation->value("error", std::string())));
    text += "  ablation, cold:";
    for (const Json& form : *ablation)
        text += fmt::format(" {} {} ms;", form["name"].get<std::string>(), median_ms(form, "cold"));
    text.back() = '\n';
    return text;
}

const Json* find_method(const Json& found, std::string_view name)
{
    const Json* last = nullptr;  // of cpu: the one with most threads
    for (const Json& method : found["methods"])
        if (method["method"] == name && method.contains("seconds")) last = &method;
    return last;
}

/// circuit_4 of gallery:circuit_4:n=7, of a/b/circuit_4.mtx.gz and of a/circuit_4/.
std::string label_of(std::string name)
{
    if (name.starts_with("gallery:")) {
        name.erase(0, 8);
        return name.substr(0, name.find(':'));
    }
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    name.erase(0, name.find_last_of('/') + 1);
    return name.substr(0, name.find(".mtx"));
}

std::vector<std::string> charted_methods(const Json& findings)
{
    std::vector<std::string> methods;
    for (std::size_t k = 0; k < charted.size(); ++k)
        if (k < always_charted ||
            std::ranges::any_of(findings, [&](const Json& found) { return find_method(found, charted[k]) != nullptr; }))
            methods.emplace_back(charted[k]);
    return methods;
}

BarGroup lu_bars(const Json& found, const std::vector<std::string>& methods)
{
    BarGroup group{.name = label_of(found["name"]), .bars = {}};
    for (std::size_t k = 0; k < methods.size(); ++k) {
        const Json* method = find_method(found, methods[k]);
        if (method == nullptr) continue;
        const double seconds = (*method)["seconds"];
        Bar bar{.label = "", .value = milliseconds(seconds) + " ms", .parts = std::vector<double>(methods.size())};
        bar.parts[k] = 1e3 * seconds;
        group.bars.push_back(std::move(bar));
    }
    return group;
}

}  // namespace

std::string lu_bench_head()
{
    return "Milliseconds, medians; numeric: caches warm; cold: a GPU's caches full of other data, and what the spread (slowest "
           "less\nfastest) and all that follows refer to. GB/s: values of L + U read and written once, of A read once. "
           "bound: the longest of\nthat traffic at the speed of a copy, and levels `left` × 0.26 µs. error: "
           "componentwise, of a refined solution; other\nsolvers' as "
           "they refine by themselves.\n\n" +
           fmt::format("  {:<16}{:>9}{:>10}{:>9}{:>9}{:>8}{:>9}{:>9}{:>8}{:>8}{:>10}  {}\n", "", "prepare", "transfer",
                       "numeric", "cold", "spread", "solve", "Gflop/s", "GB/s", "/bound", "memory", "error");
}

std::string lu_bench_lines(const Json& found)
{
    std::string text = printable(found["name"].get<std::string>());
    if (found.contains("nnz_LU")) text += matrix_lines(found);
    else if (found.contains("n"))
        text += fmt::format(" ({}), n {}, nnz {}\n", found["source"].get<std::string>(), found["n"].get<Offset>(),
                            found["nnz"].get<Offset>());
    else text += '\n';
    if (found.contains("dependencies")) text += dependency_line(found["dependencies"]);
    for (const Json& method : found["methods"]) text += method_line(method);
    text += rival_lines(found) + glu3_lines(found);
    if (!found["error"].is_null()) text += fmt::format("  {}\n", printable(found["error"].get<std::string>()));
    return text + '\n';
}

std::string lu_summary_lines(const Json& summary)
{
    if (summary.empty()) return "";
    std::string text =
        fmt::format("{:<44}{:>12}{:>10}{:>10}{:>10}\n", "Ratios of times", "geom. mean", "least", "most", "matrices");
    for (const Json& row : summary)
        text += fmt::format("  {:<42}{:>12.3g}{:>10.3g}{:>10.3g}{:>10}\n", row["ratio"].get<std::string>(),
                            row["mean"].get<double>(), row["least"].get<double>(), row["most"].get<double>(),
                            row["matrices"].get<int>());
    return text;
}

std::string lu_bench_chart(const Json& findings, const std::string& machine)
{
    BarChart chart{.title = "LU with given pivots: time of one refactorization",
                   .subtitle = machine,
                   .axis = "milliseconds",
                   .parts = charted_methods(findings),
                   .notes =
                       {"Medians; a GPU's with cold caches and its values in device memory. cpu: with most threads."},
                   .groups = {}};
    double   least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Json& found : findings) {
        chart.groups.push_back(lu_bars(found, chart.parts));
        for (const Bar& bar : chart.groups.back().bars) {
            least = std::min(least, std::ranges::max(bar.parts));
            most = std::max(most, std::ranges::max(bar.parts));
        }
    }
    if (most == 0) least = most = 1;
    chart.bottom = std::pow(10, std::floor(std::log10(least)));
    if (chart.bottom >= 0.999 * least) chart.bottom /= 10;  // so that the shortest bar shows
    chart.top = std::max(std::pow(10, std::ceil(std::log10(most))), 10 * chart.bottom);
    return to_svg(chart);
}

}  // namespace ilux::app
