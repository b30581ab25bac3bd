// The pivots of a round, chosen in sweeps: the twin of round_set.cpp. It needs no transpose: a row tells its columns what they
// have to know, by flags, counts and maxima, whose order does not matter.

#include <cooperative_groups.h>

#include <cub/device/device_select.cuh>

#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"

namespace ilux::rounds {
namespace {

using cuda::check;

constexpr Status not_judged = 0;

struct Round : ActiveRows {
    RoundBounds bounds;
    Index       few;  ///< waiting rows that are left for the next round

    /// Of the sweep that has them now; none where few are left.
    __device__ Index waiting(int now) const
    {
        const Index count = counters->waiting[now];
        return count > few ? count : 0;
    }
};

/// list ← list, k, in any order; one request for all threads of a warp that come here together.
__device__ void append(Index k, Index* list, Index* count)
{
    const auto together = cooperative_groups::coalesced_threads();
    Index      first = 0;
    if (together.thread_rank() == 0) first = atomicAdd(count, static_cast<Index>(together.size()));
    list[together.shfl(first, 0) + static_cast<Index>(together.thread_rank())] = k;
}

__global__ void forget_columns(Round round)
{
    const Index k = round.row(thread_in_grid());
    if (k < 0) return;
    round.at.col_largest[k] = 0;
    round.at.col_degree[k] = 0;
}

/// Diagonal, largest entry off it, whether the row is dominant; its part of each column's degree and largest entry.
template <int lanes>
__global__ void __launch_bounds__(tile_threads) inspect_rows(Round round)
{
    const Tile<lanes> tile;
    const Index       k = round.row(tile.in_grid());
    if (k < 0) return;
    double d = 0, largest = 0;
    for_entries(round.S, tile, k, [&](Index j, Offset p) {
        const double size = fabs(round.S.val[p]);
        atomicAdd(round.at.col_degree + j, 1);
        if (j == k) {
            d = round.S.val[p];
            return;
        }
        largest = fmax(largest, size);
        raise(round.at.col_largest + j, bits_of(size));
    });
    d = tile.sum(d);
    largest = tile.max(largest);
    const bool dominant = is_dominant(round, tile, k, d);
    if (tile.lane() != 0) return;
    round.at.diagonal[k] = d;
    round.at.scale[k].sized = sqrt(fmax(largest, fabs(d))) * fabs(round.at.scale[k].t);
    round.at.row_largest[k] = largest;
    round.at.room[k] = dominant ? static_cast<long long>(round.bounds.weak_coupling * 0x1p40) : 0;
}

__device__ bool may_be_pivot(const Round& round, Index k)
{
    const RoundBounds& b = round.bounds;
    const double       d = round.at.diagonal[k];
    const double       product = round.at.row_largest[k] * magnitude_of(round.at.col_largest[k]);
    const auto         estimate = [](long long w) { return 1 + fabs(from_fixed<32>(w)); };
    return fabs(d) > b.pivot_floor && !(b.positive && d <= 0) && !(b.growth > 0 && product > b.growth * fabs(d)) &&
           estimate(round.at.w_L[k]) <= b.inverse && estimate(round.at.w_U[k]) <= b.inverse;
}

__global__ void admit(Round round, double longest, Index* waiting)
{
    const Index k = round.row(thread_in_grid());
    if (k < 0) return;
    const Index row = round.S.length[k], col = round.at.col_degree[k];
    const bool  fits = may_be_pivot(round, k) && static_cast<double>(row > col ? row : col) <= longest;
    round.at.priority[k] = priority(row, col, round.at.in_level[k]);
    round.at.status[k] = fits ? round.at.priority[k] : excluded;
    round.at.used[k] = 0;
    round.at.doomed[k] = round.at.beaten[k] = 0;
    round.at.blocker[k] = k;
    if (fits) append(k, waiting, &round.counters->waiting[0]);
}

/// |s_kj t_j / (t_k s_kk)|: what a coupling takes of the room of row k. NaN takes all of it.
struct Share {
    const RowArrays& at;
    double           t, d;

