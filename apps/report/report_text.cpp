#include "ilux/apps/report/report_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/report/advice.hpp"
#include "ilux/apps/report/report_rows.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

/// Texts may hold names of files, and those anything.
std::string line(const Row& row) { return fmt::format("{:<16}{}\n", row.head, printable(row.text)); }

std::string lines(const Rows& rows)
{
    std::string text;
    for (const Row& row : rows) text += line(row);
    return text;
}

std::string decided(const std::vector<std::string>& decisions)
{
    std::string text;
    for (const std::string& decision : decisions) text += line({"decided", decision});
    return text;
}

std::string level_lines(const MlIluReport& report)
{
    std::string text =
        fmt::format("\n{:>5}{:>10}{:>10}{:>10}{:>11}{:>11}{:>9}{:>9}{:>8}{:>8}{:>8}{:>8}\n", "level", "n", "accepted",
                    "postponed", "nnz L", "nnz U", "nnz G", "nnz F", "‖L⁻¹‖", "‖U⁻¹‖", "depth L", "depth U");
    int k = 0;
    for (const MlIluLevelReport& level : report.levels) {
        const bool dense = report.dense && ++k == static_cast<int>(report.levels.size());
        if (!report.dense) ++k;
        const auto how = dense              ? std::string("  dense")
                         : level.rounds > 0 ? fmt::format("  {} rounds", level.rounds)
                                            : std::string();
        text += fmt::format("{:>5}{:>10}{:>10}{:>10}{:>11}{:>11}{:>9}{:>9}{:>8.3g}{:>8.3g}{:>8}{:>8}{}\n", k, level.n,
                            level.accepted, level.postponed, level.nnz_L, level.nnz_U, level.nnz_G, level.nnz_F,
                            level.inverse_L, level.inverse_U, level.depth_L, level.depth_U, how);
    }
    return text;
}

}  // namespace

std::string outcome_line(const Run& run)
{
    if (run.columns.empty()) return outcome_line(static_cast<const SolverReport&>(run));
    const auto converged =
        std::ranges::count_if(run.columns, [](const ColumnReport& one) { return one.report.converged(); });
    const auto idle = std::ranges::count_if(run.columns, [](const ColumnReport& one) { return !one.report.begun; });
    return fmt::format("{} of {} right-hand sides converged{}; the worst, column {} (counted from 1): {}", converged,
                       run.columns.size(), idle > 0 ? fmt::format(", {} were not begun", idle) : "",
                       run.columns.front().column + 1, outcome_line(static_cast<const SolverReport&>(run)));
}

std::string outcome_line(const SolverReport& run)
{
    const Attempt& result = run.result();
    std::string    text(name(run.outcome()));
    if (const Accuracy& accuracy = result.accuracy; result.lu && !std::isnan(accuracy.rowwise)) {
        text += fmt::format(", componentwise backward error {}", error_text(accuracy.rowwise));
        if (accuracy.rowwise > lu_tolerance && accuracy.rowwise_counting <= lu_tolerance)
            text += fmt::format(" ({} over the rows that count)", error_text(accuracy.rowwise_counting));
    }
    if (!result.lu)
        text += fmt::format(" {} {} step{}", run.outcome() == Outcome::converged ? "in" : "after", result.report.steps,
                            result.report.steps == 1 ? "" : "s");
    if (!result.lu || result.failure.empty())
        text += fmt::format(", residual {}", error_text(result.report.relative_residual));
    const std::string why = run.why();
    if (!why.empty()) return fmt::format("{}: {}", text, why);
    return result.warning.empty() ? text : fmt::format("{}; {}", text, result.warning);
}

std::string text_report(const Run& run, const ProblemFacts& problem, bool colour)
{
    const Attempt& result = run.result();
    std::string    text = lines(problem_rows(problem)) + lines(method_rows(run)) + decided(run.decisions);
    if (result.mlilu) {
        text += level_lines(*result.mlilu) + decided(result.mlilu->decisions);
        text += line({"fill", fmt::format("{:.2f} × nnz(A)", result.fill)});
    }
    if (result.lu)
        text +=
            lines(analysis_rows(*result.lu)) + decided(result.lu->symbolic.decisions) + lines(factor_rows(*result.lu));
    if (result.gpu) text += lines(gpu_rows(*result.gpu));
    if (const Rows attempts = attempt_rows(run); !attempts.empty()) text += "\n" + lines(attempts);

    const bool converged = run.outcome() == Outcome::converged;
    text += colour ? fmt::format("\n\033[{}m{}\033[0m\n", converged ? "1;32" : "1;31", printable(outcome_line(run)))
                   : fmt::format("\n{}\n", printable(outcome_line(run)));
    text += lines(error_rows(run, problem)) + lines(cost_rows(run, problem));
    constexpr std::size_t most_columns = 20;
    text += lines(column_rows(run, most_columns));
    if (!run.stopped.empty()) text += line({"no more tries", run.stopped});
    for (const std::string& what : advice(run, problem)) text += line({"try next", what});
    return text;
}

}  // namespace ilux::app
