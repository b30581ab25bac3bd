#include "ilux/direct/factor/gilbert_peierls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/factor/ascending_set.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/factor/factor_room.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/row_scaling.hpp"

namespace ilux {
namespace {

constexpr Offset between_questions = 1 << 13;  // entries of L + U, each worth some multiply-adds

template <class S>
class Elimination {
public:
    Elimination(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options, std::span<const S> values);
    LuFactors<S> run(const StopToken& stop);

private:
    /// L(:,i) lies at begin … begin + count − 1; the search looks at the first `searched` of these.
    struct Lower {
        Offset begin = 0;
        Index  count = 0, searched = 0;
    };

    bool   stopped(Index k, const StopToken& stop);
    bool   factor_column(Index k, Index first);
    double column_scale(Index k) const { return P_.col_scale.empty() ? 1.0 : P_.col_scale[P_.col_perm[k]]; }
    S      take_value(Offset from, Offset to, Index row, double column_scale);
    bool   load_above(Index k, Offset end);
    double load_column(Index k, Offset begin);
    template <bool moved>
    void          sweep(Index k);
    void          sweep_portable(Index k) { moved_ ? sweep<true>(k) : sweep<false>(k); }
    ILUX_FMA void sweep_fma(Index k) { moved_ ? sweep<true>(k) : sweep<false>(k); }
    void          make_room(Index k);
    bool          choose_pivot(Index k, double largest_in_B);
    double        store_column(Index k, std::size_t pivot);
    void          prune(Index k);
    Index         pivotal_rows_first(Index k, const Lower& L);
    void          renumber(Index first, Index last);
    void          sort_rows(std::span<Index> row, std::span<S> val);
    bool          give_up(Index k, bool not_finite)
    {
        F_.monitor.bad_column = k;
        F_.monitor.not_finite = not_finite;
        return false;
    }

    LuFactors<S> finish();

    /// What the sweep for column k met.
    struct Column {
        std::size_t upper = 0, reached = 0;  ///< entries of U above the diagonal; and with the candidates for its pivot
        std::size_t pivot = 0;               ///< the first of the largest candidates
        double      above = 0, largest = 0;  ///< largest sizes above the diagonal and among the candidates
        double      check = 0;               ///< 0 when all is finite
    };

    std::shared_ptr<const LuSymbolic> symbolic_;
    const LuSymbolic&                 S_ = *symbolic_;
    LuOptions                         options_;
    std::span<const S>                values_;
    std::shared_ptr<LuPattern>        pattern_ = std::make_shared<LuPattern>();
    LuPattern&                        P_ = *pattern_;
    LuFactors<S>                      F_;

