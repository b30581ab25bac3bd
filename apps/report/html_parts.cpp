#include "ilux/apps/report/html_parts.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/apps/report/environment.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {
namespace {

std::string percent(double part, double whole)
{
    return whole > 0 ? fmt::format("{:.3g} %", 100 * part / whole) : "0 %";
}

Curve curve_of(const DepthProfile& profile)
{
    Curve curve{.name = profile.name, .points = {}};
    for (std::size_t depth = 0; depth < profile.rows.size(); ++depth)
        curve.points.push_back({double(depth + 1), double(profile.rows[depth])});
    return curve;
}

std::string depth_figure(const std::vector<DepthProfile>& profiles)
{
    LinePlot            plot{.title = "How many rows or columns have which depth", .x = {}, .y = {}, .curves = {}};
    std::vector<double> depths{1}, counts{1};
    for (const DepthProfile& profile : profiles) {
        plot.curves.push_back(curve_of(profile));
        depths.push_back(double(profile.rows.size()));
        for (const Index count : profile.rows) counts.push_back(count);
    }
    plot.x = axis_around("depth", depths, false);
    plot.x.whole = true;
    plot.y = axis_around("rows or columns", counts, true);
    return html_figure(plot);
}

/// "columns of L + U: 60884 in 41 steps, at most 30442 and on average 1485 in one"
std::string profile_text(const DepthProfile& profile)
{
    double sum = 0;
    for (const Index count : profile.rows) sum += count;
    const auto depth = static_cast<double>(profile.rows.size());
    return fmt::format("{}: {:.0f} in {} step{}, at most {} and on average {:.3g} in one", profile.name, sum,
                       profile.rows.size(), profile.rows.size() == 1 ? "" : "s",
                       profile.rows.empty() ? 0 : std::ranges::max(profile.rows), depth > 0 ? sum / depth : 0);
}

/// "147 levels of columns, the largest of 7481; 130 levels have fewer than 32"
std::string level_text(const DepthProfile& profile)
{
    constexpr Index few = 32;
    const auto      small = std::ranges::count_if(profile.rows, [](Index count) { return count < few; });
    return fmt::format("{} level{} of columns, the largest of {}; {} {} fewer than {}.", profile.rows.size(),
                       profile.rows.size() == 1 ? "" : "s", profile.rows.empty() ? 0 : std::ranges::max(profile.rows),
                       small, small == 1 ? "has" : "have", few);
}

/// "preconditioner: M ≈ A ..." @param lines  word and meaning
std::string word_list(const Rows& lines)
{
    if (lines.empty()) return "";
    return "<details open=\"open\">\n<summary>Words</summary>\n" + html_rows(lines) + "</details>\n";
}

Rows words_of_mlilu(const MlIluOptions& options)
{
    Rows words{{"multilevel ILU",
                "M ≈ L U, an incomplete factorization: small entries are dropped, so that M⁻¹ is cheap to apply"},
               {"inverse-based", "how large L⁻¹ and U⁻¹ grow is watched, since errors of M grow with them"},
               {"postponed",
                "a row that would make one of them exceed κ; the postponed rows are a smaller system, the next level"},
               {"τ (tau)", "an entry that changes no entry of the inverse factors by more than about τ is dropped"},
               {"τ_S", "the same for entries of the next level's matrix, relative to their row"},
               {"κ (kappa)", "the bound on a row of L⁻¹ and a column of U⁻¹"}};
    if (options.damping.beta > 0) words.push_back({"β (beta)", "M is made of A with iβ|a_jj| more on its diagonal"});
    return words;
}

}  // namespace

