#include "ilux/apps/compare/compare_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ilux/apps/draw/bar_chart.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/types.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> strategies{"direct", "iterative", "auto", "cusp"};

/// A program of others may answer with anything.
std::string text_of(const Json& row, const char* key)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

/// @param number  the number in the words of the column
template <class Words>
std::string cell(const Json& value, Words&& words)
{
    return value.is_number() ? words(value.get<double>()) : "-";
}

std::string seconds_cell(const Json& value)
{
    return cell(value, [](double seconds) {
        return seconds < 9.9995 ? fmt::format("{:.5f}", seconds) : fmt::format("{:.2f}", seconds);
    });
}

std::string residual_cell(const Json& value)
{
    return cell(value, [](double residual) { return fmt::format("{:.1e}", residual); });
}

/// 0 where it did not converge.
double seconds_to_answer(const Json& row)
{
    const Json& total = row["seconds"]["total"];
    return row["outcome"] == name(Outcome::converged) && total.is_number() ? total.get<double>() : 0;
}

/// Seconds of the strategy that auto began with over those of the faster one on that device; nothing unless both ran
/// and that one solved the system.
std::optional<double> chosen_over_faster(const Json& automatic, const Json& rows)
{
    double      chosen = 0, faster = std::numeric_limits<double>::infinity();
    std::size_t ran = 0;
    for (const Json& row : rows) {
        const auto strategy = text_of(row, "strategy");
        if (row["matrix"] != automatic["matrix"] || row["device"] != automatic["device"]) continue;
        if (strategy != "direct" && strategy != "iterative") continue;
        ++ran;
        const auto seconds = seconds_to_answer(row);
        if (strategy == text_of(automatic, "began_with")) chosen = seconds;
        if (seconds > 0) faster = std::min(faster, seconds);
    }
    if (ran < 2 || chosen == 0) return std::nullopt;
    return chosen / faster;
}

/// "iterative, gmres, mlilu, gpu"; the same in every group, and so the letter.
std::string about(const Json& row)
{
    const std::string strategy = text_of(row, "strategy"), precond = text_of(row, "precond");
    return fmt::format("{}{}, {}", strategy == "cusp" ? "CUSP" : strategy, strategy == "cusp" ? ", " + precond : "",
                       text_of(row, "device"));
}

std::vector<std::string> all_strategies(const Json& rows)
{
    std::vector<std::string> all;
    for (const Json& row : rows)
        if (std::ranges::count(all, about(row)) == 0) all.push_back(about(row));
    return all;
}

std::string letter(std::size_t k) { return std::string(1, static_cast<char>('a' + k)); }

Bar bar_of(const Json& row, const std::vector<std::string>& all)
{
    const auto   at = static_cast<std::size_t>(std::ranges::find(all, about(row)) - all.begin());
    const double seconds = seconds_to_answer(row);
    Bar          bar{.label = letter(at),
                     .value = seconds > 0 ? time_text(seconds) : text_of(row, "outcome"),
                     .parts = std::vector<double>(strategies.size())};
    const auto   strategy = std::ranges::find(strategies, text_of(row, "strategy")) - strategies.begin();
    bar.parts[static_cast<std::size_t>(strategy)] = seconds;
    return bar;
}

/// of a/b/circuit_4.mtx.gz, gallery:circuit_4:n=7 and a/circuit_4/.
std::string short_name(std::string name)
{
    if (name.starts_with("gallery:")) return name.substr(8, name.find(':', 8) - 8);
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    name.erase(0, name.find_last_of('/') + 1);
    return name.substr(0, name.find(".mtx"));
}

/// Powers of ten around all times, and below the shortest bar, so that it shows.
void choose_axis(BarChart& chart)
{
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const BarGroup& group : chart.groups)
        for (const Bar& bar : group.bars)
            if (const double seconds = std::ranges::max(bar.parts); seconds > 0) {
                least = std::min(least, seconds);
                most = std::max(most, seconds);
            }
    if (most == 0) least = most = 1;
    chart.bottom = std::pow(10, std::floor(std::log10(least)));
    if (chart.bottom >= 0.999 * least) chart.bottom /= 10;
    chart.top = std::max(std::pow(10, std::ceil(std::log10(most))), 10 * chart.bottom);
}

}  // namespace

