#include "ilux/lab/suites/bench_accuracy_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ilux/base/io/printable.hpp"
#include "ilux/base/types.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// @param words  of a format for a number
std::string number_cell(const Json& value, std::string_view words)
{
    if (!value.is_number()) return "-";
    const auto number = value.get<double>();
    return fmt::vformat(words, fmt::make_format_args(number));
}

/// "" where it is no text.
std::string text_at(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool holds(const Json& row, const char* key)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_boolean() && found->get<bool>();
}

bool converged(const Json& row) { return text_at(row, "outcome") == name(Outcome::converged); }

std::string estimated_and_true(const Json& pair, const char* words)
{
    const auto one = [&](const char* key) { return number_cell(pair[key], words); };
    return fmt::format("{:>8} {:>8}", one("estimated"), one("true"));
}

std::string judged_line(const Json& row)
{
    const std::string method = text_at(row, "method"), used = text_at(row, "used");
    if (used.empty())
        return fmt::format("  {:<16}{}: {}\n", method, text_at(row, "outcome"), printable(text_at(row, "detail")));
    std::string line =
        fmt::format("  {:<16}{:<13}{:>5} {:>8} {:>8}  {}  {}  {} ",
                    method == used ? method : fmt::format("{} ({})", method, used), text_at(row, "outcome"),
                    row["steps"].get<Index>(), number_cell(row["relative_residual"], "{:.1e}"),
                    number_cell(row["rowwise"], "{:.1e}"), estimated_and_true(row["error"], "{:.1e}"),
                    estimated_and_true(row["worst_error"], "{:.1e}"), estimated_and_true(row["uncertain"], "{:.0f}"));
    for (const Json& off : row["off"]) line += fmt::format(" {:>8}", number_cell(off, "{:.2e}"));
    line += fmt::format(" {:>8}", seconds_text(row["seconds"]["total"].get<double>()));
    if (holds(row, "wrong")) line += holds(row, "wrong_silently") ? "  WRONG, no warning" : "  wrong, warned";
    return line + "\n";
}

std::string truth_text(const Json& truth)
{
    if (const std::string why = text_at(truth, "why_not"); !why.empty()) return "the truth is unknown: " + why;
    const Index counting = truth["counting"], known = truth["known"];
    if (counting == 0) return "x is 0, and no component counts";
    return fmt::format("{} of {} components that count are known; rounding A and b moves x by {} of ‖x‖_∞", known,
                       counting, number_cell(truth["movement"], "{:.1e}"));
}

/// Counts of one method.
struct Tally {
    Index  systems = 0, converged = 0, judged = 0, wrong = 0, wrong_silently = 0, warned = 0, needlessly = 0;
    Index  estimates = 0, within_10 = 0;
    double seconds = 0;

    void add(const Json& row)
    {
        ++systems;
        if (row.contains("seconds")) seconds += row["seconds"]["total"].get<double>();
        if (!app::converged(row)) return;
        ++converged;
        const bool warning = !text_at(row, "warning").empty(), known = row["wrong"].is_boolean();
        warned += warning;
        judged += known;
        wrong += holds(row, "wrong");
        wrong_silently += holds(row, "wrong_silently");
        needlessly += warning && known && !holds(row, "wrong");
        const Json& ratio = row["error"]["ratio"];
        if (!row["error"]["true"].is_number()) return;
        ++estimates;
        within_10 += ratio.is_number() && ratio.get<double>() <= 10 && ratio.get<double>() >= 0.1;
    }
    Json json(const std::string& method) const
    {
        return {{"method", method},
                {"systems", systems},
                {"converged", converged},
                {"judged", judged},
                {"wrong", wrong},
                {"wrong_silently", wrong_silently},
                {"warned", warned},
                {"needlessly", needlessly},
                {"estimates", estimates},
                {"within_10", within_10},
                {"share_within_10", estimates > 0 ? Json(static_cast<double>(within_10) / estimates) : Json(nullptr)},
                {"seconds", seconds}};
    }
};

}  // namespace

std::string accuracy_head()
{
    return fmt::format(
        "Every x beside an LU's that was refined in twice the precision. Errors estimated and true: ‖e‖_∞/‖x‖_∞; of the worst\n"
        "component above 1e-12 of the largest; how many of these are off by 1 %. Then the shares off by 1e-2, 1e-4, 1e-6.\n\n"
        "  {:<16}{:<13}{:>5} {:>8} {:>8}  {:>8} {:>8}  {:>8} {:>8}  {:>8} {:>8}  {:>8} {:>8} {:>8} {:>8}\n",
        "method", "outcome", "steps", "residual", "rowwise", "error", "true", "worst", "true", "off 1 %", "true",
        ">1e-2", ">1e-4", ">1e-6", "time");
}

std::string accuracy_lines(const Json& found)
{
    std::string text = printable(text_at(found, "name"));
    if (const std::string error = text_at(found, "error"); !error.empty()) return text + ": " + printable(error) + "\n";
    text += fmt::format(": n {}, nnz {}; {}\n", found["n"].get<Index>(), found["nnz"].get<Offset>(),
                        truth_text(found["truth"]));
    for (const Json& row : found["methods"]) text += judged_line(row);
    return text;
}

Json accuracy_summary(const Json& findings)
{
    Json summary{{"systems", 0}, {"known", 0}, {"partly", 0}, {"unknown", 0}, {"refused", 0}};
    std::vector<std::pair<std::string, Tally>> tallies;
    const auto count = [&](const char* key) { summary[key] = summary[key].get<Index>() + 1; };
    for (const Json& found : findings) {
        count("systems");
        if (!text_at(found, "error").empty()) {
            count("refused");
            continue;
        }
        const Json& truth = found["truth"];
        const Index known = truth.value("known", Index{0}), counting = truth.value("counting", Index{0});
        count(known == 0 ? "unknown" : known == counting ? "known" : "partly");
        for (const Json& row : found["methods"]) {
            const std::string method = text_at(row, "method");
            auto              tally = std::ranges::find(tallies, method, &std::pair<std::string, Tally>::first);
            if (tally == tallies.end()) tally = tallies.insert(tally, {method, {}});
            tally->second.add(row);
        }
    }
    summary["methods"] = Json::array();
    for (const auto& [method, tally] : tallies) summary["methods"].push_back(tally.json(method));
    return summary;
}

std::string accuracy_summary_lines(const Json& summary)
{
    std::string text =
        fmt::format("\n{} systems: all of x known in {}, some of it in {}, none in {}; {} refused\n",
                    summary["systems"].get<Index>(), summary["known"].get<Index>(), summary["partly"].get<Index>(),
                    summary["unknown"].get<Index>(), summary["refused"].get<Index>());
    for (const Json& one : summary["methods"])
        text += fmt::format(
            "  {:<10}{} converged, {} of them judged: {} wrong, {} without a warning; {} warned of, {} needlessly; error "
            "estimated within a factor of 10 in {} of {}; {}\n",
            text_at(one, "method"), one["converged"].get<Index>(), one["judged"].get<Index>(),
            one["wrong"].get<Index>(), one["wrong_silently"].get<Index>(), one["warned"].get<Index>(),
            one["needlessly"].get<Index>(), one["within_10"].get<Index>(), one["estimates"].get<Index>(),
            seconds_text(one["seconds"].get<double>()));
    return text;
}

}  // namespace ilux::app
