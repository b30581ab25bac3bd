#include "ilux/reorder/matching.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/reorder/transversal.hpp"

namespace ilux {
namespace {

// The row variant of [duff_koster_01]: rows are assigned to columns at cost c_ij = log₂ max_j|a_ij| − log₂|a_ij| ≥ 0.
// Duals keep every reduced cost c_ij − u_i − v_j ≥ 0, and = 0 on matched entries, so that r_i = 2^u_i / max_j|a_ij|
// and c_j = 2^v_j are the scalings. Rows are matched one by one along shortest augmenting paths.

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double max_exponent =
    1000;  // scalings within 2^±1000: their reciprocals and A's scaled entries do not overflow

/// 0 instead of the minimum of nothing: what duals of empty rows and columns are.
double or_zero(double minimum) { return minimum == infinite ? 0 : minimum; }

class Matcher {
public:
    Matcher(const CsrView<double>& A, double work_limit, const StopToken& stop)
        : A_(A),
          n_(A.rows()),
          row_ptr_(A.row_ptr()),
          col_(A.col()),
          cost_(A.nnz()),
          log_row_max_(n_),
          u_(n_),
          column_(n_),
          entry_of_row_(n_, -1),
          row_of_col_(n_, -1),
          parent_(n_),
          parent_row_(n_),
          is_final_(n_, 0),
          set_of_row_(n_, 0),
          set_of_col_(n_, 0),
          max_work_(work_limit == 0 ? infinite : work_limit * (static_cast<double>(A.nnz()) + n_)),
          stop_(stop),
          step_(stop)
    {}

    Matching run()
    {
        set_costs();
        set_initial_duals();
        match_tight_entries();
        match_by_swapping_one();
        for (Index i = 0; i < n_ && optimal_; ++i)
            if (entry_of_row_[i] < 0) augment_from(i);
        if (optimal_) make_closed_sets_feasible();
        finish_duals();
        if (!optimal_) match_rest_by_cardinality();
        return result();
    }

private:
    struct Column {              // what every scanned entry looks at, in one place
        double v;                // dual
        double dist = infinite;  // of the current search; ∞ where untouched, −∞ in a closed set
    };

    double reduced_cost(Index i, Offset p) const { return cost_[p] - u_[i] - column_[col_[p]].v; }
    bool   is_tight(Index i, Offset p) const { return reduced_cost(i, p) <= tie_; }
    bool   is_free(Index j) const { return row_of_col_[j] < 0; }

    void match(Index i, Offset p)
    {
        entry_of_row_[i] = p;
        row_of_col_[col_[p]] = i;
    }

    void set_costs()
    {
        double max_cost = 0;
        for (Index i = 0; i < n_; ++i) {
            double largest = 0;
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) largest = std::max(largest, std::abs(A_.val()[p]));
            log_row_max_[i] = largest > 0 ? std::log2(largest) : 0;
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) {
                cost_[p] = A_.val()[p] == 0 ? infinite : log_row_max_[i] - std::log2(std::abs(A_.val()[p]));
                if (cost_[p] < infinite) max_cost = std::max(max_cost, cost_[p]);
            }
        }
        tie_ = 50 * std::numeric_limits<double>::epsilon() * (1 + max_cost);
    }

    void set_initial_duals()
    {
        for (Column& c : column_) c.v = infinite;
        for (Offset p = 0; p < A_.nnz(); ++p) column_[col_[p]].v = std::min(column_[col_[p]].v, cost_[p]);
        for (Column& c : column_) c.v = or_zero(c.v);
        for (Index i = 0; i < n_; ++i) u_[i] = lowest_slack(i);
    }