std::string compare_head()
{
    return "Seconds. setup: analysis, factors or preconditioner, and transfer; refactor: new values with the pivots "
           "given; solve: median\nof short ones. steps: of an iteration in all attempts, or of refinement. residual: "
           "‖b − A x‖₂ / ‖b‖₂, computed here from x;\nconverged is said where it is ≤ rtol. tested: what CUSP stopped at, "
           "‖M(b − A x)‖₂ / ‖M b‖₂.\n\n" +
           fmt::format("  {:<10}{:<22}{:<5}{:>11}{:>11}{:>11}{:>8}{:>10}{:>10}  {}\n", "strategy", "preconditioner", "",
                       "setup", "refactor", "solve", "steps", "residual", "tested", "outcome");
}

std::string compare_matrix_line(const Json& head)
{
    const std::string matrix = printable(text_of(head, "matrix"));
    if (const std::string error = printable(text_of(head, "error")); !error.empty())
        return error.starts_with(matrix) ? error + '\n' : fmt::format("{}: {}\n", matrix, error);
    const bool  complex = head["complex"].get<bool>(), symmetric = head["symmetric"].get<bool>();
    const char* symmetry = complex && head["hermitian"].get<bool>() ? "Hermitian"
                           : symmetric                              ? "symmetric"
                                                                    : "not symmetric";
    return fmt::format("{}: n {}, nnz {}, {}{}; b: {}\n", matrix, head["n"].get<Offset>(), head["nnz"].get<Offset>(),
                       complex ? "complex, " : "", symmetry, printable(text_of(head, "rhs")));
}

std::string compare_line(const Json& row)
{
    const Json&       seconds = row["seconds"];
    const std::string detail = printable(text_of(row, "detail")), method = text_of(row, "method");
    const std::string strategy =
        text_of(row, "strategy") == "iterative" && !method.empty() ? method : text_of(row, "strategy");
    const bool        automatic = strategy == "auto" && !method.empty();
    const std::string precond = automatic && method == "lu" ? method
                                : automatic                 ? fmt::format("{}, {}", method, text_of(row, "precond"))
                                                            : text_of(row, "precond");
    const std::string steps = cell(row["steps"], [](double count) { return fmt::format("{:.0f}", count); });
    return fmt::format("  {:<10}{:<22}{:<5}{:>11}{:>11}{:>11}{:>8}{:>10}{:>10}  {}{}\n", strategy, precond,
                       text_of(row, "device"), seconds_cell(seconds["setup"]), seconds_cell(seconds["refactor"]),
                       seconds_cell(seconds["solve"]), steps, residual_cell(row["relative_residual"]),
                       residual_cell(row["tested_residual"]), text_of(row, "outcome"),
                       detail.empty() ? "" : ": " + detail);
}

void judge_choice(Json& row, const Json& rows)
{
    if (text_of(row, "strategy") != "auto") return;
    const auto ratio = chosen_over_faster(row, rows);
    row["chosen_over_faster"] = ratio ? Json(*ratio) : Json(nullptr);
    if (ratio && text_of(row, "detail").empty())
        row["detail"] =
            *ratio == 1 ? "the faster strategy was chosen"
                        : fmt::format("the strategy chosen takes {:.2f} times the seconds of the faster one", *ratio);
}

std::string compare_chart(const Json& rows, const std::string& machine)
{
    const auto  all = all_strategies(rows);
    BarChart    chart{.title = "Direct, iterative, auto and CUSP: setup and one solve",
                      .subtitle = machine,
                      .axis = "seconds",
                      .parts = {"direct", "iterative", "auto", "CUSP"},  // in the order of `strategies`
                      .notes = {},
                      .groups = {}};
    std::string matrix;
    for (const Json& row : rows) {
        if (chart.groups.empty() || matrix != text_of(row, "matrix")) {
            matrix = text_of(row, "matrix");
            chart.groups.push_back({.name = short_name(matrix), .bars = {}});
        }
        chart.groups.back().bars.push_back(bar_of(row, all));
    }
    for (std::size_t k = 0; k < all.size(); ++k) chart.notes.push_back(fmt::format("{}: {}", letter(k), all[k]));
    chart.notes.emplace_back("Without a bar: no solution of the accuracy asked for, and what there was instead.");
    choose_axis(chart);
    return to_svg(chart);
}

}  // namespace ilux::app
