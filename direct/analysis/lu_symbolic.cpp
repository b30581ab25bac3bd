#include "ilux/direct/analysis/lu_symbolic.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/matrix/pattern.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/analysis/block_form.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/analysis/lu_diagonal.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/analysis/lu_ordering.hpp"

namespace ilux {
namespace {

constexpr Offset many_entries = 50'000;  // worth threads

bool is_identity(std::span<const Index> perm)
{
    return !any_by_tasks(static_cast<Index>(perm.size()), [&](Index j) { return perm[j] != j; });
}

/// @param wanted  blocks, if there are several. One thread finds them as fast as that there is one
BlockForm blocks_of(const MergedRows& A, std::span<const Index> row_of_col, bool wanted)
{
    const Index n = static_cast<Index>(row_of_col.size());
    const bool  ask = wanted && omp_get_num_threads() > 1 && is_identity(row_of_col);
    const bool  one = ask && is_one_component({n, A.ptr, A.col});
    return wanted && !one ? block_form(A.ptr, A.col, row_of_col) : single_block(n);
}

/// The blocks of more than one row, as one pattern of their own: numbered block after block, so that columns
/// ascend within a row.
struct LargeBlocks {
    std::vector<Index>      vertex;  // old numbers; empty: all of the matrix is one block, and its pattern is that of A
    std::vector<Index>      block;   // of each
    std::span<const Offset> ptr;
    std::span<const Index>  col;
    std::vector<Offset>     own_ptr;  // memory of the above
    std::vector<Index>      own_col;

    PatternView pattern() const { return {static_cast<Index>(ptr.size()) - 1, ptr, col}; }
};

LargeBlocks large_blocks(const MergedRows& A, std::span<const Index> row_of_col, const BlockForm& form)
{
    const Index n = static_cast<Index>(row_of_col.size()), blocks = static_cast<Index>(form.block_ptr.size()) - 1;
    LargeBlocks large;
    if (blocks == 1 && n > 1 && is_identity(row_of_col)) {
        large.ptr = A.ptr;
        large.col = A.col;
        return large;
    }
    std::vector<Index> local(n, -1);
    for (Index b = 0; b < blocks; ++b) {
        if (form.block_ptr[b + 1] - form.block_ptr[b] == 1) continue;
        for (Index k = form.block_ptr[b]; k < form.block_ptr[b + 1]; ++k) {
            local[form.perm[k]] = static_cast<Index>(large.vertex.size());
            large.vertex.push_back(form.perm[k]);
            large.block.push_back(b);
        }
    }
    large.own_ptr.reserve(large.vertex.size() + 1);
    large.own_col.reserve(A.col.size());
    large.own_ptr.push_back(0);
    for (std::size_t v = 0; v < large.vertex.size(); ++v) {
        const Index i = row_of_col[large.vertex[v]], b = large.block[v];
        const Index size = form.block_ptr[b + 1] - form.block_ptr[b];
        const Index first = local[form.perm[form.block_ptr[b]]];
        for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p)
            if (const Index j = local[A.col[p]]; j >= first && j - first < size) large.own_col.push_back(j);
        large.own_ptr.push_back(static_cast<Offset>(large.own_col.size()));
    }
    large.ptr = large.own_ptr;
    large.col = large.own_col;
    return large;
}

/// Puts the vertices of the large blocks in the given order, each block where it was.
void reorder_blocks(BlockForm& form, const LargeBlocks& large, std::vector<Index> order)
{
    if (large.vertex.empty() && !order.empty()) {
        form.perm = std::move(order);
        return;
    }
    std::vector<Index> next(form.block_ptr.begin(), form.block_ptr.end() - 1);
    for (const Index v : order) form.perm[next[large.block[v]]++] = large.vertex[v];
}

void describe(LuSymbolicReport& report, const BlockForm& form, const LuOrder& order, Index ordered)
{
    const Index n = static_cast<Index>(form.perm.size());
    report.ordering = order.ordering;
    report.blocks = static_cast<Index>(form.block_ptr.size()) - 1;
    for (Index b = 0; b < report.blocks; ++b)
        report.largest_block = std::max(report.largest_block, form.block_ptr[b + 1] - form.block_ptr[b]);
    report.nnz = order.cost.nnz + n - ordered;  // blocks of one row have their pivot
    report.flops = order.cost.flops(ordered);
}

/// Rows in the order of the columns, and B by columns. Row by row, so that rows ascend and duplicates stay adjacent in
/// the caller's order. By tasks.
void fill_columns(LuSymbolic& s, const RowEntries& entries, std::span<const Index> row_of_col)
{
    for_pieces(s.n, [&](Index, Index begin, Index end) {
        for (Index k = begin; k < end; ++k) s.row_perm[k] = row_of_col[s.col_perm[k]];
    });
    const auto inv_col_perm = inverse_by_tasks(s.col_perm);
    const auto rows = [&](Index begin, Index end, auto&& take) {
        for (Index r = begin; r < end; ++r) {
            const Index i = s.row_perm[r];
            for (Offset p = entries.ptr[i]; p < entries.ptr[i + 1]; ++p) take(inv_col_perm[entries.col[p]], r, p);
        }
    };
    Grouping by_column(s.n, s.input_nnz, s.n, rows);
    s.row.resize(by_column.size());
    s.source.resize(by_column.size());
    by_column.place([&](Offset q, Index r, Offset p) {
        s.row[q] = r;
        s.source[q] = entries.source.empty() ? p : entries.source[p];
    });
    s.col_ptr = by_column.take_ptr();
}

/// What there is before an order is chosen.
struct Structure {
    RowEntries         entries;
    MergedRows         rows;
    std::vector<Index> row_of_col;
    BlockForm          form;
    LargeBlocks        large;
};

/// By tasks. Fills in what s says of the caller's arrays, scales and rank.
template <class S>
Structure look_at(const MatrixView<S>& A, const LuOptions& options, LuSymbolic& s, const StopToken& stop)
{
    require_pattern(A);
    require_finite_values(A);
    s.n = A.n;
    s.input_nnz = std::ssize(A.idx);
    s.layout = A.layout;
    s.input_ptr.assign(A.ptr.begin(), A.ptr.end());
    s.input_idx.resize(A.idx.size());
    for_pieces(s.input_nnz, [&](Index, Offset begin, Offset end) {
        std::copy(A.idx.begin() + begin, A.idx.begin() + end, s.input_idx.begin() + begin);
    });
    s.options = options;

    Structure found{.entries = by_rows(A), .rows = {}, .row_of_col = {}, .form = {}, .large = {}};
    found.rows = merged(A, found.entries);
    LuDiagonal diagonal = choose_diagonal(found.rows, options, s.report.decisions, stop);
    s.report.structural_rank = diagonal.rank;
    s.report.matched = diagonal.matched;
    s.row_scale = std::move(diagonal.row_scale);
    s.col_scale = std::move(diagonal.col_scale);
    found.row_of_col = std::move(diagonal.row_of_col);
    stop.check();
    found.form = blocks_of(found.rows, found.row_of_col, options.blocks);
    found.large = large_blocks(found.rows, found.row_of_col, found.form);
    return found;
}

}  // namespace

