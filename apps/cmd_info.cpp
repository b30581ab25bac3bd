// ilux info: what can be said of a matrix before it is factored.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/krylov/stopping.hpp"
#include "ilux/reorder/matching.hpp"
#include "ilux/solver/report/lu_facts.hpp"

namespace ilux::app {
namespace {

struct RowLengths {
    Index  shortest = 0, longest = 0, empty = 0;
    double mean = 0;
};

struct Diagonal {
    Index zeros = 0, missing = 0;  ///< stored as 0; not stored
    Index largest_in_row = 0;      ///< rows with |a_ii| ≥ all |a_ij| and > 0
    Index dominant = 0;            ///< rows with |a_ii| ≥ Σ_j≠i |a_ij|
};

/// Of the maximum-product matching.
struct Matched {
    Index              rank = 0;          ///< structural rank
    bool               optimal = true;    ///< as in Matching
    Index              moved = 0;         ///< rows matched with another column than their own
    Index              dominant = 0;      ///< as Diagonal::dominant, after permuting and scaling by the matching
    std::vector<Index> unmatched_rows{};  ///< the first of them, ascending
};
constexpr std::size_t most_unmatched = 6;  // one more than are named

/// Columns of L + U that wait for one another; from a factorization.
struct Levels {
    Index left = 0, exact = 0, relaxed = 0;  ///< how many, by rule
    /// Of the left-looking ones.
    std::vector<Index>                  sizes = {};       ///< columns of each
    std::vector<LuLevelStatistics::Hub> hubs = {};        ///< by updates, most first
    std::vector<Index>                  hub_column = {};  ///< of A
};
constexpr Index hub_updates = RefactorTuning{}.hub_updates;
constexpr Index narrow = 32;  // a level of fewer columns cannot keep the warps of a GPU busy

struct MatrixInfo {
    Index                  rows = 0, cols = 0;
    Offset                 nnz = 0, stored_zeros = 0;
    bool                   symmetric = false, pattern_symmetric = false;
    RowLengths             lengths;
    Index                  lower_bandwidth = 0, upper_bandwidth = 0;
    double                 smallest = 0, largest = 0;  ///< of |a_ij| over values ≠ 0
    Diagonal               diagonal;
    Index                  depth_lower = 0;  ///< longest chain of the forward substitution with tril(A), in rows
    std::optional<Matched> matching;         ///< square matrices only
    std::shared_ptr<const LuSymbolic> lu;    ///< those of full structural rank only
    std::optional<Levels>             levels;
    std::string                       no_levels;  ///< why there are none though asked for, or ""
};

void scan_values(const CsrView<double>& A, MatrixInfo& info)
{
    for (const double value : A.val()) {
        const double size = std::abs(value);
        if (size == 0) {
            ++info.stored_zeros;
            continue;
        }
        info.smallest = info.smallest == 0 ? size : std::min(info.smallest, size);
        info.largest = std::max(info.largest, size);
    }
}

void scan_rows(const CsrView<double>& A, MatrixInfo& info)
{
    const auto col = A.col();
    info.lengths.shortest = A.rows() > 0 ? A.cols() : 0;
    for (Index i = 0; i < A.rows(); ++i) {
        const Offset begin = A.row_ptr()[i], end = A.row_ptr()[i + 1];
        const auto   length = static_cast<Index>(end - begin);
        info.lengths.shortest = std::min(info.lengths.shortest, length);
        info.lengths.longest = std::max(info.lengths.longest, length);
        if (length == 0) {
            ++info.lengths.empty;
            continue;
        }
        info.lower_bandwidth = std::max(info.lower_bandwidth, i - col[begin]);
        info.upper_bandwidth = std::max(info.upper_bandwidth, col[end - 1] - i);
    }
    info.lengths.mean = A.rows() > 0 ? double(A.nnz()) / A.rows() : 0;
}

void scan_diagonal(const CsrView<double>& A, Diagonal& diagonal)
{
    for (Index i = 0; i < A.rows(); ++i) {
        double own = 0, others = 0, largest = 0;
        bool   stored = false;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const double size = std::abs(A.val()[p]);
            if (A.col()[p] == i) {
                own = size;
                stored = true;
            } else {
                others += size;
                largest = std::max(largest, size);
            }
        }
        diagonal.missing += !stored;
        diagonal.zeros += stored && own == 0;
        diagonal.largest_in_row += own > 0 && own >= largest;
        diagonal.dominant += own > 0 && own >= others;
    }
}

/// Rows on the longest chain of x_i waiting for x_j, j < i, a_ij stored.
Index lower_depth(const CsrView<double>& A)
{
    std::vector<Index> depth(static_cast<std::size_t>(A.rows()), 0);
    Index              deepest = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1] && A.col()[p] < i; ++p)
            depth[i] = std::max(depth[i], depth[A.col()[p]]);
        deepest = std::max(deepest, ++depth[i]);
    }
    return deepest;
}

