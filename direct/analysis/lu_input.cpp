#include "ilux/direct/analysis/lu_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "ilux/base/matrix/csr_checks.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

struct Place {
    Index row, col;
};

/// Place of the entry at position p, among the rows or columns it was given by.
template <class S>
Place place_of(const MatrixView<S>& A, Offset p)
{
    const auto  after = std::ranges::upper_bound(A.ptr, p);
    const Index k = static_cast<Index>(after - A.ptr.begin() - 1);
    return A.layout == MatrixLayout::rows ? Place{k, A.idx[p]} : Place{A.idx[p], k};
}

bool all_ascend(const RowEntries& a)
{
    return !any_by_tasks(static_cast<Index>(a.ptr.size()) - 1, [&](Index i) {
        const auto row = a.col.subspan(a.ptr[i], a.ptr[i + 1] - a.ptr[i]);
        return std::ranges::adjacent_find(row, std::ranges::greater_equal()) != row.end();
    });
}

bool finite_numbers(std::span<const double> values)
{
    constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000, unit = 0x0010'0000'0000'0000;
    std::uint64_t           carry = 0;  // an exponent of ones, that of NaN and Inf, carries into the sign
    for (const double value : values) carry |= (std::bit_cast<std::uint64_t>(value) & exponent) + unit;
    return carry >> 63 == 0;
}

/// What the analysis sees of a value.
template <class S>
double seen_of(S value)
{
    if constexpr (is_complex<S>) return std::abs(value);
    else return value;
}

}  // namespace

template <class S>
void require_pattern(const MatrixView<S>& A)
{
    const bool  rows = A.layout == MatrixLayout::rows;
    const char* name = rows ? "row_ptr" : "col_ptr";
    const auto  nnz = static_cast<Offset>(A.idx.size());
    require(A.n >= 0, [&] { return fmt::format("a matrix cannot be {} x {}", A.n, A.n); });
    require(A.ptr.size() == static_cast<std::size_t>(A.n) + 1, [&] {
        return fmt::format("{} has {} entries, a matrix of {} {} needs {}", name, A.ptr.size(), A.n,
                           rows ? "rows" : "columns", Offset{A.n} + 1);
    });
    require(A.val.empty() || A.val.size() == A.idx.size(),
            [&] { return fmt::format("{} {} but {} values", nnz, rows ? "columns" : "rows", A.val.size()); });
    require(A.ptr.front() == 0 && A.ptr.back() == nnz, [&] {
        return fmt::format("{} runs from {} to {}; expected 0 to {}", name, A.ptr.front(), A.ptr.back(), nnz);
    });
    // Where there is one, the first is looked for.
    const bool decreases = any_by_tasks(A.n, [&](Index k) { return A.ptr[k] > A.ptr[k + 1]; });
    for (Index k = 0; k < (decreases ? A.n : 0); ++k)
        require(A.ptr[k] <= A.ptr[k + 1], [&] {
            return fmt::format("{} decreases after {} {} (counted from 0)", name, rows ? "row" : "column", k);
        });
    const bool outside = any_by_tasks(nnz, [&](Offset p) { return A.idx[p] < 0 || A.idx[p] >= A.n; });
    for (Offset p = 0; p < (outside ? nnz : 0); ++p)
        require(A.idx[p] >= 0 && A.idx[p] < A.n, [&] {
            const auto [i, j] = place_of(A, p);
            return fmt::format("entry {} is at row {}, column {} (counted from 0), outside a {} x {} matrix", p, i, j,
                               A.n, A.n);
        });
}

template <class S>
bool all_finite(std::span<const NotDeduced<S>> values)
{
    if constexpr (is_complex<S>) return std::ranges::all_of(values, [](S z) { return is_finite(z); });
    else return finite_numbers(values);
}

