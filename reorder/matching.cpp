#include "ilux/reorder/matching.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/reorder/assignment.hpp"
#include "ilux/reorder/augmenting_path.hpp"
#include "ilux/reorder/scale_exponents.hpp"
#include "ilux/reorder/transversal.hpp"

namespace ilux {
namespace {

// The row variant of [duff_koster_01]: rows are matched along shortest augmenting paths. r_i = 2^u_i / max_j|a_ij| and
// c_j = 2^v_j are the scalings.

/// Tight entries are matched greedily, the diagonal first.
void match_tight_entries(Assignment& a)
{
    for_pieces(a.rows(), [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const auto   row = a.col.subspan(a.row_ptr[i], a.row_ptr[i + 1] - a.row_ptr[i]);
            const Offset p = a.row_ptr[i] + (std::ranges::lower_bound(row, i) - row.begin());
            if (p < a.row_ptr[i + 1] && a.col[p] == i && a.is_tight(i, p)) a.match(i, p);
        }
    });
    for (Index i = 0; i < a.rows(); ++i)
        for (Offset p = a.row_ptr[i]; p < a.row_ptr[i + 1] && a.entry_of_row[i] < 0; ++p)
            if (a.is_free(a.col[p]) && a.is_tight(i, p)) a.match(i, p);
}

/// Augmenting paths of length 2: row i takes a tight column from a row that has another one, free and tight.
/// Columns never become free again, so each row is looked through once in all.
void match_by_swapping_one(Assignment& a)
{
    std::vector<Offset> next(a.row_ptr.begin(), a.row_ptr.end() - 1);
    for (Index i = 0; i < a.rows(); ++i) {
        for (Offset p = a.row_ptr[i]; p < a.row_ptr[i + 1] && a.entry_of_row[i] < 0; ++p) {
            if (!a.is_tight(i, p)) continue;
            const Index owner = a.column[a.col[p]].row;
            ILUX_ASSERT(owner >= 0);  // or row i would have taken the column at once
            Offset& q = next[owner];
            while (q < a.row_ptr[owner + 1] && !(a.is_free(a.col[q]) && a.is_tight(owner, q))) ++q;
            if (q == a.row_ptr[owner + 1]) continue;
            a.match(owner, q);
            a.match(i, p);
        }
    }
}

/// Rows that compete for fewer columns. No augmenting path will ever use these again, so later searches leave them out,
/// and with them the feasibility of their entries.
class ClosedSets {
public:
    explicit ClosedSets(Assignment& a) : a_(a) {}

    /// @param path  of `row`: it found no free column
    void add(Index row, const AugmentingPath& path)
    {
        if (start_.empty()) {
            of_row_.assign(a_.rows(), 0);
            of_column_.assign(a_.rows(), 0);
        }
        const auto set = static_cast<Index>(start_.size()) + 1;
        start_.push_back(rows_.size());
        const auto take = [&](Index i) {
            rows_.push_back(i);
            of_row_[i] = set;
        };
        take(row);
        for (const auto& settled : path.settled) {
            take(a_.column[settled.column].row);
            of_column_[settled.column] = set;
            a_.column[settled.column].owner = Assignment::closed;
        }
    }

    /// Rows of a closed set have entries in columns of that set and of earlier ones only. Raising its rows and lowering
    /// its columns by one amount keeps its own reduced costs and mends those of all other rows in its columns.
    void make_feasible()
    {
        if (start_.empty()) return;
        const auto          sets = static_cast<Index>(start_.size());
        std::vector<double> shift(sets + 1, 0);
        for (Index i = 0; i < a_.rows(); ++i)
            if (of_row_[i] == 0) raise(i, shift);
        for (Index set = sets; set > 0; --set) {
            const std::size_t end = set == sets ? rows_.size() : start_[set];
            for (std::size_t s = start_[set - 1]; s < end; ++s) raise(rows_[s], shift);
        }
        for (Index j = 0; j < a_.rows(); ++j) a_.column[j].v -= shift[of_column_[j]];
    }

private:
    void raise(Index i, std::vector<double>& shift)
    {
        const Index set = of_row_[i];
        a_.u[i] += shift[set];
        for (Offset p = a_.row_ptr[i]; p < a_.row_ptr[i + 1]; ++p)
            if (const Index other = of_column_[a_.col[p]]; other != set && other > 0)
                shift[other] = std::max(shift[other], -a_.reduced_cost(i, p));
    }