/// The rows and columns that hold entries, numbered anew; square, so that the last rows or columns may be empty.
struct Core {
    CsrMatrix<double>  A;
    std::vector<Index> row, col;  ///< their old numbers
};

/// A matrix may have many more empty rows than others: what is known of those without looking needs no memory.
Core core_of(const CsrView<double>& A)
{
    Core               core;
    std::vector<Index> new_col(static_cast<std::size_t>(A.cols()), -1);
    for (const Index j : A.col()) new_col[j] = 0;
    for (Index j = 0; j < A.cols(); ++j)
        if (new_col[j] == 0) {
            new_col[j] = static_cast<Index>(core.col.size());
            core.col.push_back(j);
        }
    std::vector<Offset> row_ptr{0};
    for (Index i = 0; i < A.rows(); ++i)
        if (A.row_ptr()[i] < A.row_ptr()[i + 1]) {
            core.row.push_back(i);
            row_ptr.push_back(A.row_ptr()[i + 1]);
        }
    const auto         n = std::max(core.row.size(), core.col.size());
    std::vector<Index> col;
    col.reserve(A.col().size());
    for (const Index j : A.col()) col.push_back(new_col[j]);
    row_ptr.resize(n + 1, A.nnz());
    core.A = CsrMatrix<double>::from_sorted(static_cast<Index>(n), static_cast<Index>(n), std::move(row_ptr),
                                            std::move(col), {A.val().begin(), A.val().end()});
    return core;
}

Matched match(const CsrView<double>& A)
{
    auto [core, row, col] = core_of(A);
    const Matching    matching = maximum_product_matching(core);
    Matched           matched{.rank = matching.rank, .optimal = matching.optimal};
    std::vector<char> is_free(row.size(), 0);
    for (const Index i : matching.unmatched_rows)
        if (i < std::ssize(row)) is_free[i] = 1;
    for (Index i = 0; i < std::ssize(row); ++i) matched.moved += !is_free[i] && col[matching.col_of_row[i]] != row[i];
    for (Index i = 0, k = 0; i < A.rows() && matched.unmatched_rows.size() < most_unmatched; ++i) {
        const bool empty = A.row_ptr()[i] == A.row_ptr()[i + 1];
        if (empty || is_free[k]) matched.unmatched_rows.push_back(i);
        k += !empty;
    }
    scale_rows_cols(core, matching.row_scale, matching.col_scale);
    Diagonal diagonal;
    scan_diagonal(permute(core, std::span<const Index>{}, matching.col_of_row), diagonal);
    matched.dominant = diagonal.dominant;
    return matched;
}

/// Nothing for a singular matrix, or where memory does not suffice.
void find_levels(const CsrView<double>& A, MatrixInfo& info)
{
    Cpu            serial(1);
    Lu             lu(serial, info.lu);
    const LuReport done = lu.factor(A.val());
    if (done.outcome != Outcome::converged) {
        info.no_levels = fmt::format("none, since the factorization failed: {}, {}", name(done.outcome), done.reason);
        return;
    }
    const LuPattern&  pattern = *lu.factors().pattern;
    const auto        depth = [&](DependencyRule rule) { return lu_levels(pattern, rule).depth(); };
    const LuLevels    left = lu_levels(pattern, DependencyRule::left);
    LuLevelStatistics statistics = level_statistics(pattern, left, hub_updates);
    Levels            levels{.left = left.depth(),
                             .exact = depth(DependencyRule::exact),
                             .relaxed = depth(DependencyRule::relaxed),
                             .hubs = std::move(statistics.hubs)};
    for (const auto& level : statistics.levels) levels.sizes.push_back(level.columns);
    for (const auto& hub : levels.hubs) levels.hub_column.push_back(pattern.col_perm[hub.column]);
    info.levels = std::move(levels);
}

