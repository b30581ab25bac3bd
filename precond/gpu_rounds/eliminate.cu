// One round eliminated: the twin of round_eliminate.cpp. A tile of lanes a row; rows of the next matrix by the size of
// their table.

#include <bit>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/eliminate.hpp"

namespace ilux::rounds {
namespace {

constexpr Index longest_L = 8192;  // of a row in one round

/// Rows by the table that they need.
struct Bins {
    Index* rows[8];
};

/// The table, 32 to largest_table slots, of a row with so many terms: three quarters of its slots, or the largest.
__device__ int table_for(Offset terms)
{
    int size = 0;
    while (size < 6 && 4 * terms > 3 * (Offset{32} << size)) ++size;
    return size == 6 && 4 * terms > 3 * Offset{4096} ? 7 : size;
}

/// y_k by the e_k of modulus 1, so ±1 for real numbers, that makes it largest.
__device__ double greedy(Fixed w)
{
    const double value = from_fixed<32>(w);
    return (value > 0 ? -1. : 1.) - value;
}
__device__ cuda::Complex<double> greedy(cuda::Complex<Fixed> w)
{
    const auto   value = from_fixed<32>(w);
    const double size = modulus(value);
    if (size == 0) return {1, 0};
    return {-value.re / size - value.re, -value.im / size - value.im};
}

constexpr double largest_share =
    8;  // of a pivot that another one of its round has; only pivots chosen for other numbers reach it

constexpr double largest_step = 4096;  // of an estimate; |w| stays far from the range of Fixed

template <class V>
__device__ void add_to(FixedOf<V>* w, V step)
{
    add_fixed(w, fixed<32>(step, largest_step));
}

/// What the threads of a block have cut: one request for all, once they have met after the first of the two calls.
class CutOfBlock {
public:
    __device__ explicit CutOfBlock(Fixed cut)
    {
        const Tile<32> warp;
        cut = warp.sum(cut);
        if (warp.lane() == 0) of_warp()[threadIdx.x / 32] = cut;
    }
    __device__ void add_to(Counters* counters) const
    {
        if (threadIdx.x != 0) return;
        Fixed sum = 0;
        for (int w = 0; w < tile_threads / 32; ++w) sum += of_warp()[w];
        if (sum != 0) atomicAdd(&counters->cut, static_cast<unsigned long long>(sum));
    }

private:
    __device__ static Fixed* of_warp()
    {
        __shared__ Fixed sums[tile_threads / 32];
        return sums;
    }
};

/// What a coupling to another pivot of the round adds to the diagonal, relative to it. @param s  s_kj / s_kk
template <class V>
__device__ V added_by(const Elimination<V>& round, Index k, Index j, V s, V share)
{
    if (round.dropping.lump) return cuda::from_real<V>(modulus(s));
    return round.at.vector_count > 0 ? weight_of_several(round.at, k, j) * s : share;
}

/// The diagonal with what was cut from its row. @param added  relative to it
template <class V>
__device__ V with_cut(const RoundDropping& dropping, V diagonal, V added)
{
    if (dropping.lump) return on_diagonal(dropping.mirror, diagonal + modulus(diagonal) * added);
    if (!dropping.compensate) return on_diagonal(dropping.mirror, diagonal);
    const V d = on_diagonal(dropping.mirror, diagonal + diagonal * added);
    return modulus(d) < least_diagonal * modulus(diagonal) ? diagonal : d;
}

/// D, U, y and z of a pivot, and its part of the estimates of the columns.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) take_pivots(Elimination<V> round)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    const bool        is = i < round.pivot_count;
    const Index       k = is ? round.pivots[i] : 0;
    const Offset      begin = is ? round.S.start[k] : 0, end = is ? begin + round.S.length[k] : 0;
    const V           diagonal = is ? round.at.diagonal[k] : cuda::from_real<V>(1);
    const Divisor<V>  by_diagonal(diagonal);
    FixedOf<V>        weak{};
    Fixed             cut = 0;
    Index             count = 0;
    for (Offset p = begin + tile.lane(); p < end; p += lanes) {
        const Index j = round.S.col[p];
        if (!round.is_pivot(j)) {
            ++count;
        } else if (j != k) {
            const V      s = by_diagonal(round.S.val[p]), share = (round.at.scale[j].t / round.at.scale[k].t) * s;
            const double size = modulus(share);
            weak += fixed<50>(added_by(round, k, j, s, share), largest_share);
            cut += fixed<30>(size, largest_share);
            if (!((round.dropping.lump ? modulus(s) : size) <= largest_share)) round.counters->clipped = 1;
        }
    }
    count = tile.sum(count);
    weak = tile.sum(weak);
    const CutOfBlock cut_of_block(cut);
    const V          d = with_cut(round.dropping, diagonal, from_fixed<50>(weak));
    const Offset     start =
        room_for<Tile<lanes>::per_block>(is ? count : 0, tile.in_block(), tile.lane() == 0, &round.counters->U_entries);
    cut_of_block.add_to(round.counters);
    if (!is) return;
    const Divisor<V> by_pivot(d);
    const V          y = greedy(round.at.w_L[k]), z = greedy(round.at.w_U[k]);
    double           largest = 0;
    Index            next = 0;
    for (Offset from = begin; from < end; from += lanes) {
        const Offset p = from + tile.lane();
        const Index  j = p < end ? round.S.col[p] : k;
        const bool   stays = j != k && !round.is_pivot(j);
        const Index  place = tile.place(stays, next);
        if (!stays) continue;
        const V s = round.S.val[p], u = by_pivot(s);
        round.U_col[start + place] = j;
        round.U_val[start + place] = u;
        largest = fmax(largest, modulus(s));
        add_to<V>(round.at.w_U + j, u * z);
    }
    largest = tile.max(largest);
    if (tile.lane() != 0) return;
    round.at.pivot[k] = {d, largest, start, count};
    round.at.y[k] = y;
    round.at.z[k] = z;
    const Index place = round.first_place + static_cast<Index>(i);
    round.at.place[k] = place;
    round.number[place] = k;
    round.pivot[place] = cuda::divided(d, round.at.row_fold[k] * round.at.col_fold[k]);
    raise(&round.counters->inverse_L, bits_of(modulus(y)));
    raise(&round.counters->inverse_U, bits_of(modulus(z)));
}

/// L of a row that stays, its estimate, and the size of table that it needs.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) split_rest(Elimination<V> round, LEntry<V>* L, Index* unsorted_col,
                                                           V* unsorted_val, const __grid_constant__ Bins bins)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    const bool        is = i < round.rest_count;
    const Index       r = is ? round.rest[i] : 0;
    const Offset      begin = is ? round.S.start[r] : 0, end = is ? begin + round.S.length[r] : 0;
    Index             count = 0;
    Offset            terms = 0;
    for (Offset p = begin + tile.lane(); p < end; p += lanes)
        if (const Index k = round.S.col[p]; round.is_pivot(k)) {
            ++count;
            terms += round.at.pivot[k].U_length;
        }
    count = tile.sum(count);
    terms = tile.sum(terms) + (end - begin) - count;
    const Offset start =
        room_for<Tile<lanes>::per_block>(is ? count : 0, tile.in_block(), tile.lane() == 0, &round.counters->L_entries);
    if (!is) return;
    if (count > longest_L) {  // to be sorted by comparing all with all
        round.counters->too_wide = 1;
        return;
    }
    Index      next = 0;
    FixedOf<V> w{};
    for (Offset from = begin; from < end && count > 0; from += lanes) {
        const Offset p = from + tile.lane();
        const Index  k = p < end ? round.S.col[p] : r;
        const bool   goes = k != r && round.is_pivot(k);
        const Index  place = tile.place(goes, next);
        if (!goes) continue;
        const V l = Divisor<V>(round.at.pivot[k].d)(round.S.val[p]);
        unsorted_col[start + place] = k;
        unsorted_val[start + place] = l;
        w += fixed<32>(l * round.at.y[k], largest_step);
    }
    w = tile.sum(w);
    tile.sync();
    const Index  before = round.at.L_total[r];
    const double fold = round.at.row_fold[r];
    for (Index e = tile.lane(); e < count; e += lanes) {
        const Index k = unsorted_col[start + e];
        Index       rank = 0;
        for (Index other = 0; other < count; ++other) rank += unsorted_col[start + other] < k;
        const V l = unsorted_val[start + e];
        round.L_col[start + rank] = k;
        round.L_val[start + rank] = l;
        L[start + rank] = {(round.at.row_fold[k] / fold) * l, r, before + rank, round.at.place[k]};
    }
    if (tile.lane() != 0) return;
    round.at.w_L[r] += w;
    round.at.L_start[r] = start;
    round.at.L_length[r] = count;
    round.at.L_total[r] = before + count;
    append<8>(r, table_for(terms), bins.rows, round.counters->bin);
}

