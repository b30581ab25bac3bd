#include "ilux/direct/analysis/lu_diagonal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/power_of_two.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/reorder/matching.hpp"
#include "ilux/reorder/transversal.hpp"

namespace ilux {
namespace {

Index order_of(const MergedRows& A) { return static_cast<Index>(A.ptr.size()) - 1; }

Offset find(const MergedRows& A, Index i, Index j)  // position of entry (i, j), or −1
{
    const auto row = A.col.subspan(A.ptr[i], A.ptr[i + 1] - A.ptr[i]);
    const auto found = std::ranges::lower_bound(row, j);
    return found != row.end() && *found == j ? A.ptr[i] + (found - row.begin()) : -1;
}

/// Extends the transversal through entries of any value; rows and columns that are left are paired in ascending order.
void complete(const MergedRows& A, std::span<Offset> entry_of_row, LuDiagonal& d, const StopToken& stop)
{
    extend_transversal(A.ptr, A.col, {}, entry_of_row, d.row_of_col, stop);
    Index i = 0;
    d.rank = 0;
    for (Index& row : d.row_of_col) {
        if (row >= 0) {
            ++d.rank;
            continue;
        }
        while (entry_of_row[i] >= 0) ++i;
        row = i++;
    }
}

LuDiagonal structural_diagonal(const MergedRows& A, const StopToken& stop)
{
    const Index        n = order_of(A);
    EntryArray<Offset> entry_of_row(n);
    LuDiagonal         d;
    d.row_of_col.resize(n);
    std::atomic<Index> rank = 0;
    for_pieces(n, [&](Index, Index begin, Index end) {
        Index found = 0;
        for (Index i = begin; i < end; ++i) {
            const Offset p = find(A, i, i);
            const bool   serves = p >= 0 && (A.val.empty() || A.val[p] != 0);
            entry_of_row[i] = serves ? p : -1;
            d.row_of_col[i] = serves ? i : -1;
            found += serves;
        }
        rank += found;
    });
    d.rank = rank;
    if (d.rank == n) return d;
    if (!A.val.empty()) extend_transversal(A.ptr, A.col, A.val, entry_of_row, d.row_of_col, stop);
    complete(A, entry_of_row, d, stop);
    return d;
}

/// Diagonal entries that threshold pivoting would not take if they came first, rows being scaled to a largest entry
/// of 1.
Index small_pivots(const MergedRows& A, const LuDiagonal& d, double pivot_tol)
{
    const Index        n = order_of(A);
    const auto         col_of_row = inverse_by_tasks(d.row_of_col);
    EntryArray<double> scale(n), diagonal(n);  // of rows, of columns
    std::vector<char>  small(n);               // columns
    for_pieces(n, [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            double largest = 0, own = 0;
            for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
                largest = std::max(largest, std::abs(A.val[p]));
                if (A.col[p] == col_of_row[i]) own = std::abs(A.val[p]);
            }
            scale[i] = largest > 0 ? 1 / largest : 1;
            diagonal[col_of_row[i]] = own * scale[i];
        }
    });
    for_pieces(n, [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
                const Index  j = A.col[p];
                const double a = std::abs(A.val[p]) * scale[i];  // NaN where 1 / largest overflows
                if (a == a && !(diagonal[j] >= pivot_tol * a))
                    std::atomic_ref(small[j]).store(1, std::memory_order_relaxed);
            }
    });
    std::atomic<Index> count = 0;
    for_pieces(n, [&](Index, Index begin, Index end) {
        Index found = 0;
        for (Index j = begin; j < end; ++j) found += small[j] || !(diagonal[j] > 0);
        count += found;
    });
    return count;
}

void match_by_values(const MergedRows& A, LuDiagonal& d, bool permute, bool scale, const StopToken& stop)
{
    const auto matrix = CsrMatrix<double>::from_sorted(order_of(A), order_of(A), {A.ptr.begin(), A.ptr.end()},
                                                       {A.col.begin(), A.col.end()}, {A.val.begin(), A.val.end()});
    Matching   m = maximum_product_matching(matrix, {}, stop);
    if (permute) {
        std::vector<Offset> entry_of_row(order_of(A), -1);
        d.row_of_col.assign(order_of(A), -1);
        for (Index i = 0; i < order_of(A); ++i) {
            const Offset p = find(A, i, m.col_of_row[i]);
            if (p < 0 || A.val[p] == 0) continue;  // a pair of what was left over
            entry_of_row[i] = p;
            d.row_of_col[A.col[p]] = i;
        }
        complete(A, entry_of_row, d, stop);
        d.matched = true;
    }
    if (!scale) return;
    std::ranges::transform(m.row_scale, m.row_scale.begin(), nearest_power_of_two);
    std::ranges::transform(m.col_scale, m.col_scale.begin(), nearest_power_of_two);
    d.row_scale = std::move(m.row_scale);
    d.col_scale = std::move(m.col_scale);
}

}  // namespace

LuDiagonal choose_diagonal(const MergedRows& A, const LuOptions& options, std::vector<std::string>& decisions,
                           const StopToken& stop)
{
    const bool valued = !A.val.empty() || A.col.empty();
    const auto needs_values = [&](bool wanted, const char* what) {
        if (wanted && !valued) throw InvalidOption(fmt::format("{} needs values, but only a pattern was given", what));
    };
    needs_values(options.matching == LuMatching::on, "matching=on");
    needs_values(options.scaling == LuScaling::matching, "scaling=matching");

    LuDiagonal d = structural_diagonal(A, stop);
    bool       permute = options.matching == LuMatching::on;
    if (options.matching == LuMatching::automatic && valued) {
        const Index small = small_pivots(A, d, options.pivot_tol);
        permute = small > 0;  // one of them can be enough to multiply the fill
        decisions.push_back(fmt::format("{} diagonal entries below {} of their columns: {}", small, options.pivot_tol,
                                        permute ? "matched by values" : "no matching by values"));
    }
    const bool scale = options.scaling == LuScaling::matching;
    if (permute || scale) match_by_values(A, d, permute, scale, stop);
    return d;
}

}  // namespace ilux