/// @param factored  whether to factor as well
MatrixInfo examine(const CsrView<double>& A, bool factored)
{
    MatrixInfo info;
    info.rows = A.rows();
    info.cols = A.cols();
    info.nnz = A.nnz();
    scan_values(A, info);
    scan_rows(A, info);
    if (A.rows() != A.cols()) return info;
    info.pattern_symmetric = is_pattern_symmetric(A);
    info.symmetric = is_symmetric(A);
    scan_diagonal(A, info.diagonal);
    info.depth_lower = lower_depth(A);
    info.matching = match(A);
    if (info.matching->rank < A.rows()) return info;  // it has no factors
    info.lu = analyse(view(A), within_memory({}));
    if (factored) find_levels(A, info);
    return info;
}

struct MemoryEstimate {
    std::string_view what;
    double           bytes;
};

/// Values take 8 bytes and a column index 4; fill 3 is what the default tolerance typically leaves. On a GPU lie A, the
/// factors with the places of their rows, and the basis.
std::vector<MemoryEstimate> estimates(const CsrView<double>& A, const MatrixInfo& info)
{
    const double                per_value = 12, per_row = 8;
    const KrylovOptions         krylov;
    std::vector<MemoryEstimate> all{{"matrix", double(A.bytes())},
                                    {"ilu0", per_value * A.nnz() + per_row * A.rows()},
                                    {"mlilu_fill_3", 3 * per_value * A.nnz() + 8 * per_row * A.rows()},
                                    {"gmres_basis", 8.0 * A.rows() * (krylov.restart + 2)},
                                    {"gpu_gmres_mlilu_fill_3",
                                     4 * per_value * A.nnz() + 8.0 * A.rows() * (krylov.restart + 15)}};
    if (info.lu) all.push_back({"lu", predicted_bytes(*info.lu)});
    return all;
}

double decades(const MatrixInfo& info)
{
    return info.smallest > 0 ? std::log10(info.largest) - std::log10(info.smallest) : 0;
}

nlohmann::ordered_json json_levels(const Levels& levels)
{
    using Json = nlohmann::ordered_json;
    Json hubs = Json::array();
    for (std::size_t h = 0; h < levels.hubs.size(); ++h)
        hubs.push_back({{"column", levels.hub_column[h] + 1},
                        {"updates", levels.hubs[h].updates},
                        {"depth", levels.hubs[h].depth}});
    return {{"left", levels.left},
            {"exact", levels.exact},
            {"relaxed", levels.relaxed},
            {"sizes", levels.sizes},
            {"hubs", std::move(hubs)}};
}