    /// min_j c_ij − v_j: the largest feasible u_i.
    double lowest_slack(Index i) const
    {
        double lowest = infinite;
        for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) lowest = std::min(lowest, cost_[p] - column_[col_[p]].v);
        return or_zero(lowest);
    }

    void match_tight_entries()
    {
        for (Index i = 0; i < n_; ++i) {
            const auto   row = col_.subspan(row_ptr_[i], row_ptr_[i + 1] - row_ptr_[i]);
            const Offset p = row_ptr_[i] + (std::ranges::lower_bound(row, i) - row.begin());
            if (p < row_ptr_[i + 1] && col_[p] == i && is_tight(i, p)) match(i, p);
        }
        for (Index i = 0; i < n_; ++i)
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1] && entry_of_row_[i] < 0; ++p)
                if (is_free(col_[p]) && is_tight(i, p)) match(i, p);
    }

    /// Augmenting paths of length 2: row i takes a tight column from a row that has another one, free and tight.
    /// Columns never become free again, so each row is looked through once in all.
    void match_by_swapping_one()
    {
        std::vector<Offset> next(row_ptr_.begin(), row_ptr_.end() - 1);
        for (Index i = 0; i < n_; ++i) {
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1] && entry_of_row_[i] < 0; ++p) {
                if (!is_tight(i, p)) continue;
                const Index owner = row_of_col_[col_[p]];
                ILUX_ASSERT(owner >= 0);  // or row i would have taken the column at once
                Offset& q = next[owner];
                while (q < row_ptr_[owner + 1] && !(is_free(col_[q]) && is_tight(owner, q))) ++q;
                if (q == row_ptr_[owner + 1]) continue;
                match(owner, q);
                match(i, p);
            }
        }
    }

    /// Dijkstra's algorithm on reduced costs from row i0 to the nearest free column. Columns tied with the current
    /// minimum go to a stack; the heap may hold a column at older, longer distances too, found final when popped.
    void augment_from(Index i0)
    {
        sink_ = -1;
        sink_dist_ = infinite;
        double lowest = 0;  // last taken from the heap
        scan_row(i0, 0, tie_);
        while (sink_dist_ > lowest + tie_) {
            Index j;
            if (!stack_.empty()) {
                j = stack_.back();
                stack_.pop_back();
            } else if (!heap_.empty() && heap_.front().first < sink_dist_) {
                j = heap_.front().second;
                std::ranges::pop_heap(heap_, std::greater{});
                heap_.pop_back();
                if (!is_final_[j]) lowest = column_[j].dist;
            } else {
                break;
            }
            if (is_final_[j]) continue;
            is_final_[j] = 1;
            final_.push_back(j);
            optimal_ = work_ <= max_work_;
            if (!optimal_) return;
            scan_row(row_of_col_[j], column_[j].dist, lowest + tie_);
        }
        sink_ < 0 ? close_set(i0) : flip_path();
        clear_search();
    }

    /// Shortens the distances of row i's columns, of which those up to `tied` need no heap.
    void scan_row(Index i, double base, double tied)
    {
        work_ += static_cast<double>(row_ptr_[i + 1] - row_ptr_[i]);
        step_();
        for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) {
            const Index  j = col_[p];
            Column&      c = column_[j];
            const double dist = base + std::max(0.0, cost_[p] - u_[i] - c.v);
            if (!(dist < sink_dist_) || !(dist < c.dist) || is_final_[j]) continue;
            if (c.dist == infinite) touched_.push_back(j);
            c.dist = dist;
            parent_[j] = p;
            parent_row_[j] = i;
            if (is_free(j)) {
                sink_ = j;
                sink_dist_ = dist;
            } else if (dist <= tied) {
                stack_.push_back(j);
            } else {
                heap_.emplace_back(dist, j);
                std::ranges::push_heap(heap_, std::greater{});
            }
        }
    }

    /// Augments along the shortest path, and moves the duals so that its entries are tight and no entry is infeasible.
    void flip_path()
    {
        for (Index j = sink_; j >= 0;) {
            const Index  i = parent_row_[j];
            const Offset left = entry_of_row_[i];
            match(i, parent_[j]);
            j = left < 0 ? -1 : col_[left];
        }
        for (const Index j : final_) column_[j].v += std::min(0.0, column_[j].dist - sink_dist_);
        for (const Index j : final_) make_tight(row_of_col_[j]);
        make_tight(row_of_col_[sink_]);
    }

    void make_tight(Index i) { u_[i] = cost_[entry_of_row_[i]] - column_[col_[entry_of_row_[i]]].v; }

    /// Row i0 reached only matched columns: k columns that k + 1 rows compete for. No augmenting path will ever use
    /// them again, so later searches leave them out, and with them the feasibility of their entries.
    void close_set(Index i0)
    {
        const Index set = static_cast<Index>(closed_start_.size()) + 1;
        closed_start_.push_back(closed_rows_.size());
        closed_rows_.push_back(i0);
        set_of_row_[i0] = set;
        for (const Index j : final_) {
            closed_rows_.push_back(row_of_col_[j]);
            set_of_row_[row_of_col_[j]] = set;
            set_of_col_[j] = set;
            column_[j].dist = -infinite;
        }
    }

    void clear_search()
    {
        for (const Index j : touched_) {
            if (set_of_col_[j] == 0) column_[j].dist = infinite;
            is_final_[j] = 0;
        }
        touched_.clear();
        final_.clear();
        stack_.clear();
        heap_.clear();
    }

    /// Rows of a closed set have entries in columns of that set and of earlier ones only. Raising its rows and lowering
    /// its columns by one amount keeps its own reduced costs and mends those of all other rows in its columns.
    void make_closed_sets_feasible()
    {
        const Index         sets = static_cast<Index>(closed_start_.size());
        std::vector<double> shift(sets + 1, 0);
        const auto          raise_row = [&](Index i) {
            const Index set = set_of_row_[i];
            u_[i] += shift[set];
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p)
                if (const Index other = set_of_col_[col_[p]]; other != set && other > 0)
                    shift[other] = std::max(shift[other], -reduced_cost(i, p));
        };
        if (sets == 0) return;
        for (Index i = 0; i < n_; ++i)
            if (set_of_row_[i] == 0) raise_row(i);
        for (Index set = sets; set > 0; --set) {
            const std::size_t end = set == sets ? closed_rows_.size() : closed_start_[set];
            for (std::size_t s = closed_start_[set - 1]; s < end; ++s) raise_row(closed_rows_[s]);
        }
        for (Index j = 0; j < n_; ++j) column_[j].v -= shift[set_of_col_[j]];
    }

    /// Tight on matched entries, the largest feasible values in other rows. Columns without a row are tight in the row
    /// that gave them their dual: nothing lowers a row's.
    void finish_duals()
    {
        for (Index i = 0; i < n_; ++i)
            if (optimal_ && entry_of_row_[i] >= 0) make_tight(i);
            else u_[i] = lowest_slack(i);
    }

    /// The work limit was hit: the feasible duals still bound the scaled entries by 1, and large scaled entries are
    /// preferred by admitting ever smaller ones, but the product is no longer maximal.
    void match_rest_by_cardinality()
    {
        for (Index i = 0; i < n_; ++i)
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) dual_slack_.push_back(reduced_cost(i, p));
        for (const double limit : {tie_, 1.0, 4.0, 16.0, 64.0, std::numeric_limits<double>::max()})
            extend_transversal(A_, dual_slack_, limit, entry_of_row_, row_of_col_, stop_);
    }

    Matching result();
    void     keep_in_range(std::vector<double>& r, std::vector<double>& c) const;
    void     centre_components(std::vector<double>& r, std::vector<double>& c) const;

    const CsrView<double>&  A_;
    Index                   n_;
    std::span<const Offset> row_ptr_;
    std::span<const Index>  col_;
    std::vector<double>     cost_;          // nnz; ∞ for explicit zeros
    std::vector<double>     log_row_max_;   // n
    std::vector<double>     u_;             // n; duals of rows
    std::vector<Column>     column_;        // n
    std::vector<Offset>     entry_of_row_;  // n; position of the matched entry, −1: free
    std::vector<Index>      row_of_col_;    // n; −1: free
    double                  tie_ = 0;       // distances closer than this count as equal
    bool                    optimal_ = true;

    std::vector<Offset>                   parent_;      // n; entry over which a column was reached
    std::vector<Index>                    parent_row_;  // n; row of that entry
    std::vector<char>                     is_final_;    // n; distance is final
    std::vector<Index>                    touched_, final_, stack_;
    std::vector<std::pair<double, Index>> heap_;  // distance, column
    Index                                 sink_ = -1;
    double                                sink_dist_ = infinite;

    std::vector<Index>       set_of_row_, set_of_col_;  // n; closed set, counted from 1; 0: none
    std::vector<Index>       closed_rows_;              // set after set
    std::vector<std::size_t> closed_start_;             // where each set begins in closed_rows_
    std::vector<double>      dual_slack_;               // nnz, once the work limit was hit
    double                   work_ = 0, max_work_;      // entries scanned
    const StopToken&         stop_;
    Steps                    step_;  // a row scanned each
};