    // A row is known by its place in the analysed B; its number is where pivoting has put it, final once it is pivotal.
    // They differ only in blocks where some pivot was off the diagonal.
    std::vector<Index>  number_, at_;    // n; at_[number_[row]] = row; empty until the first such pivot
    bool                moved_ = false;  // some row of this block has another number
    std::vector<double> row_scale_;      // n, by row
    std::vector<S>      x_;              // n, by row; 0 between columns
    AscendingSet        set_;            // of numbers; empty between columns
    // Numbers that B(:,k) reaches, ascending: column_.upper pivots, then the candidates for k; and L⁻¹ B(:,k) there.
    std::unique_ptr<Index[]> reach_;  // n
    std::unique_ptr<S[]>     value_;  // n
    Column                   column_;
    std::vector<Lower>       lower_;              // n
    std::vector<char>        pruned_;             // n
    Offset                   next_question_ = 0;  // number of entries at which to ask whether to stop
    void (Elimination<S>::*sweep_)(Index) = &Elimination<S>::sweep_portable;
};

template <class S>
Elimination<S>::Elimination(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options,
                            std::span<const S> values)
    : symbolic_(std::move(symbolic)),
      options_(options),
      values_(values),
      row_scale_(S_.n, 1.0),
      x_(S_.n),
      set_(S_.n),
      reach_(std::make_unique_for_overwrite<Index[]>(S_.n)),
      value_(std::make_unique_for_overwrite<S[]>(S_.n)),
      lower_(S_.n),
      pruned_(S_.n)
{
    if (processor_has_fma()) sweep_ = &Elimination<S>::sweep_fma;
    require(std::ssize(values) == S_.input_nnz, [&] {
        return fmt::format("{} values for a matrix analysed with {} entries", values.size(), S_.input_nnz);
    });
    const MatrixView<S> A{S_.n, S_.input_ptr, S_.input_idx, values, S_.layout};
    if (!all_finite<S>(values)) require_finite_values(A);
    P_.n = S_.n;
    P_.col_perm = S_.col_perm;
    P_.row_scale = S_.row_scale;
    P_.col_scale = S_.col_scale;
    P_.block_ptr = S_.block_ptr;
    P_.in_ptr = S_.col_ptr;
    if (options_.scaling == LuScaling::rows) P_.row_scale = power_of_two_row_scales(A, P_.col_scale);
    if (!P_.row_scale.empty())
        for (Index i = 0; i < S_.n; ++i) row_scale_[i] = P_.row_scale[S_.row_perm[i]];
}

template <class S>
LuFactors<S> Elimination<S>::run(const StopToken& stop)
{
    const auto n = static_cast<std::size_t>(S_.n);
    P_.col_ptr.assign(n + 1, 0);
    P_.diag.resize(n);
    P_.f_col_ptr.assign(n + 1, 0);
    P_.in_split.resize(n);
    P_.in_source.resize(S_.row.size());
    P_.in_row.resize(S_.row.size());
    P_.in_scale.resize(S_.row.size());

    for (Index b = 0; b < P_.blocks(); ++b) {
        const Index first = P_.block_ptr[b], last = P_.block_ptr[b + 1];
        moved_ = false;
        for (Index k = first; k < last; ++k)
            if (stopped(k, stop) || !factor_column(k, first)) return finish();
        if (moved_) renumber(first, last);
    }
    return finish();
}

template <class S>
bool Elimination<S>::stopped(Index k, const StopToken& stop)
{
    if (P_.col_ptr[k] < next_question_) return false;
    next_question_ = P_.col_ptr[k] + between_questions;
    F_.monitor.stopped = stop.reason();
    return F_.monitor.stopped != StopReason::none && !give_up(k, false);
}

template <class S>
bool Elimination<S>::factor_column(Index k, Index first)
{
    const Offset begin = S_.col_ptr[k], end = S_.col_ptr[k + 1];
    Offset       above = begin;
    while (above < end && S_.row[above] < first) ++above;
    P_.in_split[k] = begin + (end - above);
    P_.f_col_ptr[k + 1] = P_.f_col_ptr[k];
    if (above > begin && !load_above(k, above)) return give_up(k, true);
    const double largest_in_B = load_column(k, above);
    (this->*sweep_)(k);
    make_room(k);
    if (!choose_pivot(k, largest_in_B)) return false;
    prune(k);
    return true;
}

/// Maps entry `from` of the analysis, in the given row of B, to entry `to` of the input. @return its scaled value
template <class S>
S Elimination<S>::take_value(Offset from, Offset to, Index row, double column_scale)
{
    constexpr Offset ahead = 64;
    __builtin_prefetch(&values_[S_.source[std::min(from + ahead, S_.input_nnz - 1)]]);
    const Offset source = P_.in_source[to] = S_.source[from];
    P_.in_row[to] = row;
    return values_[source] * (P_.in_scale[to] = row_scale_[S_.row[from]] * column_scale);
}

/// F(:,k): the entries before `end`, in rows of finished blocks. @return whether it is finite
template <class S>
bool Elimination<S>::load_above(Index k, Offset end)
{
    const double c = column_scale(k);
    const auto   start = P_.f_row.size();
    bool         sorted = true, finite = true;
    for (Offset p = S_.col_ptr[k], to = P_.in_split[k]; p < end; ++p, ++to) {
        const Index row = number_.empty() ? S_.row[p] : number_[S_.row[p]];
        const bool  first = P_.f_row.size() == start;
        if (first || P_.f_row.back() != row) {
            sorted &= first || P_.f_row.back() < row;
            P_.f_row.push_back(row);
            F_.f_val.push_back(0);
        }
        F_.f_val.back() += take_value(p, to, row, c);
        finite &= is_finite(F_.f_val.back());
    }
    P_.f_col_ptr[k + 1] = static_cast<Offset>(P_.f_row.size());
    if (!sorted) sort_rows(std::span(P_.f_row).subspan(start), std::span(F_.f_val).subspan(start));
    return finite;
}

/// x ← B(:,k) within the block, from the analysis's entry `begin` on; its rows enter the set. @return max |x|
template <class S>
double Elimination<S>::load_column(Index k, Offset begin)
{
    const double c = column_scale(k);
    const Offset end = S_.col_ptr[k + 1];
    double       largest = 0;
    bool         distinct = true;
    for (Offset p = begin, to = S_.col_ptr[k]; p < end; ++p, ++to) {
        const Index row = S_.row[p];
        const S     x = x_[row] += take_value(p, to, row, c);
        largest = std::max(largest, modulus(x));
        distinct &= p == begin || row != S_.row[p - 1];
        set_.insert(moved_ ? number_[row] : row);
    }
    if (distinct) return largest;
    largest = 0;  // a part of a sum counts for nothing
    for (Offset p = begin; p < end; ++p) largest = std::max(largest, modulus(x_[S_.row[p]]));
    return largest;
}

/// x ← L⁻¹ B(:,k) over the reach of its rows. Pivots are numbered in the order of elimination, so ascending numbers are a
/// topological order, and what L(:,i) adds to the reach lies beyond i: one pass searches, updates and sorts.
template <class S>
template <bool moved>
inline __attribute__((always_inline)) void Elimination<S>::sweep(Index k)
{
    const Index* const row = P_.row.data();
    const S* const     l = F_.val.data();
    S* const __restrict x = x_.data();
    Column column;
    set_.drain([&](Index i) __attribute__((always_inline)) {
        const S      x_i = std::exchange(x[moved ? at_[i] : i], S(0));
        const double size = modulus(x_i);
        const auto   e = column.reached++;
        reach_[e] = i;
        value_[e] = x_i;
        column.check += 0 * size;
        if (i >= k) {
            if (!(size > column.largest)) return;
            column.largest = size;
            column.pivot = e;
            return;
        }
        ++column.upper;
        column.above = std::max(column.above, size);
        const Lower& L = lower_[i];
        Offset       p = L.begin;
        for (; p < L.begin + L.searched; ++p) {
            set_.insert(moved ? number_[row[p]] : row[p]);
            x[row[p]] = minus_product(x[row[p]], l[p], x_i);
        }
        const Offset     end = L.begin + L.count;
        constexpr Offset batch = 4;  // the rows differ: loads ahead of stores
        for (; p + batch <= end; p += batch) {
            S y[batch];
            for (Offset j = 0; j < batch; ++j) y[j] = minus_product(x[row[p + j]], l[p + j], x_i);
            for (Offset j = 0; j < batch; ++j) x[row[p + j]] = y[j];
        }
        for (; p < end; ++p) x[row[p]] = minus_product(x[row[p]], l[p], x_i);
    });
    column_ = column;
    P_.diag[k] = P_.col_ptr[k] + static_cast<Offset>(column.upper);
    P_.col_ptr[k + 1] = P_.col_ptr[k] + static_cast<Offset>(column.reached);
}

template <class S>
void Elimination<S>::make_room(Index k)
{
    const auto needed = static_cast<std::size_t>(P_.col_ptr[k + 1]);
    if (needed > P_.row.capacity()) detail::grow(P_, F_.val, S_, needed, k);
    P_.row.insert(P_.row.end(), reach_.get(), reach_.get() + column_.reached);
    F_.val.insert(F_.val.end(), value_.get(), value_.get() + column_.reached);
}

template <class S>
bool Elimination<S>::choose_pivot(Index k, double largest_in_B)
{
    const auto& [upper, reached, largest_at, above, largest, check] = column_;
    if (largest == 0 || check != 0) return give_up(k, check != 0);

    std::size_t  pivot = largest_at;
    const double on_diagonal = reach_[upper] == k ? modulus(value_[upper]) : 0;
    if (on_diagonal > 0 && on_diagonal >= options_.pivot_tol * largest) pivot = upper;
    const double size = modulus(value_[pivot]);
    if (!std::isfinite(largest / size)) return give_up(k, true);
    const double multiplier = store_column(k, pivot);

    auto&        monitor = F_.monitor;
    const double rgrowth = largest_in_B / std::max(above, size);
    monitor.min_pivot = std::min(monitor.min_pivot, size);
    monitor.max_pivot = std::max(monitor.max_pivot, size);
    if (rgrowth < monitor.rgrowth) {
        monitor.rgrowth = rgrowth;
        monitor.growth_column = k;
    }
    if (multiplier > monitor.max_multiplier) {
        monitor.max_multiplier = multiplier;
        monitor.multiplier_column = k;
    }
    return true;
}

/// Gives number k to the row of reach_[pivot], whose place in the column goes to the row displaced, if that is in it.
/// L(:,k) ← x / u_kk. @return max |L(:,k)|
template <class S>
double Elimination<S>::store_column(Index k, std::size_t pivot)
{
    Index* const row = P_.row.data() + P_.col_ptr[k];
    S* const     val = F_.val.data() + P_.col_ptr[k];
    const Index  number = reach_[pivot];
    const auto   upper = column_.upper, reached = column_.reached;
    if (number != k) {
        if (number_.empty()) {
            number_.resize(S_.n);
            std::iota(number_.begin(), number_.end(), 0);
            at_ = number_;
        }
        moved_ = true;
        std::swap(at_[k], at_[number]);
        std::swap(number_[at_[k]], number_[at_[number]]);
        if (row[upper] == k) {
            std::swap(val[upper], val[pivot]);
        } else {
            std::rotate(row + upper, row + pivot, row + pivot + 1);
            std::rotate(val + upper, val + pivot, val + pivot + 1);
            row[upper] = k;
        }
    }
    const DividedBy<S> by_pivot(val[upper]);
    double             largest = 0;
    for (std::size_t e = upper + 1; e < reached; ++e) {
        val[e] = by_pivot(val[e]);
        largest = std::max(largest, modulus(val[e]));
    }
    if (moved_)
        for (std::size_t e = upper + 1; e < reached; ++e) row[e] = at_[row[e]];
    const auto count = static_cast<Index>(reached - upper - 1);
    lower_[k] = {.begin = P_.diag[k] + 1, .count = count, .searched = count};
    return largest;
}

/// A column i whose L(:,i) holds the pivot row reaches through column k whatever is still no pivot, so only its pivotal
/// rows need searching from now on [eisenstat_liu_92].
template <class S>
void Elimination<S>::prune(Index k)
{
    const Index  pivot_row = moved_ ? at_[k] : k;
    Index* const row = P_.row.data();
    for (std::size_t e = 0; e < column_.upper; ++e) {
        const Index i = reach_[e];
        if (pruned_[i]) continue;
        Lower&       L = lower_[i];
        Index* const begin = row + L.begin;
        Index* const end = begin + L.count;
        Index* const at = moved_ ? std::find(begin, end, pivot_row) : std::lower_bound(begin, end, pivot_row);
        if (at == end || *at != pivot_row) continue;
        L.searched = moved_ ? pivotal_rows_first(k, L) : static_cast<Index>(at - begin) + 1;
        pruned_[i] = true;
    }
}

/// @return how many of them there are
template <class S>
Index Elimination<S>::pivotal_rows_first(Index k, const Lower& L)
{
    Index* const row = P_.row.data() + L.begin;
    S* const     val = F_.val.data() + L.begin;
    const auto   is_pivotal = [&](Index i) { return number_[i] <= k; };
    for (Index head = 0, tail = L.count;;) {
        while (head < tail && is_pivotal(row[head])) ++head;
        while (head < tail && !is_pivotal(row[tail - 1])) --tail;
        if (head == tail) return head;
        std::swap(row[head], row[tail - 1]);
        std::swap(val[head], val[tail - 1]);
    }
}

/// Rows of L and of the input get their final numbers.
template <class S>
void Elimination<S>::renumber(Index first, Index last)
{
    for (Index k = first; k < last; ++k) {
        const Offset begin = P_.diag[k] + 1, count = P_.col_ptr[k + 1] - begin;
        const auto   row = std::span(P_.row).subspan(begin, count);
        for (Index& i : row) i = number_[i];
        if (!std::is_sorted(row.begin(), row.end())) sort_rows(row, std::span(F_.val).subspan(begin, count));
        for (Offset e = P_.in_ptr[k]; e < P_.in_split[k]; ++e) P_.in_row[e] = number_[P_.in_row[e]];
    }
}

template <class S>
void Elimination<S>::sort_rows(std::span<Index> row, std::span<S> val)
{
    for (std::size_t p = 0; p < row.size(); ++p) {
        x_[row[p]] = val[p];
        set_.insert(row[p]);
    }
    std::size_t to = 0;
    set_.drain([&](Index i) {
        row[to] = i;
        val[to++] = std::exchange(x_[i], S(0));
    });
}

/// Hands over the factors, or of a failure only permutations, scales and blocks.
template <class S>
LuFactors<S> Elimination<S>::finish()
{
    P_.row_perm.resize(S_.n);
    for (Index k = 0; k < S_.n; ++k) P_.row_perm[k] = S_.row_perm[at_.empty() ? k : at_[k]];
    if (F_.monitor.bad_column >= 0) {
        F_.val = {}, F_.f_val = {};
        P_.forget_entries();
    }
    F_.symbolic = std::move(symbolic_);
    F_.pattern = std::move(pattern_);
    return std::move(F_);
}

}  // namespace

template <class S>
LuFactors<S> gilbert_peierls(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options,
                             std::span<const NotDeduced<S>> values, const StopToken& stop)
{
    const Index  n = symbolic->n;
    const Offset entries = symbolic->input_nnz;
    try {
        return Elimination<S>(std::move(symbolic), options, values).run(stop);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory to factor a matrix with n = {}, nnz = {}", n, entries));
    }
}

#define ILUX_INSTANTIATE(S)                                                                                           \
    template LuFactors<S> gilbert_peierls<S>(std::shared_ptr<const LuSymbolic>, const LuOptions&, std::span<const S>, \
                                             const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