template <class S>
void require_finite_values(const MatrixView<S>& A)
{
    const bool bad = any_by_tasks(std::ssize(A.val), [&](Offset p) { return !is_finite(A.val[p]); });
    for (Offset p = 0; p < (bad ? std::ssize(A.val) : 0); ++p)
        require(is_finite(A.val[p]), [&] {
            const auto [i, j] = place_of(A, p);
            return fmt::format("entry {} at row {}, column {} (counted from 0) is {}, not a finite number", p, i, j,
                               detail::shown(A.val[p]));
        });
}

template <class S>
RowEntries by_rows(const MatrixView<S>& A)
{
    RowEntries r;
    if (A.layout == MatrixLayout::rows) {
        r.ptr = A.ptr;
        r.col = A.idx;
        return r;
    }
    Grouping by_row(A.n, std::ssize(A.idx), A.n, [&](Index begin, Index end, auto&& take) {
        for (Index j = begin; j < end; ++j)
            for (Offset p = A.ptr[j]; p < A.ptr[j + 1]; ++p) take(A.idx[p], j, p);
    });
    r.own_col.resize(A.idx.size());
    r.own_source.resize(A.idx.size());
    by_row.place([&](Offset q, Index j, Offset p) {
        r.own_col[q] = j;
        r.own_source[q] = p;
    });
    r.own_ptr = by_row.take_ptr();
    r.ptr = r.own_ptr;
    r.col = r.own_col;
    r.source = r.own_source;
    return r;
}

template <class S>
MergedRows merged(const MatrixView<S>& A, const RowEntries& entries)
{
    MergedRows m;
    const bool valued = !A.val.empty();
    const auto value = [&](Offset p) { return valued ? A.val[entries.source.empty() ? p : entries.source[p]] : S(0); };
    const auto nnz = static_cast<Offset>(entries.col.size());
    if (all_ascend(entries)) {
        m.ptr = entries.ptr;
        m.col = entries.col;
        if (valued && (is_complex<S> || !entries.source.empty())) {
            m.own_val.resize(nnz);
            for (Offset p = 0; p < nnz; ++p) m.own_val[p] = seen_of(value(p));
            m.val = m.own_val;
        } else if constexpr (!is_complex<S>) {
            m.val = A.val;
        }
        return m;
    }
    std::vector<std::pair<Index, S>> row;
    std::vector<S>                   sums;
    m.own_ptr.assign(1, 0);
    for (Index i = 0; i < A.n; ++i) {
        row.clear();
        for (Offset p = entries.ptr[i]; p < entries.ptr[i + 1]; ++p) row.emplace_back(entries.col[p], value(p));
        std::ranges::stable_sort(row, {}, &std::pair<Index, S>::first);
        for (const auto& [j, a] : row) {
            if (static_cast<Offset>(m.own_col.size()) > m.own_ptr.back() && m.own_col.back() == j) {
                sums.back() += a;
                require(is_finite(sums.back()), [&, j = j] {
                    return fmt::format("the duplicates at row {}, column {} (counted from 1) sum to {}", i + 1, j + 1,
                                       detail::shown(sums.back()));
                });
            } else {
                m.own_col.push_back(j);
                sums.push_back(a);
            }
        }
        m.own_ptr.push_back(static_cast<Offset>(m.own_col.size()));
    }
    m.ptr = m.own_ptr;
    m.col = m.own_col;
    if constexpr (is_complex<S>)
        for (const S sum : sums) m.own_val.push_back(std::abs(sum));
    else m.own_val = std::move(sums);
    if (valued) m.val = m.own_val;
    return m;
}

#define ILUX_INSTANTIATE(S)                                          \
    template void       require_pattern(const MatrixView<S>&);       \
    template void       require_finite_values(const MatrixView<S>&); \
    template bool       all_finite<S>(std::span<const S>);           \
    template RowEntries by_rows(const MatrixView<S>&);               \
    template MergedRows merged(const MatrixView<S>&, const RowEntries&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
