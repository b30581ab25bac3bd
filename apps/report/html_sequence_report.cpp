// The page on a series.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/report/html_parts.hpp"
#include "ilux/apps/report/html_report.hpp"
#include "ilux/apps/report/sequence_report.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

constexpr std::size_t most_noted = 50;

HtmlSection outcome_section(const SequenceReport& all, const SequenceFacts& series)
{
    Rows rows = sequence_rows(series, all.options, all.device);
    for (const Row& row : sequence_cost_rows(all)) rows.push_back(row);
    const bool               good = all.code == success;
    std::vector<std::string> actions;
    for (const auto& action : all.actions) actions.push_back(action.name);
    return {"outcome", "Outcome",
            html_paragraph(sequence_line(all), good ? "outcome good" : "outcome bad") + html_rows(rows) +
                words_of(actions)};
}

/// A point for each system, a curve for each action.
template <class Value>
LinePlot plot_by_system(const SequenceReport& all, std::span<const SystemReport> systems, std::string title,
                        std::string unit, bool logarithmic, Value&& value)
{
    LinePlot            plot{.title = std::move(title), .x = {}, .y = {}, .curves = {}};
    std::vector<double> values;
    for (const auto& action : all.actions) {
        Curve curve{.name = action.name, .points = {}, .style = Curve::Style::marks};
        for (const SystemReport& one : systems)
            if (one.action == action.name) {
                curve.points.push_back({double(one.index), value(one)});
                values.push_back(curve.points.back().y);
            }
        plot.curves.push_back(std::move(curve));
    }
    plot.x = {.title = "system", .to = std::max(1., double(systems.size()) - 1), .whole = true};
    if (!logarithmic) values.push_back(0);
    plot.y = axis_around(std::move(unit), values, logarithmic);
    plot.y.whole = !logarithmic;  // only counts are drawn so
    return plot;
}

/// Systems of which there is more to say than a point does.
std::string noted_table(std::span<const SystemReport> systems)
{
    std::vector<std::vector<std::string>> rows;
    std::size_t                           noted = 0;
    for (const SystemReport& one : systems) {
        std::string text = one.reason;
        for (const std::string* more : {&one.detail, &one.warning})
            if (!more->empty()) text += (text.empty() ? "" : "; ") + *more;
        if (text.empty() && one.converged()) continue;
        if (++noted <= most_noted)
            rows.push_back({fmt::format("{}", one.index), one.name, one.action,
                            std::string(one.refused() ? "refused" : one.result()), text});
    }
    if (noted == 0) return "";
    const std::string which = noted > most_noted
                                  ? fmt::format("The first {} of {} systems with a remark:", most_noted, noted)
                                  : "Systems with a remark:";
    return html_paragraph(which) + html_table({"system", "name", "action", "outcome", "remark"}, rows);
}

HtmlSection convergence_section(const SequenceReport& all, std::span<const SystemReport> systems)
{
    const double tolerance = all.direct() ? lu_tolerance : all.options.krylov.rtol;
    LinePlot     errors =
        all.direct() ? plot_by_system(all, systems, "Backward error of each system", "max |b − A x|ᵢ / (|A||x| + |b|)ᵢ",
                                          true, [](const SystemReport& one) { return one.accuracy.rowwise; })
                         : plot_by_system(all, systems, "Residual of each system", "‖b − A x‖₂ / ‖b‖₂", true,
                                          [](const SystemReport& one) { return one.relative_residual; });
    if (all.direct() || all.options.krylov.stop != StopTest::backward_error) {
        errors.y.to = std::max(errors.y.to, 10 * tolerance);
        errors.y.from = std::min(errors.y.from, tolerance / 10);
        errors.level = tolerance;
        errors.level_name = "tolerance " + mark_text(tolerance);
    }
    std::vector<std::string> figures{html_figure(errors, "Recomputed from A, b and x."),
                                     html_figure(plot_by_system(all, systems, "Seconds of each system", "seconds", true,
                                                                [](const SystemReport& one) {
                                                                    return one.seconds_factor + one.seconds_solve;
                                                                }),
                                                 "Factoring and solving, without reading.")};
    figures.push_back(
        html_figure(plot_by_system(all, systems, all.direct() ? "Steps of refinement" : "Steps of each system", "steps",
                                   false, [](const SystemReport& one) { return double(one.steps); })));
    return {"convergence", "Convergence, system by system", html_figures(figures) + noted_table(systems)};
}

HtmlSection time_section(const SequenceReport& all)
{
    std::vector<Phase> phases{{"read", all.seconds_read}, {"analyse", all.seconds_analyse}};
    for (const auto& [name, count, seconds] : all.actions)
        if (seconds > 0) phases.push_back({fmt::format("{} ({})", name, count), seconds});
    phases.push_back({"solve", all.seconds_solve});
    const double named = all.seconds_read + all.seconds_analyse + all.seconds_factor + all.seconds_solve;
    phases.push_back({"checks and the rest", std::max(0., all.seconds - named)});
    return time_section(phases, all.seconds);
}

HtmlSection levels_section(const SequenceReport& all, Offset nnz)
{
    HtmlSection section{"levels", "Levels", ""};
    if (all.structure && all.structure->of_lu) section.html = lu_level_table(*all.structure);
    else if (all.mlilu) section.html = level_table(*all.mlilu, nnz);
    else if (all.direct()) section.html = html_paragraph("There are no factors.");
    else section.html = html_paragraph("The preconditioner has no levels.");
    section.html += html_paragraph("Pictures and levels are of the first factors.", "note");
    return section;
}

HtmlSection curve_section(const TransferCurve& curve)
{
    if (curve.unknowns.empty()) return {"curve", "Transfer curve", html_paragraph("No frequency has an x.")};
    const std::string        remark = left_out(curve);
    std::vector<std::string> figures{html_figure(magnitude_plot(curve), remark),
                                     html_figure(phase_plot(curve), remark)};
    return {"curve", "Transfer curve", html_figures(figures)};
}

}  // namespace

std::string html_report(const SequenceReport& all, std::span<const SystemReport> systems, const SequenceFacts& series,
                        const SparsityPicture& pattern)
{
    const Structure* structure = all.structure ? &*all.structure : nullptr;
    SolveOptions     defaults;  // as the command has them, which is not as `solve` does
    defaults.rhs = "auto";
    std::vector<HtmlSection> sections{outcome_section(all, series)};
    if (!series.frequencies.empty()) sections.push_back(curve_section(transfer_curve(all, systems)));
    for (HtmlSection& one :
         std::vector{convergence_section(all, systems), time_section(all), levels_section(all, series.nnz),
                     depth_section(structure, "There are no factors with chains."),
                     pattern_section(series.n, series.nnz, pattern, structure), decisions_section(all_decisions(all)),
                     options_section(all.options, defaults), environment_section()})
        sections.push_back(std::move(one));
    return html_page("ilux sequence " + series.name, sections);
}

}  // namespace ilux::app