    __device__ Share(const RowArrays& arrays, Index k) : at(arrays), t(arrays.scale[k].t), d(fabs(arrays.diagonal[k]))
    {}
    __device__ Fixed of(double s, Index j) const { return fixed<40>(fabs(s) * fabs(at.scale[j].t / t) / d, 4); }
};

/// The lists of a sweep. Their lengths are three in turn: one that was read last, or is read next, is emptied meanwhile.
struct Lists {
    const Index *waiting, *fresh_before;  ///< rows; those chosen in the sweep before
    Index *      watching, *fresh;        ///< chosen with neighbours that wait; tentative now
    Index *      waiting_next, *watching_next;
    int          now, next, after;  ///< which of the lengths
};

/// f(j, p) for the neighbours of row k, by the lanes of its tile.
template <int lanes, class Do>
__device__ void for_neighbours(const Round& round, const Tile<lanes>& tile, Index k, Do&& f)
{
    for_entries(round.S, tile, k, [&](Index j, Offset p) {
        if (j != k) f(j, p);
    });
}

/// A row that waits: what chosen neighbours take of its room, and who comes first of those in its row that wait. It need not look
/// again while that one waits.
template <int lanes>
__device__ void judge(const Round& round, const Tile<lanes>& tile, Index k)
{
    const Index blocker = round.at.blocker[k];
    if (blocker != k && waits(round.at.status[blocker])) {
        if (tile.lane() == 0) round.at.first[k] = not_judged;
        return;
    }
    const Share share(round.at, k);
    Status      first = round.at.status[k];
    Index       who = k;
    Fixed       used = 0;
    for_neighbours(round, tile, k, [&](Index j, Offset p) {
        const Status status = round.at.status[j];
        if (status == chosen) used += share.of(round.S.val[p], j);
        if (waits(status) && status < first) first = status, who = j;
    });
    const Status least = tile.min(first);
    used = tile.sum(used);
    if (first == least && who != k) round.at.blocker[k] = who;  // one lane: priorities differ
    if (tile.lane() != 0) return;
    round.at.first[k] = least;
    round.at.used_next[k] = used;
    if (used > round.at.room[k]) round.at.doomed[k] = 1;
}

__device__ bool may_wait(Status status) { return waits(status) || status == tentative || status == rejected; }

/// Rows that wait, or may have to wait on, and do not fit the room of pivot k are lost. @return whether there are others
template <int lanes>
__device__ bool doom(const Round& round, const Tile<lanes>& tile, Index k, Fixed used)
{
    const Share share(round.at, k);
    const Fixed room = round.at.room[k];
    bool        any = false;
    for_neighbours(round, tile, k, [&](Index j, Offset p) {
        if (!may_wait(*static_cast<volatile Status*>(round.at.status + j))) return;
        if (used + share.of(round.S.val[p], j) > room) round.at.doomed[j] = 1;
        else any = true;
    });
    return tile.any(any);
}

template <int lanes>
__global__ void __launch_bounds__(tile_threads) judge_rows(Round round, Lists lists)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    Counters&         count = *round.counters;
    if (i == 0 && tile.lane() == 0)
        count.waiting[lists.after] = count.watching[lists.after] = count.fresh[lists.next] = 0;
    const Index waiting = round.waiting(lists.now), fresh = count.fresh[lists.after];
    if (i < waiting) return judge(round, tile, lists.waiting[i]);
    if (i - waiting >= fresh) return;
    const Index k = lists.fresh_before[i - waiting];
    if (round.at.status[k] != chosen) return;
    const bool any = doom(round, tile, k, round.at.used[k]);
    if (any && tile.lane() == 0) append(k, lists.watching, &count.watching[lists.now]);
}

/// Every waiting row that was judged: excluded where pivots leave it no room, tentative where it comes first.
__global__ void resolve(Round round, Lists lists)
{
    const Index i = thread_in_grid();
    Counters&   count = *round.counters;
    if (i >= round.waiting(lists.now)) return;
    const Index  k = lists.waiting[i];
    const Status first = round.at.first[k];
    if (first != not_judged && round.at.doomed[k]) {
        round.at.status[k] = excluded;
    } else if (first == round.at.status[k]) {
        round.at.status[k] = tentative;
        round.at.used[k] = round.at.used_next[k];
        append(k, lists.fresh, &count.fresh[lists.now]);
    } else {
        append(k, lists.waiting_next, &count.waiting[lists.next]);
    }
}

__device__ bool is_tentative(const Round& round, Index k)
{
    const Status status = *static_cast<volatile Status*>(round.at.status + k);
    return status == tentative || status == rejected;
}

/// A pivot of an earlier sweep: of the tentative ones in its row the first that fit its room stay. @return whether others wait
template <int lanes>
__device__ bool settle(const Round& round, const Tile<lanes>& tile, Index k)
{
    constexpr Index none = 0x7fffffff;
    const Share     share(round.at, k);
    const Fixed     room = round.at.room[k];
    Fixed           used = round.at.used[k];
    bool            any = false;
    for (Index after = -1;;) {
        Index  next = none;
        double s = 0;
        for_neighbours(round, tile, k, [&](Index j, Offset p) {
            const Status status = *static_cast<volatile Status*>(round.at.status + j);
            any = any || waits(status);
            if (j > after && j < next && (status == tentative || status == rejected)) next = j, s = round.S.val[p];
        });
        const Index smallest = tile.min(next);
        if (smallest == none) {
            if (after < 0) return tile.any(any);  // as most do in most sweeps
            break;
        }
        // one lane alone has it; the sum of integers passes its share to the others
        const Fixed taken = tile.sum(next == smallest ? share.of(s, smallest) : Fixed{0});
        if (used + taken <= room) used += taken;
        else if (tile.lane() == 0) *static_cast<volatile Status*>(round.at.status + smallest) = rejected;
        after = smallest;
    }
    if (tile.lane() == 0) round.at.used[k] = used;
    return doom(round, tile, k, used);
}

/// Pivots chosen before, and those tentative now: one of these that another has in its row, and comes after it, waits on.
template <int lanes>
__global__ void __launch_bounds__(tile_threads) settle_rows(Round round, Lists lists)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    Counters&         count = *round.counters;
    const Index       watching = count.watching[lists.now], fresh = count.fresh[lists.now];
    if (i < watching) {
        const Index k = lists.watching[i];
        const bool  any = settle(round, tile, k);
        if (any && tile.lane() == 0) append(k, lists.watching_next, &count.watching[lists.next]);
    } else if (i - watching < fresh) {
        const Index  k = lists.fresh[i - watching];
        const Status mine = round.at.priority[k];
        for_neighbours(round, tile, k, [&](Index j, Offset) {
            if (is_tentative(round, j) && mine < round.at.priority[j]) round.at.beaten[j] = 1;
        });
    }
}

