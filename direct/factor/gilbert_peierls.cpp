#include "ilux/direct/factor/gilbert_peierls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/factor/column_sweep.hpp"
#include "ilux/direct/factor/diagonal_columns.hpp"
#include "ilux/direct/factor/factor_room.hpp"
#include "ilux/direct/factor/input_columns.hpp"

namespace ilux {
namespace {

using namespace detail;

template <class S>
class Elimination {
public:
    Elimination(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options, std::span<const S> values,
                const PivotTuning& tuning);
    LuFactors<S> run(const Cpu& be, const StopToken& stop);

private:
    /// L(:,i) lies at begin … begin + count − 1; the search looks at the first `searched` of these.
    struct Lower {
        Offset begin = 0;
        Index  count = 0, searched = 0;
    };

    bool   run_team(const Cpu& be, const StopToken& stop);
    void   run_alone(const StopToken& stop);
    bool   stopped(Index k, const StopToken& stop);
    bool   factor_column(Index k, Index first);
    bool   load_above(Index k, Offset end);
    double load_column(Index k, Offset begin);
    template <bool moved>
    void          sweep(Index k);
    void          sweep_portable(Index k) { moved_ ? sweep<true>(k) : sweep<false>(k); }
    ILUX_FMA void sweep_fma(Index k) { moved_ ? sweep<true>(k) : sweep<false>(k); }
    void          make_room(Index k);
    bool          choose_pivot(Index k);
    double        store_column(Index k);
    void          record_lower(Index k);
    bool          still_holds(Index k) const;
    bool          take_column(Index k);
    void          prune(Index k);
    Index         pivotal_rows_first(Index k, const Lower& L);
    void          renumber(Index first, Index last);
    void          sort_rows(std::span<Index> row, std::span<S> val);
    bool          pass_bad_column(Index k, bool not_finite);

    LuFactors<S> finish();

    std::shared_ptr<const LuSymbolic> symbolic_;
    const LuSymbolic&                 S_ = *symbolic_;
    LuOptions                         options_;
    PivotTuning                       tuning_;
    std::shared_ptr<LuPattern>        pattern_ = std::make_shared<LuPattern>();
    LuPattern&                        P_ = *pattern_;
    LuFactors<S>                      F_;
    InputColumns<S>                   input_;

    // A row is known by its place in the analysed B; its number is where pivoting has put it, final once it is pivotal.
    // They differ only in blocks where some pivot was off the diagonal.
    std::vector<Index>               number_, at_;    // n; at_[number_[row]] = row; empty until the first such pivot
    bool                             moved_ = false;  // some row of this block has another number
    std::optional<SweepWorkspace<S>> room_;
    SweptColumn                      column_;
    std::vector<Lower>               lower_;              // n
    std::vector<char>                pruned_;             // n
    Offset                           next_question_ = 0;  // number of entries at which to ask whether to stop
    void (Elimination<S>::*sweep_)(Index) = &Elimination<S>::sweep_portable;

