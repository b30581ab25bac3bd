#include "ilux/direct/factor/diagonal_columns.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "ilux/base/barrier.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/base/region_failure.hpp"
#include "ilux/direct/factor/factor_room.hpp"

namespace ilux::detail {
namespace {

constexpr int    tasks_a_thread = 4;
constexpr double per_column = 2;      // of work, in entries of B
constexpr Index  share_left_out = 8;  // one of so many columns; beyond, one thread does the rest
constexpr Index  columns_at_once = 256;
constexpr int    patience = 1000;  // polls: 10 to 50 µs on x86, by the processor; more than most columns take

}  // namespace

template <class S>
DiagonalColumns<S>::DiagonalColumns(const Cpu& be, const LuSymbolic& symbolic, InputColumns<S>& input, double pivot_tol,
                                    LuPattern& P, LuFactors<S>& F)
    : be_(be),
      S_(symbolic),
      input_(input),
      P_(P),
      F_(F),
      pivot_tol_(pivot_tol),
      sweep_(processor_has_fma() ? &DiagonalColumns::sweep_fma : &DiagonalColumns::sweep_portable),
      threads_(be.threads())
{}

/// What comes before the first column, the longest step first.
template <class S>
void DiagonalColumns<S>::set_up()
{
    for (int step; (step = next_step_.fetch_add(1, std::memory_order_relaxed)) < 4;) {
        if (step == 0) share();
        if (step == 1) {
            lower_ = std::make_unique<Lower[]>(S_.n);
            made_ = std::make_unique_for_overwrite<Made[]>(S_.n);
        }
        if (step == 2) {
            input_.make_map();
            input_.choose_scales();
        }
        if (step == 3) touch_room();
    }
}

/// Asks the system for the pages of rows before columns are joined there: resizing sets them, on one thread.
template <class S>
void DiagonalColumns<S>::touch_room()
{
    if (S_.options.memory_limit.value > 0) return;
    constexpr std::size_t page = 4096;
    P_.row.reserve(expected_entries(S_));
    F_.val.reserve(expected_entries(S_));
    auto* const memory = reinterpret_cast<volatile char*>(P_.row.data());
    for (std::size_t at = 0; at < P_.row.capacity() * sizeof(Index); at += page) memory[at] = 0;
}

/// One pass over B: F's pattern, the forest, and what to expect of each column's work.
template <class S>
void DiagonalColumns<S>::share()
{
    struct Left {  // an entry of row r left of the diagonal, and the one before it in the row
        Index  column;
        Offset next;
    };
    const Index         n = S_.n;
    std::vector<Offset> first_left(n, -1);
    std::vector<Left>   left;
    std::vector<double> work(n);
    ForestBuilder       forest(n);
    double              total = 0;
    left.reserve(S_.row.size() / 2);
    for (Index b = 0; b < P_.blocks(); ++b)
        for (Index k = P_.block_ptr[b]; k < P_.block_ptr[b + 1]; ++k) {
            const Offset above = input_.split(k, P_.block_ptr[b]), end = S_.col_ptr[k + 1];
            P_.f_col_ptr[k + 1] = P_.f_col_ptr[k] + find_F(k, above);
            total += work[k] = per_column + double(end - above);
            for (Offset e = first_left[k]; e >= 0; e = left[e].next) forest.join(left[e].column, k);
            for (Offset p = above; p < end; ++p) {
                const Index r = S_.row[p];
                forest.join(r, k);
                if (r > k) left.push_back({k, std::exchange(first_left[r], std::ssize(left))});
            }
        }
    F_.f_val.resize(P_.f_row.size());
    const auto parent = std::move(forest).parent();
    const auto task_of =
        cut_subtrees(parent, subtree_work(parent, std::move(work)), total / (tasks_a_thread * be_.threads()));
    tasks_ = list_tasks(task_of);
    for (Index k = 0; k < n; ++k)
        if (task_of[k] < 0) top_.push_back(k);
}

/// @return the number of entries of F(:,k)
template <class S>
Index DiagonalColumns<S>::find_F(Index k, Offset above)
{
    Index count = 0, last = -1;
    for (Offset p = S_.col_ptr[k]; p < above; ++p)
        if (std::exchange(last, S_.row[p]) != S_.row[p]) {
            P_.f_row.push_back(last);
            ++count;
        }
    return count;
}

/// Ends: a column waits only for columns of tasks, which wait for nothing, and for such as were handed out before it.
template <class S>
StopReason DiagonalColumns<S>::run(const StopToken& stop)
{
    RegionFailure   failure;
    YieldingBarrier ready;
#pragma omp parallel num_threads(be_.team())
    {
        failure.run([&] { set_up(); });
        ready.wait(omp_get_num_threads());
        if (!failure.met())
            failure.run([&] {
                auto& mine = threads_[omp_get_thread_num()];
                mine = std::make_unique<Thread>(S_.n);
                work(*mine, stop);
            });
        if (failure.met()) halt_ = true;
    }
    failure.rethrow();
    return stopped_;
}

template <class S>
void DiagonalColumns<S>::work(Thread& mine, const StopToken& stop)
{
    const Index tasks = static_cast<Index>(tasks_.ptr.size()) - 1, top = static_cast<Index>(top_.size());
    for (Index t; (t = next_task_.fetch_add(1, std::memory_order_relaxed)) < tasks;)
        for (Index c = tasks_.ptr[t]; c < tasks_.ptr[t + 1]; ++c) {
            if (halted(mine, stop)) return;
            make(mine, tasks_.column[c]);
        }
    for (Index t; (t = next_top_.fetch_add(1, std::memory_order_relaxed)) < top;) {
        if (halted(mine, stop)) return;
        make(mine, top_[t]);
    }
}

template <class S>
bool DiagonalColumns<S>::halted(Thread& mine, const StopToken& stop)
{
    if (mine.entries >= mine.next_question) {
        mine.next_question = mine.entries + between_questions;
        if (const StopReason why = stop.reason(); why != StopReason::none) {
            stopped_ = why;
            halt_ = true;
        }
    }
    return halt_.load(std::memory_order_relaxed);
}

template <class S>
void DiagonalColumns<S>::make(Thread& mine, Index k)
{
    const Offset begin = S_.col_ptr[k], above = begin + (S_.col_ptr[k + 1] - P_.in_split[k]);
    Lower&       L = lower_[k];
    bool         done = fill_above(k, above);
    if (done) {
        SweepWorkspace<S>& room = mine.room;
        const double       largest_in_B = input_.load(k, above, room.x.data(), [&](Index r) { room.set.insert(r); });
        mine.unmet = false;
        (this->*sweep_)(mine, k);
        if (mine.unmet) clear(room, k, above, mine.column.reached);
        done = !mine.unmet && finish(mine, k, largest_in_B);
    }
    if (!done && left_out_.fetch_add(1, std::memory_order_relaxed) > S_.n / share_left_out) halt_ = true;
    L.state.store(done ? State::made : State::left_out, std::memory_order_release);
    if (done) prune({mine.room.reach.get(), static_cast<std::size_t>(made_[k].upper)}, k);
}

/// F(:,k), from the entries before `end`. @return whether it is finite
template <class S>
bool DiagonalColumns<S>::fill_above(Index k, Offset end)
{
    const double c = input_.column_scale(k);
    Offset       at = P_.f_col_ptr[k] - 1;
    Index        last = -1;
    bool         finite = true;
    for (Offset p = S_.col_ptr[k], to = P_.in_split[k]; p < end; ++p, ++to) {
        if (std::exchange(last, S_.row[p]) != S_.row[p]) F_.f_val[++at] = 0;
        F_.f_val[at] += input_.take(p, to, last, c);
        finite &= is_finite(F_.f_val[at]);
    }
    return finite;
}

template <class S>
[[gnu::always_inline]] inline void DiagonalColumns<S>::sweep(Thread& mine, Index k)
{
    const Lower* const lower = lower_.get();
    mine.column = sweep_column<false>(
        k, mine.room, nullptr, nullptr, [&](Index i) __attribute__((always_inline)) {
            const Lower& L = lower[i];
            if (L.state.load(std::memory_order_acquire) != State::made) [[unlikely]]
                if (mine.unmet || wait_for(i) != State::made) {
                    mine.unmet = true;
                    return LowerColumn<S>{};
                }
            // What a later column than k has pruned may lead to rows through columns that are no pivots for k.
            const std::uint64_t pruned = L.pruned.load(std::memory_order_relaxed);
            const bool          use_pruned = pruned >> 32 < static_cast<std::uint64_t>(k);
            return LowerColumn<S>{L.row, L.val, L.count,
                                  use_pruned ? static_cast<Index>(pruned & 0xffffffff) : L.count};
        });
}

/// Waits for the state of a column below the one at hand.
template <class S>
auto DiagonalColumns<S>::wait_for(Index i) const -> State
{
    const auto& state = lower_[i].state;
    spin_until([&] { return state.load(std::memory_order_acquire) != State::pending || halt_; }, patience);
    return state.load(std::memory_order_acquire);
}

/// @return whether the pivot stays on the diagonal; then L + U of the column are stored
template <class S>
bool DiagonalColumns<S>::finish(Thread& mine, Index k, double largest_in_B)
{
    const SweptColumn&       swept = mine.column;
    const SweepWorkspace<S>& room = mine.room;
    const auto               pivot = choose_pivot(swept, room, k, pivot_tol_);
    if (!pivot || room.reach[*pivot] != k) return false;
    const auto place = mine.store.add(swept.reached);
    std::copy_n(room.reach.get(), swept.reached, place.row);
    std::copy_n(room.value.get(), swept.reached, place.val);
    const std::size_t below = *pivot + 1, count = swept.reached - below;
    const S           u = place.val[*pivot];
    const double      multiplier = divide_by_pivot(u, place.val + below, count);
    made_[k] = {static_cast<Index>(swept.upper), quality_of(swept, u, largest_in_B, multiplier)};
    Lower& L = lower_[k];
    L.row = place.row + below;
    L.val = place.val + below;
    L.count = static_cast<Index>(count);
    mine.entries += static_cast<Offset>(swept.reached);
    return true;
}

/// Prunes as Elimination::prune does, but other threads search the columns meanwhile. Two that prune one column may
/// undo each other; either is right.
template <class S>
void DiagonalColumns<S>::prune(std::span<const Index> upper, Index k)
{
    for (const Index i : upper) {
        Lower& L = lower_[i];
        if (L.pruned.load(std::memory_order_relaxed) >> 32 < static_cast<std::uint64_t>(k)) continue;
        const Index* const end = L.row + L.count;
        const Index* const at = std::lower_bound(L.row, end, k);
        if (at == end || *at != k) continue;
        const auto searched = static_cast<std::uint64_t>(at - L.row) + 1;
        L.pruned.store(static_cast<std::uint64_t>(k) << 32 | searched, std::memory_order_relaxed);
    }
}

/// After a sweep that met a column left out: rows that it would have led to were not visited.
template <class S>
void DiagonalColumns<S>::clear(SweepWorkspace<S>& room, Index k, Offset begin, std::size_t reached) const
{
    for (Offset p = begin; p < S_.col_ptr[k + 1]; ++p) room.x[S_.row[p]] = 0;
    for (std::size_t e = 0; e < reached && room.reach[e] < k; ++e) {
        const Lower& L = lower_[room.reach[e]];
        if (L.state.load(std::memory_order_acquire) != State::made) continue;
        for (Index p = 0; p < L.count; ++p) room.x[L.row[p]] = 0;
    }
}

template <class S>
auto DiagonalColumns<S>::column(Index k) const -> Column
{
    const Lower&      L = lower_[k];
    const Made&       made = made_[k];
    const auto        before = static_cast<std::size_t>(made.upper) + 1;
    const std::size_t count = before + L.count;
    return {{L.row - before, count}, {L.val - before, count}, before - 1, made.quality};
}

template <class S>
bool DiagonalColumns<S>::join()
{
    const Index n = S_.n;
    for (Index k = 0; k < n; ++k) {
        P_.diag[k] = P_.col_ptr[k] + made_[k].upper;
        P_.col_ptr[k + 1] = P_.diag[k] + 1 + lower_[k].count;
    }
    const auto entries = static_cast<std::size_t>(P_.col_ptr[n]);
    if (!within_limit<S>(P_, S_, entries)) return false;
    if (entries > P_.row.capacity()) grow(P_, F_.val, S_, entries, n - 1);
    P_.row.resize(entries);
    F_.val.resize(entries);
#pragma omp parallel for num_threads(be_.team()) schedule(dynamic, columns_at_once)
    for (Index k = 0; k < n; ++k) {
        const Column made = column(k);
        std::copy(made.row.begin(), made.row.end(), P_.row.begin() + P_.col_ptr[k]);
        std::copy(made.val.begin(), made.val.end(), F_.val.begin() + P_.col_ptr[k]);
    }
    for (Index k = 0; k < n; ++k) add(F_.monitor, k, made_[k].quality);
    return true;
}

#define ILUX_INSTANTIATE(S) template class DiagonalColumns<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