template <class S>
MatrixView<S> view(const CsrView<S>& A)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a {} x {} matrix has no LU factors here: it must be square", A.rows(), A.cols());
    });
    return {.n = A.rows(), .ptr = A.row_ptr(), .idx = A.col(), .val = A.val()};
}

template <class S>
std::shared_ptr<const LuSymbolic> analyse(const MatrixView<S>& A, const LuOptions& options, const StopToken& stop,
                                          const Cpu& be, const AnalysisLimit& limit)
{
    const WallClock clock;
    const bool      large_input = std::ssize(A.idx) >= many_entries;
    stop.check();
    validate(options);
    auto      symbolic = std::make_shared<LuSymbolic>();
    auto&     s = *symbolic;
    Structure found;
    with_tasks(be, large_input, [&] { found = look_at(A, options, s, stop); });
    LuOrder order =
        choose_order(found.large.pattern(), options.ordering, options.order_for, s.report.decisions, stop, be, limit);
    stop.check();
    describe(s.report, found.form, order, found.large.pattern().n);
    reorder_blocks(found.form, found.large, std::move(order.perm));
    s.col_perm = std::move(found.form.perm);
    s.block_ptr = std::move(found.form.block_ptr);
    s.row_perm.resize(s.n);
    with_tasks(be, large_input, [&] { fill_columns(s, found.entries, found.row_of_col); });
    s.report.seconds = clock.seconds();
    return symbolic;
}

void require_values(const LuSymbolic& symbolic, std::size_t values)
{
    require(static_cast<Offset>(values) == symbolic.input_nnz,
            [&] { return fmt::format("{} values for a matrix analysed with {} entries", values, symbolic.input_nnz); });
}

template <class S>
void require_same_pattern(const LuSymbolic& symbolic, const MatrixView<S>& A)
{
    const bool  rows = symbolic.layout == MatrixLayout::rows;
    const char* line = rows ? "row" : "column";
    const char* across = rows ? "column" : "row";
    require(A.layout == symbolic.layout,
            [&] { return fmt::format("the matrix comes by {}s, but the analysed one came by {}s", across, line); });
    require(A.n == symbolic.n,
            [&] { return fmt::format("the matrix is of order {}, but the analysed one of {}", A.n, symbolic.n); });
    require(A.ptr.size() == symbolic.input_ptr.size(), [&] {
        return fmt::format("{} positions of {}s, a matrix of order {} has {}", A.ptr.size(), line, A.n,
                           symbolic.input_ptr.size());
    });
    const auto differs = first_difference(A.ptr, A.idx, symbolic.input_ptr, symbolic.input_idx);
    require(!differs || differs->position >= 0 || differs->line == symbolic.n, [&] {
        return fmt::format("{} {} (counted from 0) has another number of entries than in the analysed pattern", line,
                           differs->line);
    });
    require(A.idx.size() == symbolic.input_idx.size(), [&] {
        return fmt::format("{} entries, but the analysed pattern has {}", A.idx.size(), symbolic.input_idx.size());
    });
    require(!differs, [&] {
        const Offset p = differs->position;
        return fmt::format("entry {}, in {} {}, is in {} {} (counted from 0), but in {} {} of the analysed pattern", p,
                           line, differs->line, across, A.idx[p], across, symbolic.input_idx[p]);
    });
}

#define ILUX_INSTANTIATE(S)                                                                                      \
    template MatrixView<S>                     view(const CsrView<S>&);                                          \
    template std::shared_ptr<const LuSymbolic> analyse(const MatrixView<S>&, const LuOptions&, const StopToken&, \
                                                       const Cpu&, const AnalysisLimit&);                        \
    template void                              require_same_pattern(const LuSymbolic&, const MatrixView<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
