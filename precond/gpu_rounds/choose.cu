// The pivots of a round: the twin of round_set.cpp and, for those chosen for other numbers, of round_replay.cpp. It
// needs no transpose: a row tells its columns what they have to know, by flags, counts and maxima, whose order does not
// matter.

#include <bit>
#include <cmath>

#include <cub/device/device_select.cuh>

#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/gpu_rounds/sweep.hpp"

namespace ilux::rounds {
namespace {

using cuda::check;

template <class V>
__global__ void forget_columns(Round<V> round)
{
    const Index k = round.row(thread_in_grid());
    if (k < 0) return;
    round.at.col_largest[k] = 0;
    round.at.col_degree[k] = 0;
}

/// Diagonal, largest entry off it, the room of a dominant row; its part of each column's degree and largest entry.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) inspect_rows(Round<V> round)
{
    const Tile<lanes> tile;
    const Index       k = round.row(tile.in_grid());
    if (k < 0) return;
    V      d{};
    double largest = 0;
    for_entries(round.S, tile, k, [&](Index j, Offset p) {
        const double size = modulus(round.S.val[p]);
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
    const double others = round.bounds.weak_coupling > 0 ? share_of_others(round, tile, k, d) : 2;
    const bool   dominant = others <= 1 + dominance_slack;
    if (tile.lane() != 0) return;
    round.at.diagonal[k] = d;
    round.at.scale[k].sized = sqrt(fmax(largest, modulus(d))) * fabs(round.at.scale[k].t);
    round.at.row_largest[k] = largest;
    round.at.spare[k] = modulus(d) * fmax(0., 1 - others);
    round.at.room[k] = dominant ? static_cast<long long>(round.bounds.weak_coupling * 0x1p40) : 0;
}

template <class V>
__device__ bool may_be_pivot(const Round<V>& round, Index k)
{
    const RoundBounds& b = round.bounds;
    const V            d = round.at.diagonal[k];
    const double       product = round.at.row_largest[k] * magnitude_of(round.at.col_largest[k]), size = modulus(d);
    const auto         estimate = [](FixedOf<V> w) { return 1 + modulus(from_fixed<32>(w)); };
    return size > b.pivot_floor && !(b.positive && cuda::real_part(d) <= 0) &&
           !(b.growth > 0 && product > b.growth * size) && estimate(round.at.w_L[k]) <= b.inverse &&
           estimate(round.at.w_U[k]) <= b.inverse;
}

template <class V>
__global__ void admit(Round<V> round, double longest, Index* waiting)
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

/// Sums over the pivots: how many entries their rows and columns have.
template <class V>
__global__ void add_up_pivots(Round<V> round, const Index* pivots)
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

template <Scalar S>
void select(Gpu& gpu, RoundsState<S>& state, bool pivots, Index* to, Index* count)
{
    std::size_t bytes = state.scratch_bytes;
    check(cub::DeviceSelect::If(state.scratch, bytes, state.active[state.now], to, count, state.active_count,
                                IsPivot{state.at.status, pivots}, cuda::stream(gpu)),
          "cub::DeviceSelect");
}

template <class V>
__global__ void exclude(Round<V> rows)
{
    const Index k = rows.row(thread_in_grid());
    if (k >= 0) rows.at.status[k] = excluded;
}

template <class V>
__global__ void accept(Round<V> rows, const Index* pivots, Index count)
{
    const Index i = thread_in_grid();
    if (i < count) rows.at.status[pivots[i]] = chosen;
}

constexpr Status sign_bit = Status{1} << 63;

/// Bits that compare as their numbers do, and back.
__device__ Status ordered_bits(double x)
{
    const Status bits = bits_of(x);
    return (bits & sign_bit) != 0 ? ~bits : bits | sign_bit;
}
double from_ordered_bits(Status bits)
{
    return std::bit_cast<double>((bits & sign_bit) != 0 ? bits & ~sign_bit : ~bits);
}

/// What is worst in a pivot that was chosen for other numbers.
template <class V>
__global__ void judge_kept(Round<V> rows, const Index* pivots, Index count, bool positive)
{
    const Index i = thread_in_grid();
    if (i >= count) return;
    const Index  k = pivots[i];
    const V      d = rows.at.diagonal[k];
    const double largest = rows.at.row_largest[k] * (magnitude_of(rows.at.col_largest[k]) / modulus(d));
    if (cuda::is_nan(d)) rows.counters->not_finite = 1;
    else raise(&rows.counters->smallest, ~ordered_bits(positive ? cuda::real_part(d) : modulus(d)));
    raise(&rows.counters->growth, bits_of(fabs(largest)));
    raise(&rows.counters->inverse_L, bits_of(1 + modulus(from_fixed<32>(rows.at.w_L[k]))));
    raise(&rows.counters->inverse_U, bits_of(1 + modulus(from_fixed<32>(rows.at.w_U[k]))));
}

template <Scalar S, class V>
void inspect(Gpu& gpu, const RoundsState<S>& state, const Round<V>& round)
{
    launch(gpu, forget_columns<V>, state.active_count, round);
    with_lanes(state,
               [&](auto lanes) { launch_tiles<lanes()>(gpu, inspect_rows<lanes(), V>, state.active_count, round); });
}

/// Lists of the pivots and of the rest, by what became of the rows.
template <Scalar S, class V>
void list(Gpu& gpu, RoundsState<S>& state, const Round<V>& round)
{
    select(gpu, state, true, state.pivots, &state.count->pivots);
    select(gpu, state, false, state.active[state.now ^ 1], &state.count->rest);
    launch(gpu, add_up_pivots<V>, state.active_count, round, state.pivots);
}

}  // namespace

template <Scalar S>
Counters choose_pivots(Gpu& gpu, RoundsState<S>& state, const RoundBounds& bounds)
{
    using V = cuda::Value<S>;
    const Index    rows = state.active_count;
    const Round<V> round{active_rows(state), bounds, static_cast<Index>(few_waiting * rows)};
    const double   longest = long_row * static_cast<double>(state.nnz) / std::max(rows, 1) + long_row_least;
    state.clear(gpu);
    inspect(gpu, state, round);
    launch(gpu, admit<V>, rows, round, longest, state.waiting[0]);
    sweep(gpu, state, round);
    list(gpu, state, round);
    return state.read(gpu);
}

template <Scalar S>
KeptPivots replay_pivots(Gpu& gpu, RoundsState<S>& state, DeviceSpan<const Index> pivots, bool positive)
{
    using V = cuda::Value<S>;
    const Round<V> round{active_rows(state), {}, 0};
    const auto     count = static_cast<Index>(pivots.size());
    state.clear(gpu);
    launch(gpu, exclude<V>, state.active_count, round);
    launch(gpu, accept<V>, count, round, pivots.data(), count);
    inspect(gpu, state, round);
    launch(gpu, judge_kept<V>, count, round, pivots.data(), count, positive);
    list(gpu, state, round);
    const Counters found = state.read(gpu);
    return {.counts = found,
            .worst = {.smallest = found.not_finite != 0 ? std::nan("") : from_ordered_bits(~found.smallest),
                      .growth = std::bit_cast<double>(found.growth),
                      .inverse_L = std::bit_cast<double>(found.inverse_L),
                      .inverse_U = std::bit_cast<double>(found.inverse_U)}};
}

#define ILUX_INSTANTIATE(S)                                                       \
    template Counters   choose_pivots(Gpu&, RoundsState<S>&, const RoundBounds&); \
    template KeptPivots replay_pivots(Gpu&, RoundsState<S>&, DeviceSpan<const Index>, bool);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
