// The sweeps of a round, as round_set.cpp makes them: rows that come first among their neighbours become pivots, and
// leave others no room. One launch for all of them.

#include "ilux/precond/gpu_rounds/sweep.hpp"

#include <cooperative_groups.h>

namespace ilux::rounds {
namespace {

using cuda::check;

constexpr Status not_judged = 0;
template <class V>
constexpr int sweep_blocks = is_complex<V> ? 4 : 5;  // of a multiprocessor: with 4 or 6 real ones are 2 % slower

/// |s_kj t_j / (t_k s_kk)|: what a coupling takes of the room of row k. NaN takes all of it.
template <class V>
struct Share {
    const RowArrays<V>& at;
    double              by_size;

    __device__ Share(const RowArrays<V>& arrays, Index k)
        : at(arrays), by_size(1 / (fabs(arrays.scale[k].t) * modulus(arrays.diagonal[k])))
    {}
    /// @param size  |s_kj|
    __device__ Fixed of(double size, Index j) const { return fixed<40>(size * fabs(at.scale[j].t) * by_size, 4); }
};

/// The lists of a sweep. Their lengths are three in turn: one that was read last, or is read next, is emptied
/// meanwhile.
struct Lists {
    const Index *waiting, *fresh_before;  ///< rows; those chosen in the sweep before
    Index *      watching, *fresh;        ///< chosen with neighbours that wait; tentative now
    Index *      waiting_next, *watching_next;
    int          now, next, after;  ///< which of the lengths
};

/// Room for the lists of all sweeps.
struct ListRoom {
    Index *waiting[2], *watching[2], *fresh[2];