/// Each connected part of the matrix may move a factor 2^t from its columns to its rows: choose the t that balances
/// the extreme exponents.
void Matcher::centre_components(std::vector<double>& r, std::vector<double>& c) const
{
    const Offset        cols = n_;
    std::vector<Offset> root(2 * cols);  // disjoint sets of rows 0 … n−1 and columns n … 2n−1
    std::iota(root.begin(), root.end(), Offset{0});
    const auto find = [&](Offset x) {
        for (; root[x] != x; x = root[x]) root[x] = root[root[x]];
        return x;
    };
    for (Index i = 0; i < n_; ++i)
        for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p)
            if (cost_[p] < infinite) root[find(cols + col_[p])] = find(i);
    std::vector<double> low(root.size(), infinite), high(root.size(), -infinite);
    const auto          widen = [&](Offset x, double exponent) {
        low[find(x)] = std::min(low[find(x)], exponent);
        high[find(x)] = std::max(high[find(x)], exponent);
    };
    const auto middle = [&](Offset x) { return (low[find(x)] + high[find(x)]) / 2; };
    for (Index i = 0; i < n_; ++i) {
        widen(i, r[i]);
        widen(cols + i, -c[i]);
    }
    for (Index i = 0; i < n_; ++i) {
        r[i] -= middle(i);
        c[i] += middle(cols + i);
    }
}