    Assignment&              a_;
    std::vector<Index>       of_row_, of_column_;  // n; counted from 1; 0: none
    std::vector<Index>       rows_;                // set after set
    std::vector<std::size_t> start_;               // where each set begins in rows_
};

/// Augments from every row that is left. @param most  entries to scan in all
/// @return false where that did not suffice
bool match_the_rest(Assignment& a, double most, const StopToken& stop)
{
    std::vector<Index> free;
    for (Index i = 0; i < a.rows(); ++i)
        if (a.entry_of_row[i] < 0) free.push_back(i);
    double     scanned = 0;
    ClosedSets closed(a);
    PathSearch search(a, stop);
    for (const Index i : augment_in_regions(a, std::move(free), scanned, most, stop)) {
        const auto path = search.from(i, most - scanned - search.scanned());
        if (path.end == PathEnd::too_long) return false;
        path.end == PathEnd::closed ? closed.add(i, path) : augment(a, path);
    }
    closed.make_feasible();
    return true;
}

/// Tight on matched entries, the largest feasible values in other rows. Columns without a row are tight in the row
/// that gave them their dual: nothing lowers a row's.
void finish_duals(Assignment& a, bool optimal)
{
    for_pieces(a.rows(), [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            if (optimal && a.entry_of_row[i] >= 0) a.make_tight(i);
            else a.u[i] = a.lowest_slack(i);
    });
}

/// The work limit was hit: the feasible duals still bound the scaled entries by 1, and large scaled entries are
/// preferred by admitting ever smaller ones, but the product is no longer maximal.
void match_rest_by_cardinality(const CsrView<double>& A, Assignment& a, const StopToken& stop)
{
    std::vector<double> slack;
    std::vector<Index>  row_of_col;
    for (Index i = 0; i < a.rows(); ++i)
        for (Offset p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) slack.push_back(a.reduced_cost(i, p));
    for (const auto& c : a.column) row_of_col.push_back(c.row);
    for (const double limit : {a.tie, 1.0, 4.0, 16.0, 64.0, std::numeric_limits<double>::max()})
        extend_transversal(A, slack, limit, a.entry_of_row, row_of_col, stop);
    for (Index j = 0; j < a.rows(); ++j) a.column[j].row = row_of_col[j];
}

/// The permutation: rows and columns without an entry are paired in order.
void pair_up(const Assignment& a, Matching& m)
{
    for (Index j = 0; j < a.rows(); ++j)
        if (a.is_free(j)) m.unmatched_cols.push_back(j);
    m.rank = a.rows() - static_cast<Index>(m.unmatched_cols.size());
    m.col_of_row.resize(a.rows());
    for (Index i = 0; i < a.rows(); ++i) {
        const Offset p = a.entry_of_row[i];
        m.col_of_row[i] = p >= 0 ? a.col[p] : m.unmatched_cols[m.unmatched_rows.size()];
        if (p < 0) m.unmatched_rows.push_back(i);
    }
}

/// The scalings of the duals, within what a double can hold.
void set_scalings(const Assignment& a, Matching& m)
{
    const auto exponents = scale_exponents(a);
    m.row_scale.resize(a.rows());
    m.col_scale.resize(a.rows());
    std::atomic<bool> all_ones = true;
    for_pieces(a.rows(), [&](Index, Index begin, Index end) {
        bool ones = true;
        for (Index i = begin; i < end; ++i) {
            if (const Offset p = a.entry_of_row[i]; p >= 0) ones = ones && std::abs(exponents.of_entry(a, i, p)) < 1e-6;
            m.row_scale[i] = std::exp2(exponents.row[i]);
            m.col_scale[i] = std::exp2(exponents.column[i]);
        }
        if (!ones) all_ones = false;
    });
    m.unit_diagonal = all_ones;
}

}  // namespace

Matching maximum_product_matching(const CsrView<double>& A, const MatchingOptions& options, const StopToken& stop)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a {} x {} matrix has no transversal matching: it must be square", A.rows(), A.cols());
    });
    if (!(options.work_limit >= 0))
        throw InvalidOption(
            fmt::format("matching work_limit is {}; expected 0 (no limit) or more", options.work_limit));
    const double entries = static_cast<double>(A.nnz()) + A.rows();
    const double most =
        options.work_limit == 0 ? std::numeric_limits<double>::infinity() : options.work_limit * entries;
    Assignment a(A);
    match_tight_entries(a);
    match_by_swapping_one(a);
    Matching m;
    m.optimal = match_the_rest(a, most, stop);
    finish_duals(a, m.optimal);
    if (!m.optimal) match_rest_by_cardinality(A, a, stop);
    pair_up(a, m);
    set_scalings(a, m);
    return m;
}

}  // namespace ilux