std::string words_of(const Plan& plan)
{
    Rows words;
    if (plan.direct())
        words = {{"P, Q", "orders of the rows and columns, in which L and U have few entries and large pivots"},
                 {"diagonal blocks",
                  "parts of A that are factored by themselves: those above them only enter the solution"},
                 {"growth", "how much larger entries of U are than those of A: digits may be lost by as much"},
                 {"condition", "by how much a relative error of A or b may grow in x"},
                 {"refinement", "x is corrected by solving for what is left of b − A x"}};
    else if (plan.precond.kind == PrecondKind::mlilu) words = words_of_mlilu(plan.precond.mlilu);
    if (!plan.direct()) words.insert(words.begin(), {"preconditioner", "M ≈ A, by which few steps lead to x"});
    words.push_back({"fill", "what the factors store, over what A stores (nnz, its entries)"});
    words.push_back({"backward error", "by how much A and b would have to differ for x to be exact"});
    return word_list(words);
}

std::string words_of(const std::vector<std::string>& actions)
{
    const Rows all{{"factor", "pivots are chosen for these numbers"},
                   {"refactor", "the pivots of an earlier system serve again"},
                   {"repivot", "they did not serve, and others were chosen"},
                   {"failed_repivot", "they did not serve, and there are no others"},
                   {"batch", "solved together with others by the pivots of an earlier system"},
                   {"stale", "the LU of an earlier system served as preconditioner"},
                   {"refresh", "the preconditioner was made for these numbers"},
                   {"lagged", "the preconditioner of an earlier system served"},
                   {"none", "there is no preconditioner"}};
    Rows       words;
    for (const Row& word : all)
        if (std::ranges::count(actions, word.head) > 0) words.push_back(word);
    return word_list(words);
}

HtmlSection time_section(const std::vector<Phase>& phases, double total)
{
    double longest = 0;
    for (const Phase& phase : phases) longest = std::max(longest, phase.seconds);
    std::vector<HtmlBar> bars;
    for (const Phase& phase : phases)
        bars.push_back({.name = phase.name,
                        .value = time_text(phase.seconds),
                        .share = longest > 0 ? phase.seconds / longest : 0,
                        .part = phase.part});
    return {"time", "Time by phase", html_bars(bars) + html_paragraph(time_text(total) + " in all", "note")};
}

std::string level_table(const MlIluReport& report, Offset nnz_A)
{
    std::vector<std::vector<std::string>> rows;
    for (const MlIluLevelReport& level : report.levels) {
        const bool   dense = report.dense && rows.size() + 1 == report.levels.size();
        const Offset stored = level.nnz_L + level.nnz_U + level.nnz_G + level.nnz_F;
        const auto   how = dense              ? std::string(", dense")
                           : level.rounds > 0 ? fmt::format(", {} rounds", level.rounds)
                                              : std::string();
        rows.push_back({fmt::format("{}{}", rows.size() + 1, how), fmt::format("{}", level.n),
                        fmt::format("{} ({})", level.accepted, percent(level.accepted, level.n)),
                        fmt::format("{} ({})", level.postponed, percent(level.postponed, level.n)),
                        nnz_A > 0 ? fmt::format("{:.2f}", double(stored) / double(nnz_A)) : "-",
                        fmt::format("{} / {}", level.nnz_L, level.nnz_U),
                        fmt::format("{} / {}", level.nnz_G, level.nnz_F),
                        fmt::format("{:.3g} / {:.3g}", level.inverse_L, level.inverse_U),
                        fmt::format("{} / {}", level.depth_L, level.depth_U)});
    }
    return html_table({"level", "rows", "accepted", "postponed", "fill", "nnz L / U", "nnz G / F", "‖L⁻¹‖ / ‖U⁻¹‖",
                       "depth L / U"},
                      rows) +
           html_paragraph(
               "Fill: stored values of the level over nnz(A). Postponed rows make the next level. G and F: the blocks "
               "between accepted and postponed rows. Depth: the longest chain of rows that wait for one "
               "another. Rounds: rows that do not see one another are accepted together, round by round.",
               "note");
}