    __device__ Lists of(int sweep) const
    {
        const int side = sweep % 2, other = side ^ 1;
        return {.waiting = waiting[side],
                .fresh_before = fresh[other],
                .watching = watching[side],
                .fresh = fresh[side],
                .waiting_next = waiting[other],
                .watching_next = watching[other],
                .now = sweep % 3,
                .next = (sweep + 1) % 3,
                .after = (sweep + 2) % 3};
    }
};

/// f(j, p) for the neighbours of row k, by the lanes of its tile.
template <int lanes, class V, class Do>
__device__ void for_neighbours(const Round<V>& round, const Tile<lanes>& tile, Index k, Do&& f)
{
    for_entries(round.S, tile, k, [&](Index j, Offset p) {
        if (j != k) f(j, p);
    });
}

/// A row that waits: what chosen neighbours take of its room, and who comes first of those in its row that wait. It
/// need not look again while that one waits.
template <int lanes, class V>
__device__ void judge(const Round<V>& round, const Tile<lanes>& tile, Index k)
{
    const Index blocker = round.at.blocker[k];
    if (blocker != k && waits(round.at.status[blocker])) {
        if (tile.lane() == 0) round.at.first[k] = not_judged;
        return;
    }
    const Share<V> share(round.at, k);
    Status         first = round.at.status[k];
    Index          who = k;
    Fixed          used = 0;
    for_neighbours(round, tile, k, [&](Index j, Offset p) {
        const Status status = round.at.status[j];
        if (status == chosen) used += share.of(modulus(round.S.val[p]), j);
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

/// Rows that wait, or may have to wait on, and do not fit the room of pivot k are lost. @return whether there are
/// others
template <int lanes, class V>
__device__ bool doom(const Round<V>& round, const Tile<lanes>& tile, Index k, Fixed used)
{
    const Share<V> share(round.at, k);
    const Fixed    room = round.at.room[k];
    bool           any = false;
    for_neighbours(round, tile, k, [&](Index j, Offset p) {
        if (!may_wait(*static_cast<volatile Status*>(round.at.status + j))) return;
        if (used + share.of(modulus(round.S.val[p]), j) > room) round.at.doomed[j] = 1;
        else any = true;
    });
    return tile.any(any);
}

/// A row that waits is judged; one chosen in the sweep before dooms those it leaves no room.
template <int lanes, class V>
__device__ void judge_rows(const Round<V>& round, const Tile<lanes>& tile, const Lists& lists, long first, long stride)
{
    Counters& count = *round.counters;
    if (first == 0 && tile.lane() == 0)
        count.waiting[lists.after] = count.watching[lists.after] = count.fresh[lists.next] = 0;
    const Index waiting = count.waiting[lists.now], fresh = count.fresh[lists.after];
    for (long i = first; i < Offset{waiting} + fresh; i += stride) {
        if (i < waiting) {
            judge(round, tile, lists.waiting[i]);
            continue;
        }
        const Index k = lists.fresh_before[i - waiting];
        if (round.at.status[k] != chosen) continue;
        const bool any = doom(round, tile, k, round.at.used[k]);
        if (any && tile.lane() == 0) append(k, lists.watching, &count.watching[lists.now]);
    }
}

/// Every waiting row that was judged: excluded where pivots leave it no room, tentative where it comes first.
template <class V>
__device__ void resolve(const Round<V>& round, const Lists& lists, Index k)
{
    Counters&    count = *round.counters;
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

template <class V>
__device__ bool is_tentative(const Round<V>& round, Index k)
{
    const Status status = *static_cast<volatile Status*>(round.at.status + k);
    return status == tentative || status == rejected;
}

template <class V>
__device__ void reject(const Round<V>& round, Index k)
{
    *static_cast<volatile Status*>(round.at.status + k) = rejected;
}

constexpr Index none = 0x7fffffff;

/// A pivot of an earlier sweep: of the tentative ones in its row the first that fit its room stay. @return whether
/// others wait
template <int lanes, class V>
__device__ bool settle(const Round<V>& round, const Tile<lanes>& tile, Index k)
{
    const Share<V> share(round.at, k);
    const Fixed    room = round.at.room[k];
    Fixed          used = round.at.used[k];
    bool           any = false;
    for (Index after = -1;;) {
        Index  next = none;
        double size = 0;
        for_neighbours(round, tile, k, [&](Index j, Offset p) {
            const Status status = *static_cast<volatile Status*>(round.at.status + j);
            any = any || waits(status);
            if (j > after && j < next && (status == tentative || status == rejected))
                next = j, size = modulus(round.S.val[p]);
        });
        const Index smallest = tile.min(next);
        if (smallest == none) {
            if (after < 0) return tile.any(any);  // as most do in most sweeps
            break;
        }
        // one lane alone has it; the sum of integers passes its share to the others
        const Fixed taken = tile.sum(next == smallest ? share.of(size, smallest) : Fixed{0});
        if (used + taken <= room) used += taken;
        else if (tile.lane() == 0) reject(round, smallest);
        after = smallest;
    }
    if (tile.lane() == 0) round.at.used[k] = used;
    return doom(round, tile, k, used);
}

/// The entry of row k that a lane looks at, in a chunk that begins at `from`; a column of -1 where there is none.
struct Entry {
    Index  col;
    double size;

    template <class V>
    __device__ Entry(const RowsView<V>& S, Index k, Offset from, int lane) : col(-1), size(0)
    {
        if (from + lane >= S.length[k]) return;
        col = S.col[S.start[k] + from + lane];
        size = modulus(S.val[S.start[k] + from + lane]);
    }
};

/// Whether the detours of a tie of row k to pivot j carry enough of it.
template <int lanes, class V>
__device__ bool has_detours(const Round<V>& round, const Tile<lanes>& tile, Index k, Index j, double size_of_tie)
{
    const Share<V> share(round.at, k);
    const double   of_j = fabs(round.at.scale[j].t / round.at.scale[k].t);
    const Fixed    tie = share.of(size_of_tie, j), most = static_cast<Fixed>(tie_over_detours);
    Fixed          sum = share.of(in_series(round.at.spare[k], round.at.spare[j] * of_j * of_j), k);
    for (Index in_j = 0; in_j < round.S.length[j]; in_j += lanes) {
        const Entry of_row_j(round.S, j, in_j, tile.lane());
        for (Index in_k = 0; in_k < round.S.length[k]; in_k += lanes) {
            if (tie <= most * sum) return true;
            const Entry mine(round.S, k, in_k, tile.lane());
            Fixed       found = 0;
            for (int lane = 0; lane < lanes; ++lane) {
                const Index  r = tile.of(of_row_j.col, lane);
                const double size = tile.of(of_row_j.size, lane);
                if (r == mine.col && r >= 0 && r != k && r != j)
                    found += share.of(in_series(mine.size, size * of_j), r);
            }
            sum += tile.sum(found);
        }
    }
    return tie <= most * sum;
}

/// Tells whether each tie of row k to pivots chosen before has detours enough.
template <int lanes, class V>
__device__ bool ties_have_detours(const Round<V>& round, const Tile<lanes>& tile, Index k)
{
    for (Index from = 0; from < round.S.length[k]; from += lanes) {
        const Entry mine(round.S, k, from, tile.lane());
        const bool  to_pivot = mine.col >= 0 && mine.col != k && round.at.status[mine.col] == chosen;
        for (unsigned ties = tile.which(to_pivot); ties != 0; ties &= ties - 1) {
            const int lane = __ffs(static_cast<int>(ties)) - 1;
            if (!has_detours(round, tile, k, tile.of(mine.col, lane), tile.of(mine.size, lane))) return false;
        }
    }
    return true;
}

/// Pivots chosen before, and those tentative now: one of these that another has in its row, and comes after it, waits
/// on.
template <int lanes, class V>
__device__ void settle_rows(const Round<V>& round, const Tile<lanes>& tile, const Lists& lists, long first, long stride)
{
    Counters&   count = *round.counters;
    const Index watching = count.watching[lists.now], fresh = count.fresh[lists.now];
    for (long i = first; i < Offset{watching} + fresh; i += stride) {
        if (i < watching) {
            const Index k = lists.watching[i];
            const bool  any = settle(round, tile, k);
            if (any && tile.lane() == 0) append(k, lists.watching_next, &count.watching[lists.next]);
            continue;
        }
        const Index  k = lists.fresh[i - watching];
        const Status mine = round.at.priority[k];
        for_neighbours(round, tile, k, [&](Index j, Offset) {
            if (is_tentative(round, j) && mine < round.at.priority[j]) round.at.beaten[j] = 1;
        });
        if (round.at.used[k] > 0 && !ties_have_detours(round, tile, k) && tile.lane() == 0) reject(round, k);
    }
}

/// Decides about row k, one of those tentative now.
template <class V>
__device__ void confirm(const Round<V>& round, const Lists& lists, Index k)
{
    Status& status = round.at.status[k];
    if (status == rejected) {
        status = excluded;
    } else if (round.at.beaten[k]) {
        round.at.beaten[k] = 0;
        status = round.at.priority[k];
        append(k, lists.waiting_next, &round.counters->waiting[lists.next]);
    } else {
        status = chosen;
    }
}

/// All sweeps, until few rows wait or there were enough: one cooperative launch, whose blocks wait for one another four
/// times a sweep.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads, sweep_blocks<V>)
    sweep_rows(const __grid_constant__ Round<V> round, const __grid_constant__ ListRoom room)
{
    const auto        grid = cooperative_groups::this_grid();
    const Tile<lanes> tile;
    const long        tiles = static_cast<long>(gridDim.x) * Tile<lanes>::per_block;
    const auto        threads = static_cast<Index>(gridDim.x * blockDim.x);
    const Counters&   count = *round.counters;
    for (int sweep = 0;; ++sweep) {
        const Lists lists = room.of(sweep);
        const Index waiting = count.waiting[lists.now];
        if (waiting <= round.few || (round.bounds.most_sweeps > 0 && sweep == round.bounds.most_sweeps)) return;
        judge_rows(round, tile, lists, tile.in_grid(), tiles);
        grid.sync();
        for (Index i = thread_in_grid(); i < waiting; i += threads) resolve(round, lists, lists.waiting[i]);
        grid.sync();
        settle_rows(round, tile, lists, tile.in_grid(), tiles);
        grid.sync();
        const Index fresh = count.fresh[lists.now];
        for (Index i = thread_in_grid(); i < fresh; i += threads) confirm(round, lists, lists.fresh[i]);
        grid.sync();
    }
}

}  // namespace

/// Not more blocks than rows need: fewer wait for one another sooner.
template <Scalar S>
void sweep(Gpu& gpu, const RoundsState<S>& state, const Round<cuda::Value<S>>& round)
{
    ListRoom room{};
    std::ranges::copy(state.waiting, room.waiting);
    std::ranges::copy(state.watching, room.watching);
    std::ranges::copy(state.fresh, room.fresh);
    with_lanes(state, [&](auto lanes) {
        void*          arguments[] = {const_cast<Round<cuda::Value<S>>*>(&round), &room};
        const auto     kernel = sweep_rows<lanes(), cuda::Value<S>>;
        const auto     stream = cuda::stream(gpu);
        const unsigned needed = blocks_for(Offset{state.active_count} * lanes(), tile_threads);
        const int      most = cuda::blocks_a_multiprocessor(kernel, tile_threads) * gpu.multiprocessors();
        const unsigned blocks = std::min(needed, static_cast<unsigned>(most));
        check(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(tile_threads), arguments, 0, stream),
              "sweep_rows");
    });
}

template void sweep(Gpu&, const RoundsState<double>&, const Round<double>&);
template void sweep(Gpu&, const RoundsState<std::complex<double>>&, const Round<cuda::Complex<double>>&);

}  // namespace ilux::rounds
