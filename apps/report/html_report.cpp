#include "ilux/apps/report/html_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/report/advice.hpp"
#include "ilux/apps/report/html_parts.hpp"
#include "ilux/apps/report/report_text.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

void append(Rows& rows, Rows more)
{
    for (Row& row : more) rows.push_back(std::move(row));
}

HtmlSection outcome_section(const Run& run, const ProblemFacts& problem)
{
    const Attempt& result = run.result();
    const bool     good = run.outcome() == Outcome::converged;
    Rows           rows = problem_rows(problem);
    append(rows, method_rows(run));
    if (result.mlilu) rows.push_back({"fill", fmt::format("{:.2f} × nnz(A)", result.fill)});
    if (result.lu) {
        append(rows, analysis_rows(*result.lu));
        append(rows, factor_rows(*result.lu));
    }
    if (result.gpu) append(rows, gpu_rows(*result.gpu));
    append(rows, error_rows(run, problem));
    append(rows, cost_rows(run, problem));
    append(rows, attempt_rows(run));
    constexpr std::size_t most_columns = 500;
    append(rows, column_rows(run, most_columns));
    if (!run.stopped.empty()) rows.push_back({"no more tries", run.stopped});
    for (const std::string& what : advice(run, problem)) rows.push_back({"try next", what});
    return {"outcome", "Outcome",
            html_paragraph(outcome_line(run), good ? "outcome good" : "outcome bad") + html_rows(rows) +
                words_of(result.plan)};
}

/// Residuals as the method saw them, and as they were recomputed from A, b and x, over steps or seconds.
LinePlot residual_plot(const Run& run, bool over_seconds)
{
    const Attempt&      tried = run.result();
    Curve               estimated{.name = "estimated", .points = {}};
    Curve               exact{.name = "recomputed from A, b and x", .points = {}, .style = Curve::Style::marks};
    std::vector<double> places, values;
    const auto          add = [&](double step, double seconds, double residual, bool is_exact) {
        const PlotPoint point{over_seconds ? seconds : step, residual};
        estimated.points.push_back(point);  // an estimate starts from what was recomputed
        if (is_exact) exact.points.push_back(point);
        places.push_back(point.x);
        values.push_back(residual);
    };
    for (const HistoryPoint& point : tried.history)
        add(double(point.step), point.seconds, point.relative_residual, point.exact);
    const bool told = !tried.history.empty() && tried.history.back().exact &&
                      tried.history.back().relative_residual == tried.report.relative_residual;
    if (!told)  // the clock of the history began a little earlier
        add(double(tried.report.steps),
            std::max(tried.report.seconds.solve, tried.history.empty() ? 0 : tried.history.back().seconds),
            tried.report.relative_residual, true);
    places.push_back(0);

    const KrylovOptions& krylov = run.options.krylov;
    const bool           relative_to_b = krylov.stop != StopTest::backward_error;
    values.push_back(relative_to_b ? krylov.rtol / 2 : NAN);  // leaves room below the line
    LinePlot plot{.title = over_seconds ? "Residual over time" : "Residual over steps",
                  .x = axis_around(over_seconds ? "seconds" : "steps", places, false),
                  .y = axis_around("‖b − A x‖₂ / ‖b‖₂", values, true),
                  .curves = {std::move(estimated), std::move(exact)}};
    plot.x.whole = !over_seconds;
    if (relative_to_b) plot.level = krylov.rtol, plot.level_name = "rtol " + mark_text(krylov.rtol);
    return plot;
}

/// Componentwise backward errors as refinement saw them, and the one measured in the end.
LinePlot refinement_plot(const LuFacts& lu, double rowwise)
{
    Curve               seen{.name = "seen by refinement", .points = {}};
    std::vector<double> values{10 * lu_tolerance};  // leaves room above the line
    for (const double error : lu.refine_errors) {
        seen.points.push_back({double(seen.points.size()), error});
        values.push_back(error);
    }
    Curve end{.name = "recomputed in the end",
              .points = {{double(lu.refine_steps), rowwise}},
              .style = Curve::Style::marks};
    values.push_back(rowwise);
    LinePlot plot{.title = "Backward error over steps of refinement",
                  .x = {.title = "steps of refinement", .to = std::max(1., double(lu.refine_steps)), .whole = true},
                  .y = axis_around("max |b − A x|ᵢ / (|A||x| + |b|)ᵢ", values, true),
                  .curves = {std::move(seen), std::move(end)},
                  .level = lu_tolerance,
                  .level_name = "tolerance " + mark_text(lu_tolerance)};
    return plot;
}