/// Takes the scales of later levels out of the rows of U.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) fold_U(Elimination<V> round)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    if (i >= round.pivot_count) return;
    const Index    k = round.pivots[i];
    const Pivot<V> pivot = round.at.pivot[k];
    const double   fold = round.at.col_fold[k];
    for (Offset p = pivot.U_start + tile.lane(); p < pivot.U_start + pivot.U_length; p += lanes)
        round.U_val[p] = (fold / round.at.col_fold[round.U_col[p]]) * round.U_val[p];
}

}  // namespace

template <Scalar S>
const char* eliminate(Gpu& gpu, RoundsState<S>& state, const Counters& set, const RoundDropping& dropping)
{
    using V = cuda::Value<S>;
    Bins bins{};
    std::ranges::copy(state.bin, bins.rows);
    const auto      usual = static_cast<std::size_t>(state.nnz);
    RoundFactors<V> made{.first = state.done,
                         .last = state.done + set.pivots,
                         .L = state.L.reserve(set.pivot_cols, usual),
                         .U_col = state.U_col.reserve(set.pivot_rows, usual),
                         .U_val = state.U_val.reserve(set.pivot_rows, usual)};
    for (Entries<V>* scratch : {&state.unsorted, &state.sorted})
        if (scratch->capacity() < set.pivot_cols) *scratch = Entries<V>(set.pivot_cols);
    const Elimination<V> round{.S = state.rows(),
                               .at = state.at,
                               .counters = state.count,
                               .dropping = dropping,
                               .pivots = state.pivots,
                               .rest = state.active[state.now ^ 1],
                               .pivot_count = set.pivots,
                               .rest_count = set.rest,
                               .first_place = state.done,
                               .number = state.number,
                               .pivot = state.pivot,
                               .U_col = made.U_col,
                               .U_val = made.U_val,
                               .L_col = state.sorted.col.data(),
                               .L_val = state.sorted.val.data()};
    state.clear(gpu);
    with_lanes(state, [&](auto lanes) {
        launch_tiles<lanes()>(gpu, take_pivots<lanes(), V>, set.pivots, round);
        launch_tiles<lanes()>(gpu, split_rest<lanes(), V>, set.rest, round, made.L, state.unsorted.col.data(),
                              state.unsorted.val.data(), bins);
    });
    const Counters split = state.read(gpu);
    if (split.too_wide != 0) return "a row has too many pivots in one round";
    if (split.clipped != 0)
        return "a pivot is far smaller than its coupling to another one of its round, or not a number";
    const Counters next = form_next(gpu, state, round, split);
    if (next.too_wide != 0) return "a row is too wide for the device's tables";
    if (next.not_finite != 0) return "numbers that are not finite";
    if (!state.first_level)
        with_lanes(state, [&](auto lanes) { launch_tiles<lanes()>(gpu, fold_U<lanes(), V>, set.pivots, round); });
    made.L_count = static_cast<Offset>(split.L_entries);
    made.U_count = static_cast<Offset>(split.U_entries);
    state.L_entries += made.L_count;
    state.U_entries += made.U_count;
    state.inverse_L = std::max(state.inverse_L, std::bit_cast<double>(split.inverse_L));
    state.inverse_U = std::max(state.inverse_U, std::bit_cast<double>(split.inverse_U));
    state.cut += std::ldexp(static_cast<double>(split.cut), -30);
    state.L.take(static_cast<std::size_t>(made.L_count));
    state.U_col.take(static_cast<std::size_t>(split.U_entries));
    state.U_val.take(static_cast<std::size_t>(split.U_entries));
    state.rounds.push_back(made);
    state.done += set.pivots;
    state.nnz = static_cast<Offset>(next.entries);
    state.turn(set.rest);
    return "";
}

#define ILUX_INSTANTIATE(S) \
    template const char* eliminate(Gpu&, RoundsState<S>&, const Counters&, const RoundDropping&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