std::string lu_level_table(const Structure& structure)
{
    std::string html;
    for (const DepthProfile& profile : structure.profiles) html += html_paragraph(level_text(profile));
    html += html_paragraph(
        "Columns of one level wait for none of the same. A hub column is updated by very many others in turn.", "note");
    if (structure.hub_count == 0)
        return html + html_paragraph(fmt::format("No hub columns: none has {} updates or more.", hub_updates));
    std::vector<std::vector<std::string>> rows;
    for (const auto& hub : structure.hubs)
        rows.push_back({fmt::format("{}", hub.column + 1), fmt::format("{}", hub.updates), fmt::format("{}", hub.depth),
                        fmt::format("{:.3g}", hub.multiply_adds)});
    const bool all = structure.hub_count == static_cast<Index>(structure.hubs.size());
    return html +
           html_paragraph(fmt::format("{} hub column{} of {} updates or more{}:", structure.hub_count,
                                      structure.hub_count == 1 ? "" : "s", hub_updates,
                                      all ? "" : ", the largest of which are")) +
           html_table({"column of P A Q", "updates", "depth inside", "multiply-adds"}, rows);
}

HtmlSection depth_section(const Structure* structure, std::string_view why_none)
{
    HtmlSection section{"depth", "Dependency depth", ""};
    if (structure == nullptr || structure->profiles.empty()) {
        section.html = html_paragraph(why_none);
        return section;
    }
    std::vector<std::string> texts;
    for (const DepthProfile& profile : structure->profiles) texts.push_back(profile_text(profile));
    section.html =
        html_paragraph(
            "A row can be computed once those it waits for are there. Rows of one depth can be computed at the "
            "same time, so a long thin profile is a serial one.") +
        html_figures({depth_figure(structure->profiles)}) + html_list(texts);
    return section;
}

HtmlSection pattern_section(Index n, Offset nnz, const SparsityPicture& of_A, const Structure* structure)
{
    std::vector<SparsityPicture> pictures{of_A};
    if (structure != nullptr) pictures.insert(pictures.end(), structure->pictures.begin(), structure->pictures.end());
    std::vector<std::string> figures;
    for (const SparsityPicture& picture : pictures)
        figures.push_back(html_figure(picture.grid, picture.title, "", picture.cuts));
    const Index       cells = pictures.front().grid.cells();
    const std::string scale =
        n > cells ? fmt::format("A cell is about {:.3g} rows by as many columns; the darker, the more entries. ",
                                double(n) / cells)
                  : "A cell is an entry. ";
    return {"pattern", "Sparsity pattern",
            html_figures(figures) +
                html_paragraph(fmt::format("{} × {}, {} entries. {}Lines divide levels or diagonal blocks, where they "
                                           "are few.",
                                           n, n, nnz, scale),
                               "note")};
}

HtmlSection decisions_section(const std::vector<std::string>& decisions)
{
    return {"decisions", "Decisions",
            decisions.empty() ? html_paragraph("None were left to ilux.") : html_list(decisions)};
}

HtmlSection options_section(const SolveOptions& options, const SolveOptions& defaults)
{
    const std::vector<FieldHelp>          given = describe(options), usual = describe(defaults);
    std::vector<std::vector<std::string>> all;
    Rows                                  changed;
    for (std::size_t k = 0; k < given.size(); ++k) {
        all.push_back({given[k].path, given[k].value, given[k].help});
        if (given[k].value != usual[k].value)
            changed.push_back({given[k].path, fmt::format("{} (default {})", given[k].value, usual[k].value)});
    }
    const std::string first = changed.empty() ? html_paragraph("All are at their defaults.") : html_rows(changed);
    return {"options", "Options",
            first + fmt::format("<details>\n<summary>All {} options</summary>\n{}</details>\n", all.size(),
                                html_table({"option", "value", "what it does"}, all))};
}

HtmlSection environment_section() { return {"environment", "Environment", html_rows(environment_rows())}; }

}  // namespace ilux::app
