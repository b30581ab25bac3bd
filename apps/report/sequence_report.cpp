#include "ilux/apps/report/sequence_report.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ilux/apps/input/options_json.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/units.hpp"
#include "ilux/solver/json/json_number.hpp"
#include "ilux/solver/json/report_json.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

std::string row(std::string_view head, std::string_view text)
{
    return fmt::format("{:<16}{}\n", head, printable(text));
}

std::string number(double value)
{
    return std::isnan(value) ? "-" : std::isinf(value) ? "not finite" : fmt::format("{:.1e}", value);
}

/// Right-aligned in `width` columns; µ takes two bytes but one column.
std::string padded(const std::string& text, std::size_t width)
{
    const std::size_t columns = text.size() - (text.find("µ") != std::string::npos);
    return std::string(width > columns ? width - columns : 0, ' ') + text;
}

std::string method_text(const SolveOptions& options)
{
    const MethodChoice method = options.method;
    if (options.strategy() == SolverMode::automatic) return "direct or iterative, as their costs say";
    if (options.strategy() == SolverMode::direct) return "direct, P A Q = L U; pivots kept while they serve";
    std::string name = method == MethodChoice::automatic ? "CG or GMRES" : field_text(method);
    if (options.precond.kind == PrecondKind::none) return name;
    return fmt::format("{} with {}, kept while it serves", name, field_text(options.precond.kind));
}

std::string worst_text(const SequenceReport::Worst& worst)
{
    return worst.system < 0 ? "-" : fmt::format("{} (system {})", number(worst.value), worst.system);
}

std::string rhs_text(const std::string& rhs)
{
    if (rhs == "auto") return "as given with each system";
    if (rhs == "A1") return "b = A·1";
    return rhs;
}

/// "; 3 failed, the first system 1 (A_001.mtx): …" or "".
std::string noted_text(const SequenceReport::Noted& noted, std::string_view what)
{
    if (noted.count == 0) return "";
    const std::string number = fmt::format("{}", noted.first);
    return fmt::format("; {} {}, the first system {}{}: {}", noted.count, what, number,
                       noted.name == number ? "" : fmt::format(" ({})", noted.name), noted.text);
}

Json noted_json(const SequenceReport::Noted& noted)
{
    if (noted.count == 0) return nullptr;
    return {{"count", noted.count}, {"first", noted.first}, {"name", noted.name}, {"text", noted.text}};
}