HtmlSection convergence_section(const Run& run)
{
    const Attempt& tried = run.result();
    HtmlSection    section{"convergence", "Convergence", ""};
    if (!tried.failure.empty()) section.html = html_paragraph("Nothing was solved: " + tried.failure);
    else if (tried.lu) section.html = html_figures({html_figure(refinement_plot(*tried.lu, tried.accuracy.rowwise))});
    else
        section.html = html_figures({html_figure(residual_plot(run, false)),
                                     html_figure(residual_plot(run, true), "Since this try's solve began.")});
    if (!run.columns.empty())
        section.html += html_paragraph(fmt::format("Of column {} of {} (counted from 1), the worst.",
                                                   run.columns.front().column + 1, run.columns.size()),
                                       "note");
    if (run.attempts.size() > 1)
        section.html += html_paragraph(fmt::format("Of attempt {}, whose x is handed out; {} were made.", run.best + 1,
                                                   run.attempts.size()),
                                       "note");
    return section;
}

HtmlSection time_section(const Run& run, const ProblemFacts& problem)
{
    const Attempt&      tried = run.result();
    const SolveSeconds& solve = tried.report.seconds;
    const double        transfer = tried.gpu ? tried.gpu->seconds_transfer : 0;
    std::vector<Phase>  phases{{"read", problem.seconds_read},
                              {"analyse", tried.seconds_analyse},
                              {"factor", tried.seconds_factor}};
    if (tried.gpu) phases.push_back({"transfer", transfer});
    phases.push_back({"solve", solve.solve});
    if (!tried.lu)
        for (const auto& [name, seconds] : {std::pair{"products with A", solve.spmv},
                                            {"preconditioner M⁻¹", solve.precond},
                                            {"orthogonalization", solve.ortho},
                                            {"other", solve.other()}})
            phases.push_back({name, seconds, true});
    const double named = tried.seconds_analyse + tried.seconds_factor + transfer + solve.solve;
    phases.push_back({"checks and the rest", std::max(0., tried.seconds - named)});
    if (run.attempts.size() > 1) phases.push_back({"other attempts", std::max(0., run.seconds - tried.seconds)});
    return time_section(phases, problem.seconds_read + run.seconds);
}

HtmlSection levels_section(const Run& run, const ProblemFacts& problem)
{
    const Attempt& tried = run.result();
    HtmlSection    section{"levels", "Levels", ""};
    if (tried.mlilu) section.html = level_table(*tried.mlilu, problem.nnz);
    else if (tried.lu && run.structure) section.html = lu_level_table(*run.structure);
    else if (tried.lu) section.html = html_paragraph("There are no factors.");
    else section.html = html_paragraph("The preconditioner has no levels.");
    return section;
}

}  // namespace

std::string html_report(const Run& run, const ProblemFacts& problem, const SparsityPicture& pattern)
{
    const Attempt&   tried = run.result();
    const Structure* structure = run.structure ? &*run.structure : nullptr;
    const bool       factored = tried.failure.empty();
    return html_page("ilux solve " + problem.name,
                     std::vector{outcome_section(run, problem), convergence_section(run), time_section(run, problem),
                                 levels_section(run, problem),
                                 depth_section(structure, factored ? "In this preconditioner no row waits for another."
                                                                   : "There are no factors."),
                                 pattern_section(problem.n(), problem.nnz, pattern, structure),
                                 decisions_section(all_decisions(run)), options_section(run.options, SolveOptions()),
                                 environment_section()});
}

}  // namespace ilux::app
