// ilux info: what can be said of a matrix before it is factored.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/units.hpp"
#include "ilux/solver/info/info_json.hpp"

namespace ilux::app {
namespace {

constexpr Index narrow = 32;  // a level of fewer columns cannot keep the warps of a GPU busy

std::string json_info(const std::string& name, const std::string& about, const MatrixInfo& info)
{
    using Json = nlohmann::ordered_json;
    Json json{{"version", ILUX_VERSION}, {"matrix", {{"name", name}, {"about", about}}}};
    json.update(to_json(info), true);
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// In words, of a square matrix.
std::string symmetry_text(const MatrixInfo& info)
{
    if (info.complex && info.symmetric)
        return info.hermitian ? "Hermitian and symmetric" : "symmetric (A = Aᵀ), not Hermitian";
    if (info.symmetric) return "symmetric";
    if (info.hermitian) return "Hermitian (A = Aᴴ)";
    if (info.skew_symmetric) return "skew-symmetric (A = −Aᵀ)";
    return info.pattern_symmetric ? "pattern symmetric, values not" : "none";
}

std::string info_row(std::string_view head, std::string_view text) { return fmt::format("{:<14}{}\n", head, text); }

std::string rows_of(const Matched& matching, Index n)
{
    std::string text = fmt::format("{} rows cannot be matched: A is singular. Rows", n - matching.rank);
    for (std::size_t k = 0; k < std::min<std::size_t>(5, matching.unmatched_rows.size()); ++k)
        text += fmt::format(" {}", matching.unmatched_rows[k] + 1);
    return matching.unmatched_rows.size() > 5 ? text + " ..." : text;
}

std::string square_rows(const MatrixInfo& info)
{
    const DiagonalFacts& diagonal = info.diagonal;
    const Matched&       matching = *info.matching;
    std::string          text =
        info_row("diagonal", fmt::format("{} zeros, {} missing; largest of its row in {} rows, dominant in {}",
                                         diagonal.zeros, diagonal.missing, diagonal.largest_in_row, diagonal.dominant));
    text +=
        info_row("matching",
                 fmt::format("structural rank {} of {}; moves {} rows; after it and its scaling {} rows are dominant{}",
                             matching.rank, info.rows, matching.moved, matching.dominant,
                             matching.optimal ? "" : " (work limit reached: not the largest product)"));
    if (matching.rank < info.rows) text += info_row("", rows_of(matching, info.rows));
    return text + info_row("depth",
                           fmt::format("{} dependent steps in the lower triangle, {:.1f} rows a step", info.depth_lower,
                                       info.depth_lower > 0 ? double(info.rows) / info.depth_lower : 0.0));
}

std::string level_rows(const Levels& levels)
{
    const auto  few = std::ranges::count_if(levels.sizes, [](Index columns) { return columns < narrow; });
    std::string text =
        info_row("levels", fmt::format("{} left-looking; right-looking {} by the exact rule, {} by the relaxed one",
                                       levels.left, levels.exact, levels.relaxed));
    text += info_row("", fmt::format("left-looking: the largest of {} columns, {} of fewer than {}",
                                     levels.sizes.empty() ? 0 : std::ranges::max(levels.sizes), few, narrow));
    if (levels.hubs.empty()) return text;
    constexpr std::size_t most_named = 5;
    std::string           named;
    for (std::size_t h = 0; h < std::min(most_named, levels.hubs.size()); ++h)
        named += fmt::format("{} column {}: {} updates, {} deep", h == 0 ? "" : ";", levels.hub_column[h] + 1,
                             levels.hubs[h].updates, levels.hubs[h].depth);
    return text + info_row("", fmt::format("{} hub{} of {} updates or more:{}{}", levels.hubs.size(),
                                           levels.hubs.size() == 1 ? "" : "s", RefactorTuning{}.hub_updates, named,
                                           levels.hubs.size() > most_named ? "; ..." : ""));
}

std::string recommended_rows(const Recommended& recommended)
{
    const std::string precond = recommended.direct() ? "" : fmt::format(" with {}", field_text(recommended.precond));
    std::string       text = info_row("recommended", fmt::format("{}{}", field_text(recommended.method), precond));
    for (const std::string& decision : recommended.decisions) text += info_row("", decision);
    return text;
}

std::string lu_rows(const MatrixInfo& info)
{
    const LuSymbolicReport& lu = info.lu->report;
    std::string             text =
        info_row("direct", fmt::format("ordering {}{}: {:.3g} entries in L + U ({:.2f} × nnz(A)), {:.2g} flops; "
                                       "{} diagonal block{}, the largest of {}",
                                       field_text(lu.ordering), lu.matched ? ", matched" : "", lu.nnz,
                                       info.nnz > 0 ? lu.nnz / double(info.nnz) : 0.0, lu.flops, lu.blocks,
                                       lu.blocks == 1 ? "" : "s", lu.largest_block));
    if (info.recommended) text += recommended_rows(*info.recommended);
    if (info.levels) text += level_rows(*info.levels);
    if (!info.no_levels.empty()) text += info_row("levels", info.no_levels);
    return text;
}

std::string imaginary_text(const MatrixInfo& info)
{
    if (!info.complex) return "";
    return info.imaginary > 0 ? fmt::format("; {} with an imaginary part", info.imaginary)
                              : "; none has an imaginary part: a real file would take half the memory";
}

std::string text_info(const std::string& name, const std::string& about, const MatrixInfo& info)
{
    std::string text = info_row("matrix", printable(name));
    if (!about.empty()) text += info_row("", about);
    text += info_row("size",
                     fmt::format("{} × {}, nnz {}{}{}", info.rows, info.cols, info.nnz, info.complex ? ", complex" : "",
                                 info.stored_zeros > 0 ? fmt::format(" ({} of them zero)", info.stored_zeros) : ""));
    if (info.rows == info.cols) text += info_row("symmetry", symmetry_text(info));
    text +=
        info_row("row lengths",
                 fmt::format("{} to {}, mean {:.1f}{}", info.lengths.shortest, info.lengths.longest, info.lengths.mean,
                             info.lengths.empty > 0 ? fmt::format("; {} rows are empty", info.lengths.empty) : ""));
    text += info_row("bandwidth",
                     fmt::format("{} below, {} above the diagonal", info.lower_bandwidth, info.upper_bandwidth));
    text += info_row("values", fmt::format("{:.2e} to {:.2e} in size, {:.1f} decades{}", info.smallest, info.largest,
                                           decades(info), imaginary_text(info)));
    if (info.matching) text += square_rows(info);
    if (info.lu) text += lu_rows(info);
    else if (info.matching) text += info_row("direct", "none, since A is structurally singular");
    std::string memory;
    for (const auto& [what, bytes] : estimates(info))
        memory += fmt::format("{}{} {}", memory.empty() ? "" : ", ", what, bytes_text(bytes));
    return text + info_row("memory, about", memory);
}

}  // namespace

int info(Arguments arguments)
{
    std::string matrix;
    bool        json = false, levels = false;
    auto        app = parser("info", "Says what can be seen of a matrix before it is factored.");
    app->add_option("MATRIX", matrix,
                    "a file of any kind that ilux solve takes, - for standard input, or gallery:NAME[:key=value,...]")
        ->type_name("FILE|gallery");
    app->add_flag("--levels", levels,
                  "factor as well, and tell the levels of L + U: how many, how large, and its hub columns");
    app->add_flag("--json", json, "one JSON object instead of the table")->group("Output");
    if (!parse(*app, arguments)) return success;
    if (matrix.empty()) throw InvalidOption("info: MATRIX is missing; see ilux info --help");

    const auto [any, about] = load_any_matrix(matrix);
    const MatrixInfo seen = std::visit([&](const auto& A) { return examine(A, levels); }, any);
    write_out((json ? json_info(matrix, about, seen) : text_info(matrix, about, seen)) + "\n");
    return success;
}

}  // namespace ilux::app
