#include "ilux/lab/suites/bench_gmres_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ilux/apps/draw/bar_chart.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/lab/suites/bench_gmres.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> stages{"spmv", "precond", "ortho", "other"};

/// Milliseconds with three digits or more.
std::string ms(double seconds)
{
    const double value = 1e3 * seconds;
    return value < 9.995   ? fmt::format("{:.3f}", value)
           : value < 999.5 ? fmt::format("{:.1f}", value)
                           : fmt::format("{:.0f}", value);
}

const Json* find_variant(const Json& found, std::string_view name)
{
    for (const Json& variant : found["variants"])
        if (variant["name"] == name && variant.contains("seconds")) return &variant;
    return nullptr;
}

/// "2.31×" against the baseline, or "" without one.
std::string gain(const Json* baseline, const Json& variant, const char* stage)
{
    if (baseline == nullptr || variant["name"] == "baseline") return "";
    const double was = (*baseline)["seconds"][stage], is = variant["seconds"][stage];
    return is > 0 ? fmt::format("{:.2f}×", was / is) : "";
}

std::string variant_line(const Json& variant, const Json* baseline)
{
    const std::string letter = variant["letter"];
    if (!variant.contains("seconds"))
        return fmt::format("  {:<3}{}\n", letter, variant.value("error", std::string("not measured")));
    const Json& seconds = variant["seconds"];
    const auto  part = [&](const char* stage) { return ms(seconds[stage].get<double>()); };
    std::string line =
        fmt::format("  {:<3}{:>6}{:>11}{:>11} {:>7}{:>11} {:>7}{:>11}{:>11} {:>7}  {:.1e}", letter,
                    variant["steps"].get<int>(), part("spmv"), part("precond"), gain(baseline, variant, "precond"),
                    part("ortho"), gain(baseline, variant, "ortho"), part("other"), part("total"),
                    gain(baseline, variant, "total"), variant["relative_residual"].get<double>());
    if (variant["outcome"] != "converged") line += fmt::format("  {}", variant["outcome"].get<std::string>());
    return line + '\n';
}

std::string setup_line(const Json& setup)
{
    return fmt::format("     M, {}: analyse {:.2f} s, factor {:.2f} s, {} levels, fill {:.2f}, chains of {} rows\n",
                       setup["off_diagonal"].get<std::string>(), setup["seconds_analyse"].get<double>(),
                       setup["seconds_factor"].get<double>(), setup["levels"].get<int>(), setup["fill"].get<double>(),
                       setup["depth"].get<Offset>());
}

/// What relative times refer to.
const Json* reference(const Json& found)
{
    const Json* baseline = find_variant(found, "baseline");
    return baseline != nullptr ? baseline : find_variant(found, "cpu");
}

BarGroup bars(const Json& found)
{
    BarGroup    group{.name = found["name"].get<std::string>() + (found.value("source", "") == "real" ? "" : "*"),
                      .bars = {}};
    const Json* base = reference(found);
    for (const std::string_view letter : {"a", "b", "c", "d"})
        for (const Json& variant : found["variants"]) {
            if (variant["letter"] != letter || !variant.contains("seconds") || base == nullptr) continue;
            const double unit = (*base)["seconds"]["total"];
            Bar          bar{.label = std::string(letter),
                             .value = ms(variant["seconds"]["total"].get<double>()) + " ms",
                             .parts = {}};
            for (const char* stage : stages)
                bar.parts.push_back(unit > 0 ? variant["seconds"][stage].get<double>() / unit : 0);
            group.bars.push_back(std::move(bar));
        }
    return group;
}

}  // namespace

std::string bench_head()
{
    std::string text;
    for (const std::string_view letter : {"a", "b", "c", "d"})
        for (const Variant& variant : variants())
            if (variant.letter == letter) text += fmt::format("{}  {}\n", variant.letter, variant.about);
    return text +
           "Milliseconds of one solve, medians; × against b, and in parentheses what the paper gained from b to c.\n\n" +
           fmt::format("  {:<3}{:>6}{:>11}{:>12}{:>7}{:>11} {:>7}{:>11}{:>11} {:>7}  {}\n", "", "steps", "SpMV", "M⁻¹",
                       "", "ortho", "", "other", "total", "", "residual");
}

std::string bench_lines(const Json& found)
{
    const std::string name = found["name"];
    const Json&       paper = found["paper"];
    std::string       text = name;
    if (found.contains("n"))
        text += fmt::format(" ({}), n {}, nnz {}", found["source"].get<std::string>(), found["n"].get<Offset>(),
                            found["nnz"].get<Offset>());
    text += fmt::format("; paper: {} steps (M⁻¹ {:.2f}×, ortho {:.2f}×, total {:.2f}×)\n", paper["steps"].get<int>(),
                        paper["precond"].get<double>(), paper["ortho"].get<double>(), paper["total"].get<double>());
    const Json* baseline = find_variant(found, "baseline");
    for (const std::string_view letter : {"a", "b", "c", "d"})
        for (const Json& variant : found["variants"])
            if (variant["letter"] == letter) text += variant_line(variant, baseline);
    for (const Json& setup : found["setup"]) text += setup_line(setup);
    if (!found["error"].is_null()) text += fmt::format("     {}\n", printable(found["error"].get<std::string>()));
    return text;
}

std::string bench_chart(const Json& findings, const std::string& machine)
{
    BarChart chart{.title = "GMRES with the multilevel ILU: time by stage",
                   .subtitle = machine,
                   .axis = "time, relative",
                   .parts = {"SpMV", "M⁻¹", "orthogonalization", "other"},
                   .notes = {},
                   .groups = {},
                   .top = 1};
    bool     gpu = false;
    for (const Json& found : findings) {
        gpu = gpu || find_variant(found, "baseline") != nullptr;
        chart.groups.push_back(bars(found));
    }
    chart.axis = gpu ? "time, b = 1" : "time, a = 1";
    for (const std::string_view letter : {"a", "b", "c", "d"})
        for (const Variant& variant : variants())
            if (variant.letter == letter && (gpu || !variant.on_gpu))
                chart.notes.push_back(fmt::format("{}: {}", variant.letter, variant.about));
    chart.notes.emplace_back("A bar with a gap goes on beyond the axis; above each the time of one solve.");
    chart.notes.emplace_back("* stand-in of the same size and kind, not the published matrix");
    return to_svg(chart);
}

}  // namespace ilux::app