__global__ void confirm(Round round, Lists lists)
{
    const Index i = thread_in_grid();
    Counters&   count = *round.counters;
    if (i >= count.fresh[lists.now]) return;
    const Index k = lists.fresh[i];
    Status&     status = round.at.status[k];
    if (status == rejected) {
        status = excluded;
    } else if (round.at.beaten[k]) {
        round.at.beaten[k] = 0;
        status = round.at.priority[k];
        append(k, lists.waiting_next, &count.waiting[lists.next]);
    } else {
        status = chosen;
    }
}

/// Sums over the pivots: how many entries their rows and columns have.
__global__ void add_up_pivots(Round round, const Index* pivots)
{
    const Index    i = thread_in_grid();
    const bool     is = i < round.counters->pivots;
    const Index    k = is ? pivots[i] : 0;
    const Tile<32> warp;
    const auto     rows = warp.sum(is ? static_cast<unsigned long long>(round.S.length[k]) : 0ULL);
    const auto     cols = warp.sum(is ? static_cast<unsigned long long>(round.at.col_degree[k]) : 0ULL);
    if (warp.lane() != 0 || rows + cols == 0) return;
    atomicAdd(&round.counters->pivot_rows, rows);
    atomicAdd(&round.counters->pivot_cols, cols);
}

struct IsPivot {
    const Status*   status;
    bool            wanted;
    __device__ bool operator()(Index k) const { return (status[k] == chosen) == wanted; }
};

void select(Gpu& gpu, RoundsState& state, bool pivots, Index* to, Index* count)
{
    std::size_t bytes = state.scratch_bytes;
    check(cub::DeviceSelect::If(state.scratch, bytes, state.active[state.now], to, count, state.active_count,
                                IsPivot{state.at.status, pivots}, cuda::stream(gpu)),
          "cub::DeviceSelect");
}

constexpr int sweeps_at_once = 4;  // before the host looks how many rows still wait

Lists lists_of(const RoundsState& state, int sweep)
{
    const int side = sweep % 2, other = side ^ 1;
    return {.waiting = state.waiting[side],
            .fresh_before = state.fresh[other],
            .watching = state.watching[side],
            .fresh = state.fresh[side],
            .waiting_next = state.waiting[other],
            .watching_next = state.watching[other],
            .now = sweep % 3,
            .next = (sweep + 1) % 3,
            .after = (sweep + 2) % 3};
}

/// All that waits, in sweeps.
void sweep(Gpu& gpu, RoundsState& state, const Round& round)
{
    // at most: a row that waits may have been tentative in the sweep before, and then is in two lists
    Index  waiting = state.active_count;
    Offset listed = 2 * Offset{waiting};
    for (int sweep = 0; waiting > round.few;) {
        for (int k = 0; k < sweeps_at_once; ++k, ++sweep)
            with_lanes(state, [&](auto lanes) {
                const Lists lists = lists_of(state, sweep);
                launch_tiles<lanes()>(gpu, judge_rows<lanes()>, listed, round, lists);
                launch(gpu, resolve, waiting, round, lists);
                launch_tiles<lanes()>(gpu, settle_rows<lanes()>, listed, round, lists);
                launch(gpu, confirm, waiting, round, lists);
            });
        const Counters now = state.read(gpu);
        waiting = now.waiting[sweep % 3];
        listed = 2 * Offset{waiting} + now.watching[sweep % 3] + now.fresh[(sweep + 2) % 3];
    }
}

}  // namespace

Counters choose_pivots(Gpu& gpu, RoundsState& state, const RoundBounds& bounds)
{
    const Index  rows = state.active_count;
    const Round  round{active_rows(state), bounds, static_cast<Index>(few_waiting * rows)};
    const double longest = long_row * static_cast<double>(state.nnz) / std::max(rows, 1) + long_row_least;
    state.clear(gpu);
    launch(gpu, forget_columns, rows, round);
    with_lanes(state, [&](auto lanes) { launch_tiles<lanes()>(gpu, inspect_rows<lanes()>, rows, round); });
    launch(gpu, admit, rows, round, longest, state.waiting[0]);
    sweep(gpu, state, round);
    select(gpu, state, true, state.pivots, &state.count->pivots);
    select(gpu, state, false, state.active[state.now ^ 1], &state.count->rest);
    launch(gpu, add_up_pivots, rows, round, state.pivots);
    return state.read(gpu);
}

}  // namespace ilux::rounds