/// Brings exponents of scalings into ±max_exponent and keeps r_i + log₂|a_ij| + c_j ≤ 0; matched entries are 1 no
/// more where that is impossible.
void Matcher::keep_in_range(std::vector<double>& r, std::vector<double>& c) const
{
    const auto inside = [](double exponent) { return std::abs(exponent) <= max_exponent; };
    const auto all_inside = [&] { return std::ranges::all_of(r, inside) && std::ranges::all_of(c, inside); };
    const auto clamp = [](double exponent) { return std::clamp(exponent, -max_exponent, max_exponent); };
    if (!all_inside()) centre_components(r, c);
    if (all_inside()) return;
    std::ranges::transform(r, r.begin(), clamp);
    std::ranges::transform(c, c.begin(), clamp);
    std::vector<double> excess(n_, 0);
    const auto          size = [&](Index i, Offset p) { return r[i] + log_row_max_[i] - cost_[p] + c[col_[p]]; };
    for (Index i = 0; i < n_; ++i)
        for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) excess[col_[p]] = std::max(excess[col_[p]], size(i, p));
    for (Index j = 0; j < n_; ++j) c[j] = std::max(c[j] - excess[j], -max_exponent);
    for (Index i = 0; i < n_; ++i) {  // entries still too large have c_j = 2^-1000: r_i ≥ 2^-24 is enough for them
        double largest = 0;
        for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) largest = std::max(largest, size(i, p));
        r[i] -= largest;
    }
}

Matching Matcher::result()
{
    Matching m;
    m.col_of_row.resize(n_);
    m.row_scale = u_;
    for (const Column& c : column_) m.col_scale.push_back(c.v);
    m.optimal = optimal_;
    for (Index i = 0; i < n_; ++i) m.row_scale[i] -= log_row_max_[i];
    keep_in_range(m.row_scale, m.col_scale);
    for (Index j = 0; j < n_; ++j)
        if (is_free(j)) m.unmatched_cols.push_back(j);
    m.rank = n_ - static_cast<Index>(m.unmatched_cols.size());
    for (Index i = 0; i < n_; ++i) {
        const Offset p = entry_of_row_[i];
        if (p < 0) {
            m.col_of_row[i] = m.unmatched_cols[m.unmatched_rows.size()];
            m.unmatched_rows.push_back(i);
            continue;
        }
        m.col_of_row[i] = col_[p];
        const double exponent = m.row_scale[i] + log_row_max_[i] - cost_[p] + m.col_scale[col_[p]];
        m.unit_diagonal = m.unit_diagonal && std::abs(exponent) < 1e-6;
    }
    const auto power = [](double exponent) { return std::exp2(exponent); };
    std::ranges::transform(m.row_scale, m.row_scale.begin(), power);
    std::ranges::transform(m.col_scale, m.col_scale.begin(), power);
    return m;
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
    return Matcher(A, options.work_limit, stop).run();
}

}  // namespace ilux
