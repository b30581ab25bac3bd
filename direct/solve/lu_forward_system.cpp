#include "ilux/direct/solve/lu_forward_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace ilux {
namespace {

/// Rows of the system: those that take the right-hand side, and those that make a component of the result. A row may be
/// both.
struct Rows {
    std::vector<Index> in, out;  ///< n, by rows of B
    Offset             count = 0;
};

bool y_is_read(const LuPattern& P, Index k) { return P.lower_count(k) > 0; }

Rows number_rows(const LuPattern& P)
{
    Rows rows{std::vector<Index>(P.n), std::vector<Index>(P.n)};
    for (Index b = P.blocks(); b-- > 0;) {
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k)
            if (y_is_read(P, k)) rows.in[k] = static_cast<Index>(rows.count++);
        for (Index k = P.block_ptr[b + 1]; k-- > P.block_ptr[b];) {
            rows.out[k] = static_cast<Index>(rows.count++);
            if (!y_is_read(P, k)) rows.in[k] = rows.out[k];
        }
    }
    return rows;
}

Rows number_rows_transposed(const LuPattern& P)
{
    Rows rows{std::vector<Index>(P.n), std::vector<Index>(P.n)};
    for (Index b = 0; b < P.blocks(); ++b) {
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k)
            rows.in[k] = rows.out[k] = static_cast<Index>(rows.count++);
        for (Index k = P.block_ptr[b + 1]; k-- > P.block_ptr[b];)
            if (y_is_read(P, k)) rows.out[k] = static_cast<Index>(rows.count++);
    }
    return rows;
}

/// An x_i reads its y_i with the coefficient −1.
constexpr Offset y_itself = -1;

/// put(row, column, entry of LuPattern, or y_itself) for each entry, columns ascending.
template <class Put>
void walk(const LuPattern& P, const Rows& rows, Put put)
{
    for (Index b = P.blocks(); b-- > 0;) {
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k) {
            if (!y_is_read(P, k)) continue;
            for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) put(rows.in[P.row[p]], rows.in[k], p);
            put(rows.out[k], rows.in[k], y_itself);
        }
        for (Index k = P.block_ptr[b + 1]; k-- > P.block_ptr[b];) {
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) put(rows.out[P.row[p]], rows.out[k], p);
            for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p)
                put(rows.in[P.f_row[p]], rows.out[k], P.nnz() + p);
        }
    }
}

/// Does what walk() does for Aᵀ, row by row.
template <class Put>
void walk_transposed(const LuPattern& P, const Rows& rows, Put put)
{
    for (Index k = 0; k < P.n; ++k) {
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) put(rows.in[k], rows.out[P.f_row[p]], P.nnz() + p);
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) put(rows.in[k], rows.in[P.row[p]], p);
        if (!y_is_read(P, k)) continue;
        put(rows.out[k], rows.in[k], y_itself);
        for (Offset p = P.col_ptr[k + 1]; --p > P.diag[k];) put(rows.out[k], rows.out[P.row[p]], p);
    }
}

/// Entries of one row, by columns.
void sort_row(std::span<Index> col, std::span<double> val, std::vector<std::pair<Index, double>>& scratch)
{
    if (std::ranges::is_sorted(col)) return;
    scratch.clear();
    for (std::size_t e = 0; e < col.size(); ++e) scratch.emplace_back(col[e], val[e]);
    std::ranges::sort(scratch, {}, &std::pair<Index, double>::first);
    for (std::size_t e = 0; e < col.size(); ++e) std::tie(col[e], val[e]) = scratch[e];
}

/// @param visit  calls its argument, put(row, column, entry), for each entry, the same ones every time
template <class Visit, class Value>
CsrMatrix<double> matrix_of(Index order, Visit visit, Value value)
{
    std::vector<Offset> row_ptr(order + std::size_t{1}, 0);
    visit([&](Index i, Index, Offset) { ++row_ptr[i + 1]; });
    for (Index i = 0; i < order; ++i) row_ptr[i + 1] += row_ptr[i];
    std::vector<Index>  col(static_cast<std::size_t>(row_ptr.back()));
    std::vector<double> val(col.size());
    std::vector<Offset> next(row_ptr.begin(), row_ptr.end() - 1);
    visit([&](Index i, Index j, Offset entry) {
        const Offset at = next[i]++;
        col[at] = j;
        val[at] = value(entry);
    });
    std::vector<std::pair<Index, double>> scratch;
    for (Index i = 0; i < order; ++i) {
        const auto begin = static_cast<std::size_t>(row_ptr[i]),
                   count = static_cast<std::size_t>(row_ptr[i + 1]) - begin;
        sort_row(std::span(col).subspan(begin, count), std::span(val).subspan(begin, count), scratch);
    }
    return CsrMatrix<double>::from_sorted(order, order, std::move(row_ptr), std::move(col), std::move(val));
}

/// Where the rows read b and write x; by rows of the system.
SolveFrame<> frame_of(const LuPattern& P, const Rows& rows, Transpose transpose)
{
    const bool   plain = transpose == Transpose::no;
    const auto & in_perm = plain ? P.row_perm : P.col_perm, &out_perm = plain ? P.col_perm : P.row_perm;
    const auto & in_scale = plain ? P.row_scale : P.col_scale, &out_scale = plain ? P.col_scale : P.row_scale;
    const auto   order = static_cast<std::size_t>(rows.count);
    SolveFrame<> frame{.in_index = std::vector<Index>(order, -1),
                       .in_scale = std::vector<double>(in_scale.empty() ? 0 : order, 1),
                       .out_index = std::vector<Index>(order, -1),
                       .out_scale = std::vector<double>(out_scale.empty() ? 0 : order, 1),
                       .length = P.n};
    for (Index k = 0; k < P.n; ++k) {
        frame.in_index[rows.in[k]] = in_perm[k];
        frame.out_index[rows.out[k]] = out_perm[k];
        if (!in_scale.empty()) frame.in_scale[rows.in[k]] = in_scale[in_perm[k]];
        if (!out_scale.empty()) frame.out_scale[rows.out[k]] = out_scale[out_perm[k]];
    }
    return frame;
}

}  // namespace

RenewedSystem lu_forward_system(const LuPattern& pattern, std::span<const std::uint32_t> slot_of, Transpose transpose)
{
    const Offset entries = pattern.nnz() + pattern.nnz_F();
    require(entries < std::numeric_limits<std::uint32_t>::max(),
            [&] { return fmt::format("{} factor entries, too many for positions of 32 bits", entries); });
    const bool plain = transpose == Transpose::no;
    const Rows rows = plain ? number_rows(pattern) : number_rows_transposed(pattern);
    require(rows.count <= std::numeric_limits<Index>::max(),
            [&] { return fmt::format("{} unknowns of both substitutions, too many for 31 bits", rows.count); });
    const auto value = [&](Offset entry) {
        if (entry == y_itself) return -1.0;
        return renewed(slot_of.empty() ? static_cast<std::uint32_t>(entry) : slot_of[entry]);
    };
    const auto visit = [&](auto put) {
        if (plain) walk(pattern, rows, put);
        else walk_transposed(pattern, rows, put);
    };
    RenewedSystem made;
    auto& [L, inv_diag, frame] = made.system;
    L = matrix_of(static_cast<Index>(rows.count), visit, value);
    inv_diag.assign(static_cast<std::size_t>(rows.count), 1);
    for (Index k = 0; k < pattern.n; ++k) inv_diag[plain ? rows.out[k] : rows.in[k]] = value(pattern.diag[k]);
    frame = frame_of(pattern, rows, transpose);
    return made;
}

}  // namespace ilux