std::string json_info(const std::string& name, const std::string& about, const MatrixInfo& info,
                      const CsrView<double>& A)
{
    using Json = nlohmann::ordered_json;
    Json json;
    json["version"] = ILUX_VERSION;
    json["matrix"] = {{"name", name},
                      {"about", about},
                      {"rows", info.rows},
                      {"cols", info.cols},
                      {"nnz", info.nnz},
                      {"stored_zeros", info.stored_zeros},
                      {"symmetric", info.symmetric},
                      {"pattern_symmetric", info.pattern_symmetric}};
    json["row_lengths"] = {{"min", info.lengths.shortest},
                           {"mean", info.lengths.mean},
                           {"max", info.lengths.longest},
                           {"empty", info.lengths.empty}};
    json["bandwidth"] = {{"lower", info.lower_bandwidth}, {"upper", info.upper_bandwidth}};
    json["values"] = {{"smallest", info.smallest}, {"largest", info.largest}, {"decades", decades(info)}};
    json["diagonal"] = nullptr;
    json["matching"] = nullptr;
    json["depth_lower"] = nullptr;
    if (info.matching) {
        json["diagonal"] = {{"zeros", info.diagonal.zeros},
                            {"missing", info.diagonal.missing},
                            {"largest_in_row", info.diagonal.largest_in_row},
                            {"dominant_rows", info.diagonal.dominant}};
        json["matching"] = {{"structural_rank", info.matching->rank},
                            {"rows_moved", info.matching->moved},
                            {"dominant_rows", info.matching->dominant},
                            {"optimal", info.matching->optimal}};
        json["depth_lower"] = info.depth_lower;
    }
    json["lu"] = nullptr;
    if (info.lu) {
        const LuSymbolicReport& lu = info.lu->report;
        json["lu"] = {{"ordering", field_text(lu.ordering)},
                      {"matched", lu.matched},
                      {"blocks", lu.blocks},
                      {"largest_block", lu.largest_block},
                      {"predicted_nnz", lu.nnz},
                      {"predicted_flops", lu.flops},
                      {"seconds", lu.seconds},
                      {"decisions", lu.decisions}};
        json["lu"]["levels"] = nullptr;
        if (info.levels) json["lu"]["levels"] = json_levels(*info.levels);
        if (!info.no_levels.empty()) json["lu"]["no_levels"] = info.no_levels;
    }
    for (const auto& [what, bytes] : estimates(A, info)) json["memory_bytes"][std::string(what)] = bytes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
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
    const Diagonal& diagonal = info.diagonal;
    const Matched&  matching = *info.matching;
    std::string     text =
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
                                           levels.hubs.size() == 1 ? "" : "s", hub_updates, named,
                                           levels.hubs.size() > most_named ? "; ..." : ""));
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
    if (info.levels) text += level_rows(*info.levels);
    if (!info.no_levels.empty()) text += info_row("levels", info.no_levels);
    return text;
}

std::string text_info(const std::string& name, const std::string& about, const MatrixInfo& info,
                      const CsrView<double>& A)
{
    std::string text = info_row("matrix", printable(name));
    if (!about.empty()) text += info_row("", about);
    text += info_row("size",
                     fmt::format("{} × {}, nnz {}{}", info.rows, info.cols, info.nnz,
                                 info.stored_zeros > 0 ? fmt::format(" ({} of them zero)", info.stored_zeros) : ""));
    if (info.rows == info.cols)
        text += info_row("symmetry", info.symmetric           ? "symmetric"
                                     : info.pattern_symmetric ? "pattern symmetric, values not"
                                                              : "none");
    text +=
        info_row("row lengths",
                 fmt::format("{} to {}, mean {:.1f}{}", info.lengths.shortest, info.lengths.longest, info.lengths.mean,
                             info.lengths.empty > 0 ? fmt::format("; {} rows are empty", info.lengths.empty) : ""));
    text += info_row("bandwidth",
                     fmt::format("{} below, {} above the diagonal", info.lower_bandwidth, info.upper_bandwidth));
    text += info_row("values", fmt::format("{:.2e} to {:.2e} in size, {:.1f} decades", info.smallest, info.largest,
                                           decades(info)));
    if (info.matching) text += square_rows(info);
    if (info.lu) text += lu_rows(info);
    else if (info.matching) text += info_row("direct", "none, since A is structurally singular");
    std::string memory;
    for (const auto& [what, bytes] : estimates(A, info))
        memory += fmt::format("{}{} {}", memory.empty() ? "" : ", ", what, bytes_text(bytes));
    return text + info_row("memory, about", memory);
}

}  // namespace

int info(Arguments arguments)
{
    std::string matrix;
    bool        json = false, levels = false;
    auto        app = parser("info", "Says what can be seen of a matrix before it is factored.");
    app->add_option("MATRIX", matrix, "a Matrix Market file, - for standard input, or gallery:NAME[:key=value,...]");
    app->add_flag("--levels", levels,
                  "factor as well, and tell the levels of L + U: how many, how large, and its hub columns");
    app->add_flag("--json", json, "one JSON object instead of the table")->group("Output");
    if (!parse(*app, arguments)) return success;
    if (matrix.empty()) throw InvalidOption("info: MATRIX is missing; see ilux info --help");

    const auto [A, about] = load_matrix(matrix);
    const MatrixInfo seen = examine(A, levels);
    write_out((json ? json_info(matrix, about, seen, A) : text_info(matrix, about, seen, A)) + "\n");
    return success;
}

}  // namespace ilux::app
