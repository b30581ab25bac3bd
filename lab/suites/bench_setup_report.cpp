#include "ilux/lab/suites/bench_setup_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "ilux/apps/draw/bar_chart.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/types.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 7> charted_parts{"analyse", "sets",     "eliminate", "assemble",
                                                   "tail",    "transfer", "solve"};

/// Milliseconds with three digits or more, or "-" for what a way has not.
std::string ms_text(const Json& seconds)
{
    if (!seconds.is_number() || seconds.get<double>() == 0) return "-";
    const double value = 1e3 * seconds.get<double>();
    return value < 9.995   ? fmt::format("{:.2f}", value)
           : value < 99.95 ? fmt::format("{:.1f}", value)
                           : fmt::format("{:.0f}", value);
}

std::string count_text(const Json& count) { return count.is_number() ? fmt::format("{}", count.get<Offset>()) : "-"; }

std::string number_text(const Json& number, std::string_view words)
{
    if (!number.is_number()) return "-";
    const auto value = number.get<double>();
    return fmt::vformat(words, fmt::make_format_args(value));
}

/// "rounds, 4 threads", "rounds, GPU" or a rival's name.
std::string way_label(const Json& way)
{
    std::string       text = way["way"];
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return text;
    const std::string place = text.substr(colon + 1);
    return fmt::format("{}, {}", text.substr(0, colon),
                       place == "gpu" ? "GPU" : place + (place == "1" ? " thread" : " threads"));
}

bool was_measured(const Json& way) { return way.contains("seconds"); }

bool reached(const Json& way) { return way["outcome"] == name(Outcome::converged); }

std::string way_line(const Json& way)
{
    if (!was_measured(way))
        return fmt::format("  {:<20}{}\n", way_label(way), printable(way.value("error", std::string("not measured"))));
    const Json& seconds = way["seconds"];
    const auto  ms = [&](const char* part) { return ms_text(seconds[part]); };
    std::string line =
        fmt::format("  {:<20}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>10}{:>9}{:>7}{:>8}{:>8}{:>7}{:>9}{:>9}  {}",
                    way_label(way), ms("analyse"), ms("factor"), ms("sets"), ms("eliminate"), ms("assemble"),
                    ms("tail"), ms("transfer"), ms("setup"), number_text(way["fill"], "{:.2f}"),
                    count_text(way["levels"]), count_text(way["rounds"]), count_text(way["steps"]), ms("solve"),
                    ms("total"), number_text(way["relative_residual"], "{:.1e}"));
    if (!reached(way)) line += fmt::format("  {}", way["outcome"].get<std::string>());
    return line + "\n";
}

double seconds_at(const Json& seconds, const char* part)
{
    return seconds[part].is_number() ? seconds[part].get<double>() : 0;
}

/// The parts of a bar, in seconds: those charted_parts, the rest of the setup before transfer and solve.
std::vector<double> bar_parts(const Json& seconds)
{
    std::vector<double> parts;
    double              rest = seconds_at(seconds, "setup");
    for (const char* part : charted_parts) {
        parts.push_back(seconds_at(seconds, part));
        if (part != charted_parts.back()) rest -= parts.back();
    }
    parts.insert(parts.end() - 2, std::max(0., rest));
    return parts;
}

/// A name without gallery: or folders.
std::string short_name(const std::string& name)
{
    if (name.starts_with("gallery:")) return name.substr(8);
    return name.substr(name.find_last_of('/') + 1);
}

std::string way_letter(std::size_t k) { return k < 26 ? std::string(1, static_cast<char>('a' + k)) : "?"; }

/// @param ways  the labels of all systems, by which bars get their letters
BarGroup setup_bars(const Json& found, const std::vector<std::string>& ways)
{
    BarGroup group{.name = short_name(found["name"]), .bars = {}};
    double   unit = 0;  // the longest of ours: a rival may go beyond
    for (const Json& way : found["ways"])
        if (was_measured(way) && way["way"].get<std::string>().find(':') != std::string::npos)
            unit = std::max(unit, seconds_at(way["seconds"], "total"));
    for (const Json& way : found["ways"]) {
        if (!was_measured(way)) continue;
        if (unit == 0) unit = seconds_at(way["seconds"], "total");
        const auto at = std::ranges::find(ways, way_label(way));
        Bar        bar{.label = way_letter(static_cast<std::size_t>(at - ways.begin())) + (reached(way) ? "" : "!"),
                       .value = ms_text(way["seconds"]["total"]) + " ms",
                       .parts = bar_parts(way["seconds"])};
        for (double& part : bar.parts) part = unit > 0 ? part / unit : 0;
        group.bars.push_back(std::move(bar));
    }
    return group;
}

}  // namespace

std::string setup_bench_head(const std::string& method, double rtol)
{
    return fmt::format(
        "Milliseconds, medians. setup: from A to an M that can be applied; analyse (scaling, matching, ordering), factor and transfer "
        "are\nparts of it, and sets, elim., assem. and tail (the last level) of factor. solve: {} from x = 0 to {:g}. residual:\n"
        "‖b − A x‖₂ / ‖b‖₂, computed here for every x.\n\n"
        "  {:<20}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>10}{:>9}{:>7}{:>8}{:>8}{:>7}{:>9}{:>9}  {}\n",
        method, rtol, "", "analyse", "factor", "sets", "elim.", "assem.", "tail", "transfer", "setup", "fill", "levels",
        "rounds", "steps", "solve", "total", "residual");
}

std::string setup_bench_lines(const Json& found)
{
    std::string text = printable(found["name"].get<std::string>());
    if (found.contains("n"))
        text += fmt::format(": n {}, nnz {}, b {}", found["n"].get<Offset>(), found["nnz"].get<Offset>(),
                            printable(found["rhs"].get<std::string>()));
    text += '\n';
    for (const Json& way : found["ways"]) text += way_line(way);
    if (!found["error"].is_null()) text += fmt::format("  {}\n", printable(found["error"].get<std::string>()));
    return text;
}

std::string setup_bench_chart(const Json& findings, const std::string& machine)
{
    std::vector<std::string> ways;
    for (const Json& found : findings)
        for (const Json& way : found["ways"])
            if (was_measured(way) && std::ranges::count(ways, way_label(way)) == 0) ways.push_back(way_label(way));
    BarChart chart{.title = "Setup of preconditioners, and a Krylov method with them",
                   .subtitle = machine,
                   .axis = "time, relative",
                   .parts = {"analyse", "sets", "eliminate", "assemble", "tail", "Crout's sweep, rest", "transfer",
                             "solve"},
                   .notes = {},
                   .groups = {},
                   .top = 1};
    for (const Json& found : findings) chart.groups.push_back(setup_bars(found, ways));
    for (std::size_t k = 0; k < ways.size(); ++k) chart.notes.push_back(fmt::format("{}: {}", way_letter(k), ways[k]));
    chart.notes.emplace_back(
        "Above each bar its whole time; 1 is the longest of ours. A rival's bar with a gap goes on beyond.");
    chart.notes.emplace_back("!: the residual asked for was not reached.");
    return to_svg(chart);
}

}  // namespace ilux::app