    std::optional<DiagonalColumns<S>> made_;     // by a team
    std::vector<char>                 changed_;  // n; columns that are not as the team made them
};

template <class S>
Elimination<S>::Elimination(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options,
                            std::span<const S> values, const PivotTuning& tuning)
    : symbolic_(std::move(symbolic)), options_(options), tuning_(tuning), input_(S_, options.scaling, values, P_)
{
    if (processor_has_fma()) sweep_ = &Elimination<S>::sweep_fma;
    P_.col_ptr.assign(S_.n + std::size_t{1}, 0);
    P_.diag.resize(S_.n);
    P_.f_col_ptr.assign(S_.n + std::size_t{1}, 0);
}

template <class S>
LuFactors<S> Elimination<S>::run(const Cpu& be, const StopToken& stop)
{
    if (be.threads() > 1) {
        if (!run_team(be, stop)) run_alone(stop);
    } else {
        input_.choose_scales();
        input_.make_map();
        run_alone(stop);
    }
    return finish();
}

/// @return whether nothing is left to do
template <class S>
bool Elimination<S>::run_team(const Cpu& be, const StopToken& stop)
{
    made_.emplace(be, S_, input_, options_.pivot_tol, P_, F_);
    if (const StopReason why = made_->run(stop); why != StopReason::none) {
        Index k = 0;
        while (k + 1 < S_.n && made_->made(k)) ++k;
        F_.monitor.stopped = why;
        F_.monitor.bad_column = k;
        return true;
    }
    if (made_->all_made()) {
        if (made_->join()) return true;
        made_.reset();  // memory_limit: where it is passed is for one thread to say
    } else {
        changed_.resize(S_.n);
    }
    P_.f_row.clear();  // rows may get other numbers
    F_.f_val.clear();
    std::fill(P_.f_col_ptr.begin(), P_.f_col_ptr.end(), 0);
    return false;
}

template <class S>
void Elimination<S>::run_alone(const StopToken& stop)
{
    room_.emplace(S_.n);
    lower_.resize(S_.n);
    pruned_.resize(S_.n);
    for (Index b = 0; b < P_.blocks(); ++b) {
        const Index first = P_.block_ptr[b], last = P_.block_ptr[b + 1];
        moved_ = false;
        for (Index k = first; k < last; ++k)
            if (stopped(k, stop) || !factor_column(k, first)) return;
        if (moved_) renumber(first, last);
    }
}

template <class S>
bool Elimination<S>::stopped(Index k, const StopToken& stop)
{
    if (P_.col_ptr[k] < next_question_) return false;
    next_question_ = P_.col_ptr[k] + between_questions;
    F_.monitor.stopped = stop.reason();
    F_.monitor.overfilled = tuning_.most_entries > 0 && P_.col_ptr[k] > tuning_.most_entries;
    if (F_.monitor.stopped == StopReason::none && !F_.monitor.overfilled) return false;
    F_.monitor.bad_column = k;
    return true;
}

/// Notes the first bad column. @return whether the work goes on
template <class S>
bool Elimination<S>::pass_bad_column(Index k, bool not_finite)
{
    if (F_.monitor.bad_column < 0) {
        F_.monitor.bad_column = k;
        F_.monitor.not_finite = not_finite;
    }
    return tuning_.bad == BadPivots::keep;
}

template <class S>
bool Elimination<S>::factor_column(Index k, Index first)
{
    const Offset above = input_.split(k, first);
    P_.f_col_ptr[k + 1] = P_.f_col_ptr[k];
    if (above > S_.col_ptr[k] && !load_above(k, above) && !pass_bad_column(k, true)) return false;
    const bool   taken = made_ && take_column(k);
    const double largest_in_B = taken ? 0 : load_column(k, above);
    if (!taken) {
        (this->*sweep_)(k);
        if (!choose_pivot(k)) return false;
    }
    make_room(k);
    if (!taken) {
        const double multiplier = store_column(k);
        add(F_.monitor, k, quality_of(column_, F_.val[P_.diag[k]], largest_in_B, multiplier));
    }
    prune(k);
    return true;
}

template <class S>
double Elimination<S>::load_column(Index k, Offset begin)
{
    AscendingSet& set = room_->set;
    return input_.load(k, begin, room_->x.data(), [&](Index row) { set.insert(moved_ ? number_[row] : row); });
}

/// Whether the team made column k as it would be made now: its rows have their numbers, and it took columns that are as
/// they were.
template <class S>
bool Elimination<S>::still_holds(Index k) const
{
    if (!made_->made(k)) return false;
    const auto made = made_->column(k);
    for (std::size_t e = 0; e < made.row.size(); ++e) {
        const Index row = made.row[e];
        if (e < made.upper && changed_[row]) return false;
        if (!number_.empty() && number_[row] != row) return false;
    }
    return true;
}

/// Takes column k from the team if it still holds.
template <class S>
bool Elimination<S>::take_column(Index k)
{
    if (!still_holds(k)) {
        changed_[k] = true;
        return false;
    }
    const auto made = made_->column(k);
    std::copy(made.row.begin(), made.row.end(), room_->reach.get());
    std::copy(made.val.begin(), made.val.end(), room_->value.get());
    column_ = {.upper = made.upper, .reached = made.row.size()};
    P_.diag[k] = P_.col_ptr[k] + static_cast<Offset>(made.upper);
    record_lower(k);
    add(F_.monitor, k, made.quality);
    return true;
}

/// F(:,k): the entries before `end`, in rows of finished blocks. @return whether it is finite
template <class S>
bool Elimination<S>::load_above(Index k, Offset end)
{
    const double c = input_.column_scale(k);
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
        F_.f_val.back() += input_.take(p, to, row, c);
        finite &= is_finite(F_.f_val.back());
    }
    P_.f_col_ptr[k + 1] = static_cast<Offset>(P_.f_row.size());
    if (!sorted) sort_rows(std::span(P_.f_row).subspan(start), std::span(F_.f_val).subspan(start));
    return finite;
}

template <class S>
template <bool moved>
[[gnu::always_inline]] inline void Elimination<S>::sweep(Index k)
{
    const Index* const row = P_.row.data();
    const S* const     l = F_.val.data();
    const Lower* const lower = lower_.data();
    column_ = sweep_column<moved>(
        k, *room_, at_.data(), number_.data(), [=](Index i) __attribute__((always_inline)) {
            const Lower& L = lower[i];
            return LowerColumn<S>{row + L.begin, l + L.begin, L.count, L.searched};
        });
}

template <class S>
void Elimination<S>::make_room(Index k)
{
    P_.diag[k] = P_.col_ptr[k] + static_cast<Offset>(column_.upper);
    P_.col_ptr[k + 1] = P_.col_ptr[k] + static_cast<Offset>(column_.reached);
    const auto needed = static_cast<std::size_t>(P_.col_ptr[k + 1]);
    if (needed > P_.row.capacity()) grow(P_, F_.val, S_, needed, k);
    P_.row.insert(P_.row.end(), room_->reach.get(), room_->reach.get() + column_.reached);
    F_.val.insert(F_.val.end(), room_->value.get(), room_->value.get() + column_.reached);
}

/// column_.pivot becomes the one chosen.
template <class S>
bool Elimination<S>::choose_pivot(Index k)
{
    const auto pivot = detail::choose_pivot(column_, *room_, k, options_.pivot_tol);
    if (pivot) column_.pivot = *pivot;
    else if (!pass_bad_column(k, column_.largest != 0 || column_.check != 0)) return false;
    else take_diagonal(column_, *room_, k);
    return true;
}

/// Gives number k to the row of reach[pivot], whose place in the column goes to the row displaced, if that is in it.
/// L(:,k) ← x / u_kk, or x where that is 0. @return max |L(:,k)|
template <class S>
double Elimination<S>::store_column(Index k)
{
    Index* const row = P_.row.data() + P_.col_ptr[k];
    S* const     val = F_.val.data() + P_.col_ptr[k];
    const auto   upper = column_.upper, reached = column_.reached, pivot = column_.pivot;
    const Index  number = room_->reach[pivot];
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
    const bool   zeros = column_.largest == 0;
    const double largest = zeros ? 0 : divide_by_pivot(val[upper], val + upper + 1, reached - upper - 1);
    if (moved_)
        for (std::size_t e = upper + 1; e < reached; ++e) row[e] = at_[row[e]];
    record_lower(k);
    return largest;
}

template <class S>
void Elimination<S>::record_lower(Index k)
{
    const auto count = static_cast<Index>(column_.reached - column_.upper - 1);
    lower_[k] = {.begin = P_.diag[k] + 1, .count = count, .searched = count};
}

/// A column i whose L(:,i) holds the pivot row reaches through column k whatever is still no pivot, so only its pivotal
/// rows need searching from now on [eisenstat_liu_92].
template <class S>
void Elimination<S>::prune(Index k)
{
    const Index  pivot_row = moved_ ? at_[k] : k;
    Index* const row = P_.row.data();
    for (std::size_t e = 0; e < column_.upper; ++e) {
        const Index i = room_->reach[e];
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
        room_->x[row[p]] = val[p];
        room_->set.insert(row[p]);
    }
    std::size_t to = 0;
    room_->set.drain([&](Index i) {
        row[to] = i;
        val[to++] = std::exchange(room_->x[i], S(0));
    });
}

/// Hands over the factors, or of a failure only permutations, scales and blocks.
template <class S>
LuFactors<S> Elimination<S>::finish()
{
    P_.row_perm.resize(S_.n);
    for (Index k = 0; k < S_.n; ++k) P_.row_perm[k] = S_.row_perm[at_.empty() ? k : at_[k]];
    if (F_.monitor.bad_column >= 0 && tuning_.bad == BadPivots::end) {
        F_.val = {}, F_.f_val = {};
        P_.forget_entries();
    }
    F_.symbolic = std::move(symbolic_);
    F_.pattern = std::move(pattern_);
    return std::move(F_);
}

/// Takes as many of the threads as have enough to do.
Cpu team_for(const LuSymbolic& symbolic, const Cpu& be, const PivotTuning& tuning)
{
    constexpr double an_entry = 17e-9, a_flop = 0.26e-9;  // seconds; fitted to the shared circuits on one core at 3 GHz
    if (symbolic.n == 0 || tuning.bad == BadPivots::keep) return Cpu(1);
    const double entries = std::max(symbolic.report.nnz, double(symbolic.input_nnz));
    const double seconds = an_entry * entries + a_flop * symbolic.report.flops;
    const double most = tuning.seconds_a_thread > 0 ? seconds / tuning.seconds_a_thread : be.threads();
    return Cpu(static_cast<int>(std::clamp<double>(most, 1, be.threads())));
}

}  // namespace

template <class S>
LuFactors<S> gilbert_peierls(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options,
                             std::span<const NotDeduced<S>> values, const StopToken& stop, const Cpu& be,
                             const PivotTuning& tuning)
{
    const Index  n = symbolic->n;
    const Offset entries = symbolic->input_nnz;
    const Cpu    team = team_for(*symbolic, be, tuning);
    try {
        return Elimination<S>(std::move(symbolic), options, values, tuning).run(team, stop);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory to factor a matrix with n = {}, nnz = {}", n, entries));
    }
}

#define ILUX_INSTANTIATE(S)                                                                                           \
    template LuFactors<S> gilbert_peierls<S>(std::shared_ptr<const LuSymbolic>, const LuOptions&, std::span<const S>, \
                                             const StopToken&, const Cpu&, const PivotTuning&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