/// The keys `frequency` and `probed`.
void add_curve(const CurvePoint& point, Json& json)
{
    json["frequency"] = json_number(point.frequency);
    json["probed"] = Json::array();
    for (const auto& [unknown, x] : point.probed)
        json["probed"].push_back({{"unknown", unknown},
                                  {"re", json_number(x.real())},
                                  {"im", json_number(x.imag())},
                                  {"magnitude", json_number(std::abs(x))},
                                  {"db", json_number(decibel(x))},
                                  {"phase_deg", json_number(phase_degrees(x))}});
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Rows sequence_rows(const SequenceFacts& series, const SolveOptions& options, const Device& device)
{
    const std::string what =
        series.frequencies.empty()
            ? fmt::format("{} system{}", series.systems, series.systems == 1 ? "" : "s")
            : fmt::format("{} frequenc{}, {}", series.systems, series.systems == 1 ? "y" : "ies", series.frequencies);
    return {{"sequence", series.name},
            {"", fmt::format("{}, n {}, nnz {} ({:.1f} a row){}", what, series.n, series.nnz,
                             series.n > 0 ? double(series.nnz) / series.n : 0.0, series.complex ? ", complex" : "")},
            {"right-hand side", rhs_text(series.rhs)},
            {"method", method_text(options)},
            {"machine", fmt::format("{}, {} thread{}", device.name, device.threads, device.threads == 1 ? "" : "s")}};
}

std::string sequence_head(const SequenceFacts& series, const SolveOptions& options, const Device& device)
{
    std::string text;
    for (const auto& [head, what] : sequence_rows(series, options, device)) text += row(head, what);
    return text + fmt::format("\n{:<14} {:<8} {:<13}{:>9}{:>15}{:>9}{:>7}{:>9}{:>9}\n",
                              series.frequencies.empty() ? "system" : "frequency", "done", "outcome", "residual",
                              "componentwise", "error", "steps", "factor", "solve");
}

std::string system_line(const SystemReport& one)
{
    std::string text = fmt::format("{:<14} {:<8} {:<13}{:>9}{:>15}{:>9}{:>7}{}{}\n", printable(one.name), one.action,
                                   one.refused() ? "" : one.result(), number(one.relative_residual),
                                   number(one.accuracy.rowwise), number(one.accuracy.worst_error), one.steps,
                                   padded(time_text(one.seconds_factor), 9), padded(time_text(one.seconds_solve), 9));
    if (!one.reason.empty()) text += fmt::format("{:<14} {}: {}\n", "", one.action, printable(one.reason));
    if (!one.detail.empty()) text += fmt::format("{:<14} {}\n", "", printable(one.detail));
    if (!one.warning.empty()) text += fmt::format("{:<14} {}\n", "", printable(one.warning));
    return text;
}

std::string sequence_line(const SequenceReport& all)
{
    std::string actions;
    for (const auto& [name, count, seconds] : all.actions)
        actions += fmt::format("{}{} {}", actions.empty() ? "" : ", ", count, name);
    return fmt::format(
        "{} of {} systems converged: {}; worst residual {}, componentwise backward error {}, estimated error of an unknown {}{}{}{}",
        all.converged, all.systems, actions, worst_text(all.residual), worst_text(all.componentwise),
        worst_text(all.error), noted_text(all.failed, "failed"), noted_text(all.warned, "doubtful"),
        all.made_up_rhs
            ? fmt::format("; {}, as none was given", all.options.rhs == "A1" ? "b = A·1" : "b = " + all.options.rhs)
            : "");
}

Rows sequence_cost_rows(const SequenceReport& all)
{
    Rows rows;
    if (all.lu && all.lu->nnz > 0)
        rows.push_back(
            {"factors", fmt::format("ordering {}, {} blocks; L + U {} entries, {} above the blocks: {:.2f} × nnz(A); "
                                    "{:.3g} flops, {} levels",
                                    field_text(all.lu->symbolic.ordering), all.lu->symbolic.blocks, all.lu->nnz,
                                    all.lu->nnz_F, all.lu->fill, all.lu->flops, all.lu->levels)});
    else if (!all.lu) rows.push_back({"fill", fmt::format("{:.2f} × nnz(A), {} steps in all", all.fill, all.steps)});
    std::string factoring;
    for (const auto& [name, count, seconds] : all.actions)
        if (seconds > 0) factoring += fmt::format("{}{} {}", factoring.empty() ? "" : ", ", name, time_text(seconds));
    rows.push_back({"time", fmt::format("{} in all: read {}, analyse {}, {}{}solve {}", time_text(all.seconds),
                                        time_text(all.seconds_read), time_text(all.seconds_analyse), factoring,
                                        factoring.empty() ? "" : ", ", time_text(all.seconds_solve))});
    return rows;
}

std::vector<std::string> all_decisions(const SequenceReport& all)
{
    std::vector<std::string> decisions = all.decisions;
    for (const auto* more :
         {all.lu ? &all.lu->symbolic.decisions : nullptr, all.mlilu ? &all.mlilu->decisions : nullptr})
        if (more != nullptr) decisions.insert(decisions.end(), more->begin(), more->end());
    return decisions;
}

std::string sequence_summary(const SequenceReport& all)
{
    std::string text = "\n" + printable(sequence_line(all)) + "\n";
    for (const std::string& decision : all_decisions(all)) text += row("decided", decision);
    for (const auto& [head, what] : sequence_cost_rows(all)) text += row(head, what);
    return text;
}

std::string system_json(const SystemReport& one)
{
    Json json;
    json["type"] = "system";
    json["system"] = one.index;
    json["name"] = one.name;
    json["action"] = one.action;
    json["reason"] = one.reason;
    json["outcome"] = one.result();
    json["detail"] = one.detail;
    json["warning"] = one.warning;
    json["steps"] = one.steps;
    json["relative_residual"] = json_number(one.relative_residual);
    json["backward_error"] = json_number(one.backward_error);
    json["componentwise_error"] = json_number(one.accuracy.rowwise);
    json["estimated_error"] = error_json(one.accuracy);
    json["forward_error"] = json_number(one.forward_error);
    json["growth"] = json_number(one.growth);
    json["rcond"] = json_number(one.rcond);
    if (one.curve) add_curve(*one.curve, json);
    json["seconds"] = {{"read", one.seconds_read}, {"factor", one.seconds_factor}, {"solve", one.seconds_solve}};
    return dump(json);
}

std::string sequence_json(const SequenceReport& all, const SequenceFacts& series)
{
    const bool direct = all.direct();
    Json       json;
    json["type"] = "summary";
    json["version"] = ILUX_VERSION;
    json["sequence"] = {{"name", series.name},
                        {"n", series.n},
                        {"nnz", series.nnz},
                        {"systems", all.systems},
                        {"complex", series.complex}};
    if (!series.frequencies.empty()) json["probes"] = all.probes;
    json["rhs"] = all.options.rhs;
    json["method"] = field_text(all.method);
    json["precond"] = direct ? "none" : field_text(all.options.precond.kind);
    json["device"] = {{"kind", all.device.kind}, {"name", all.device.name}, {"threads", all.device.threads}};
    json["outcome"] = all.outcome;
    json["exit_code"] = static_cast<int>(all.code);
    json["message"] = sequence_line(all);
    json["converged"] = all.converged;
    json["failed"] = noted_json(all.failed);
    json["warned"] = noted_json(all.warned);
    json["actions"] = Json::object();
    for (const auto& [name, count, seconds] : all.actions)
        json["actions"][name] = {{"count", count}, {"seconds", seconds}};
    json["steps"] = all.steps;
    const auto worst = [](const SequenceReport::Worst& one) {
        return one.system < 0 ? Json(nullptr) : Json{{"value", json_number(one.value)}, {"system", one.system}};
    };
    json["worst_residual"] = worst(all.residual);
    json["worst_backward_error"] = worst(all.backward);
    json["worst_componentwise_error"] = worst(all.componentwise);
    json["worst_estimated_error"] = worst(all.error);
    json["seconds"] = {{"read", all.seconds_read},
                       {"analyse", all.seconds_analyse},
                       {"factor", all.seconds_factor},
                       {"solve", all.seconds_solve},
                       {"total", all.seconds}};
    json["fill"] = json_number(all.fill);
    json["lu"] = all.lu ? lu_json(*all.lu) : Json(nullptr);
    json["decisions"] = all_decisions(all);
    json["options"] = to_json(all.options);
    return dump(json);
}

}  // namespace ilux::app
