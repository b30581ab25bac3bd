// One round eliminated: the twin of round_eliminate.cpp. A tile of lanes a row; rows of the next matrix by the size of their table.

#include <bit>
#include <cfloat>

#include "ilux/precond/gpu_rounds/device_table.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/mlilu/sparse_accumulator.hpp"

namespace ilux::rounds {
namespace {

constexpr int   largest_table = 16384;
constexpr Index longest_L = 8192;

/// Rows by the table that they need.
struct Bins {
    Index* rows[8];
};

/// The table, 32 to largest_table slots, of a row with so many terms: three quarters of its slots, or the largest.
__device__ int table_for(Offset terms)
{
    constexpr int slots[] = {32, 64, 128, 256, 512, 1024, 4096};
    int           size = 0;
    while (size < 7 && 4 * terms > 3 * Offset{slots[size]}) ++size;
    return size;
}

struct Round {
    RowsView      S;
    RowArrays     at;
    Counters*     counters;
    RoundDropping dropping;

    const Index *pivots, *rest;
    Index        pivot_count, rest_count, first_place;
    Index*       number;
    double*      pivot;  ///< by place
    Index*       U_col;
    double*      U_val;
    Index*       L_col;  ///< of a row, by number of the pivot
    double*      L_val;

    __device__ bool is_pivot(Index k) const { return at.status[k] == chosen; }
};

/// The e_k = ±1 that makes |y_k| largest.
__device__ double greedy(long long w)
{
    const double value = from_fixed<32>(w);
    return (value > 0 ? -1. : 1.) - value;
}

constexpr double largest_step = 4096;  // of an estimate; |w| stays far from the range of Fixed

__device__ void add_to(long long* w, double step)
{
    atomicAdd(reinterpret_cast<unsigned long long*>(w), static_cast<unsigned long long>(fixed<32>(step, largest_step)));
}

/// D, U, y and z of a pivot, and its part of the estimates of the columns.
template <int lanes>
__global__ void __launch_bounds__(tile_threads) take_pivots(Round round)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    const bool        is = i < round.pivot_count;
    const Index       k = is ? round.pivots[i] : 0;
    const Offset      begin = is ? round.S.start[k] : 0, end = is ? begin + round.S.length[k] : 0;
    const double      diagonal = is ? round.at.diagonal[k] : 1;
    Fixed             weak = 0;
    Index             count = 0;
    for (Offset p = begin + tile.lane(); p < end; p += lanes) {
        const Index j = round.S.col[p];
        if (!round.is_pivot(j)) ++count;
        else if (j != k && round.dropping.compensate)
            weak += fixed<50>(round.S.val[p] * (round.at.scale[j].t / round.at.scale[k].t) / diagonal, 8);
    }
    count = tile.sum(count);
    weak = tile.sum(weak);
    double d = diagonal + diagonal * from_fixed<50>(weak);
    if (fabs(d) < least_diagonal * fabs(diagonal)) d = diagonal;
    const Offset start =
        room_for<Tile<lanes>::per_block>(is ? count : 0, tile.in_block(), tile.lane() == 0, &round.counters->U_entries);
    if (!is) return;
    const double y = greedy(round.at.w_L[k]), z = greedy(round.at.w_U[k]);
    double       largest = 0;
    Index        next = 0;
    for (Offset from = begin; from < end; from += lanes) {
        const Offset p = from + tile.lane();
        const Index  j = p < end ? round.S.col[p] : k;
        const bool   stays = j != k && !round.is_pivot(j);
        const Index  place = tile.place(stays, next);
        if (!stays) continue;
        const double s = round.S.val[p], u = s / d;
        round.U_col[start + place] = j;
        round.U_val[start + place] = u;
        largest = fmax(largest, fabs(s));
        add_to(round.at.w_U + j, u * z);
    }
    largest = tile.max(largest);
    if (tile.lane() != 0) return;
    round.at.pivot[k] = {d, largest, start, count};
    round.at.y[k] = y;
    round.at.z[k] = z;
    const Index place = round.first_place + static_cast<Index>(i);
    round.at.place[k] = place;
    round.number[place] = k;
    round.pivot[place] = d / (round.at.row_fold[k] * round.at.col_fold[k]);
    raise(&round.counters->inverse_L, bits_of(fabs(y)));
    raise(&round.counters->inverse_U, bits_of(fabs(z)));
}

/// L of a row that stays, its estimate, and the size of table that it needs.
template <int lanes>
__global__ void __launch_bounds__(tile_threads)
    split_rest(Round round, LEntry* L, Index* unsorted_col, double* unsorted_val, Bins bins)
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
    Index next = 0;
    Fixed w = 0;
    for (Offset from = begin; from < end && count > 0; from += lanes) {
        const Offset p = from + tile.lane();
        const Index  k = p < end ? round.S.col[p] : r;
        const bool   goes = k != r && round.is_pivot(k);
        const Index  place = tile.place(goes, next);
        if (!goes) continue;
        const double l = round.S.val[p] / round.at.pivot[k].d;
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
        const double l = unsorted_val[start + e];
        round.L_col[start + rank] = k;
        round.L_val[start + rank] = l;
        L[start + rank] = {l * (round.at.row_fold[k] / fold), r, before + rank, round.at.place[k]};
    }
    if (tile.lane() != 0) return;
    round.at.w_L[r] += w;
    round.at.L_start[r] = start;
    round.at.L_length[r] = count;
    round.at.L_total[r] = before + count;
    const int size = table_for(terms);
    bins.rows[size][atomicAdd(round.counters->bin + size, 1)] = r;
}

/// Where the rows of the next matrix go.
struct NextRows {
    Offset* start;
    Index*  length;
    Index*  col;
    double* val;
    Offset  capacity;
};

/// The diagonal with `lumped` added, as in round_eliminate.cpp. @param kept  not finite: no compensation
__device__ double compensated(double d, double lumped, double kept)
{
    const double size = fabs(d), least = fmax(kept, least_diagonal * size), sum = d + lumped;
    if (!(size > least) || !isfinite(sum) || !isfinite(kept)) return d;
    return sum * d <= 0 || fabs(sum) < least ? d * (least / size) : sum;
}

/// table ← table − (l u) d by the row of U of one pivot, at `begin`.
template <class Group, int slots>
__device__ void add_update(const Group& group, const Round& round, double l, double d, Offset begin, Index length,
                           Table<slots>& table, bool& full)
{
    for (Index e = group.lane(); e < length; e += Group::size) {
        const int s = table.find(round.U_col[begin + e]);
        if (s < 0) full = true;
        else table.val[s] = __dadd_rn(table.val[s], __dmul_rn(-__dmul_rn(l, round.U_val[begin + e]), d));
    }
    group.sync();
}

/// The same for all pivots of row r, in their order, so that every sum has one value.
/// @return the largest magnitude of a term
template <class Group, int slots>
__device__ double add_updates(const Group& group, const Round& round, Index r, Table<slots>& table, bool& full)
{
    const Offset start = round.at.L_start[r];
    const Index  count = round.at.L_length[r];
    double       largest = 0;
    if (count == 0) return 0;
    double l = round.L_val[start];
    Pivot  pivot = round.at.pivot[round.L_col[start]];
    for (Index e = 0; e < count; ++e) {
        const double l_now = l;
        const Pivot  now = pivot;
        if (e + 1 < count) {  // read ahead of the update
            l = round.L_val[start + e + 1];
            pivot = round.at.pivot[round.L_col[start + e + 1]];
        }
        largest = fmax(largest, fabs(l_now) * now.largest_in_U);
        add_update<Group, slots>(group, round, l_now, now.d, now.U_start, now.U_length, table, full);
    }
    return largest;
}

/// Which entries of a row go; as in round_eliminate.cpp. Entries of t are powers of two: weighing by them does not round.
struct DropRule {
    const RoundDropping& dropping;
    Index                r;
    double               noise;         ///< up to where an entry is what cancellation leaves
    double               largest;       ///< entry of the row
    double               size, before;  ///< roots of it, now and when the round began

    /// @param weighted, sized  s t_j / t_r and √m_j |t_j / t_r| where it is compensated; else √m_j, where S is symmetric
    __device__ bool goes(Index j, double s, double weighted, double sized) const
    {
        const double magnitude = fabs(s), tol = dropping.drop_tol;
        if (j == r || (!dropping.hermitian && magnitude <= noise)) return magnitude <= noise;
        const double by_both = dropping.hermitian ? noise_level * before * sized : 0;
        if (dropping.compensate) {
            const double least = fmin(dropping.hermitian ? before : size, sized);
            return fabs(weighted) <= fmin(fmax(tol * (least * least), by_both), DBL_MAX);
        }
        const double bound = dropping.hermitian ? fmax(tol * before * sized, by_both) : tol * largest;
        return magnitude <= fmin(bound, DBL_MAX);
    }
};

/// A row of the next matrix summed up in `table`. @return the largest magnitude of a term
template <class Group, int slots>
__device__ double sum_row(const Group& group, const Round& round, bool is, Index r, Table<slots>& table)
{
    for (int s = group.lane(); s < slots; s += Group::size) {
        table.col[s] = Table<slots>::free;
        table.val[s] = 0;
    }
    group.sync();
    const Offset begin = is ? round.S.start[r] : 0, end = is ? begin + round.S.length[r] : 0;
    double       largest = 0;
    bool         full = false;
    for (Offset p = begin + group.lane(); p < end; p += Group::size)
        if (const Index j = round.S.col[p]; !round.is_pivot(j)) {
            const double s = round.S.val[p];
            const int    place = table.find(j);
            if (place < 0) full = true;
            else table.val[place] = s;
            largest = fmax(largest, fabs(s));
        }
    group.sync();
    if (is) largest = fmax(largest, add_updates<Group, slots>(group, round, r, table, full));
    if (full) round.counters->too_wide = 1;
    return group.max(largest);
}

/// What the drop rule reads of a column, and the entry weighted by t.
struct Column {
    double weighted, sized;

    /// @param by_t  1 / t_r
    __device__ Column(const Round& round, Index r, Index j, double s, double by_t) : weighted(0), sized(0)
    {
        if (j == r) return;
        if (round.dropping.compensate) {
            const Scale scale = round.at.scale[j];
            weighted = s * (scale.t * by_t);
            sized = scale.sized * fabs(by_t);
        } else if (round.dropping.hermitian) {
            sized = sqrt(fmax(round.at.row_largest[j], fabs(round.at.diagonal[j])));
        }
    }
};

/// The largest entry of a row, and the largest weighted one off the diagonal.
struct Extent {
    double largest = 0, heaviest = 0;
};
template <class Group, int slots>
__device__ Extent extent_of(const Group& group, const Round& round, Index r, double by_t, const Table<slots>& table)
{
    Extent extent;
    for (int s = group.lane(); s < slots; s += Group::size)
        if (const Index j = table.col[s]; j >= 0) {
            const double size = fabs(table.val[s]);
            extent.largest = fmax(extent.largest, size);
            if (!isfinite(size)) round.counters->not_finite = 1;
            if (round.dropping.compensate)
                extent.heaviest = fmax(extent.heaviest, fabs(Column(round, r, j, table.val[s], by_t).weighted));
        }
    return {group.max(extent.largest), group.max(extent.heaviest)};
}

/// What stays of a thread's places of the table, a bit a place; of the whole row, how many and the sums.
struct Verdict {
    unsigned stays = 0;
    Index    count = 0;
    double   lumped = 0, kept = 0;  ///< Σ s_rj t_j / t_r of what goes; Σ of its magnitudes of what stays
};
template <class Group, int slots>
__device__ Verdict judge(const Group& group, const Round& round, const DropRule& rule, double by_t, double heaviest,
                         const Table<slots>& table)
{
    static_assert(slots / Group::size <= 32);
    Verdict      verdict;
    Fixed        lumped = 0, kept = 0;
    const bool   sums = heaviest > 0 && isfinite(heaviest);
    const double unit = sums ? scalbn(1., ilogb(heaviest)) : 1, by_unit = 1 / unit;
    for (int s = group.lane(), place = 0; s < slots; s += Group::size, ++place) {
        const Index j = table.col[s];
        if (j < 0) continue;
        const double value = table.val[s];
        const Column column(round, rule.r, j, value, by_t);
        const bool   goes = rule.goes(j, value, column.weighted, column.sized);
        if (!goes) verdict.stays |= 1U << place, ++verdict.count;
        if (!sums) continue;
        if (goes) lumped += fixed<46>(column.weighted * by_unit, 2);
        else kept += fixed<46>(fabs(column.weighted) * by_unit, 2);
    }
    verdict.count = group.sum(verdict.count);
    verdict.lumped = unit * from_fixed<46>(group.sum(lumped));
    verdict.kept = sums ? unit * from_fixed<46>(group.sum(kept)) : heaviest;
    return verdict;
}

/// A row of the next matrix, by each group of the block. Every thread of the block comes here.
template <class Group, int slots>
__device__ void form_row(const Group& group, const Round& round, bool is, Index r, void* memory, const NextRows& to)
{
    Table<slots>   table(memory, Group::in_block(), Group::per_block);
    const double   noise = noise_level * sum_row<Group, slots>(group, round, is, r, table);
    const double   by_t = is ? 1 / round.at.scale[r].t : 1;
    const auto     extent = extent_of<Group, slots>(group, round, r, by_t, table);
    const double   before = is ? sqrt(fmax(round.at.row_largest[r], fabs(round.at.diagonal[r]))) : 0;
    const DropRule rule{round.dropping, r, fmin(noise, DBL_MAX), extent.largest, sqrt(extent.largest), before};
    const auto     verdict = judge<Group, slots>(group, round, rule, by_t, extent.heaviest, table);
    const Offset   start =
        room_for<Group::per_block>(verdict.count, Group::in_block(), group.lane() == 0, &round.counters->entries);
    const bool fits = start + verdict.count <= to.capacity;
    if (!fits) round.counters->overflow = 1;
    Index next = 0;
    for (int s = group.lane(), e = 0; s < slots; s += Group::size, ++e) {
        const bool  stays = (verdict.stays >> e & 1) != 0;
        const Index place = group.place(stays, next);
        if (!stays || !fits) continue;
        const Index j = table.col[s];
        double      value = table.val[s];
        if (j == r && round.dropping.compensate) value = compensated(value, verdict.lumped, verdict.kept);
        to.col[start + place] = j;
        to.val[start + place] = value;
    }
    if (!is || group.lane() != 0) return;
    to.start[r] = start;
    to.length[r] = verdict.count;
}

/// Takes the scales of later levels out of the rows of U.
template <int lanes>
__global__ void __launch_bounds__(tile_threads) fold_U(Round round)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    if (i >= round.pivot_count) return;
    const Index  k = round.pivots[i];
    const Offset begin = round.at.pivot[k].U_start, end = begin + round.at.pivot[k].U_length;
    const double fold = round.at.col_fold[k];
    for (Offset p = begin + tile.lane(); p < end; p += lanes)
        round.U_val[p] *= fold / round.at.col_fold[round.U_col[p]];
}

template <class Group, int slots, int threads>
__global__ void __launch_bounds__(threads, threads == tile_threads ? 4 : 1)
    form_rows(Round round, const Index* rows, Index count, NextRows to)
{
    extern __shared__ double memory[];
    const Group              group;
    const long               i = Group::in_grid();
    const bool               is = i < count;
    form_row<Group, slots>(group, round, is, is ? rows[i] : 0, memory, to);
}

template <class Group, int slots, int threads>
void form(Gpu& gpu, const Round& round, const Index* rows, Index count, const NextRows& to)
{
    if (count == 0) return;
    constexpr std::size_t bytes = Group::per_block * Table<slots>::bytes;
    const auto            kernel = form_rows<Group, slots, threads>;
    cuda::allow_shared(gpu, kernel);
    kernel<<<blocks_for(count, Group::per_block), threads, bytes, cuda::stream(gpu)>>>(round, rows, count, to);
    cuda::check_launch("form_rows");
}

void form_next(Gpu& gpu, const RoundsState& state, const Round& round, const Counters& found, const NextRows& to)
{
    const auto& bin = state.bin;
    const auto& count = found.bin;
    form<Tile<8>, 32, tile_threads>(gpu, round, bin[0], count[0], to);
    form<Tile<8>, 64, tile_threads>(gpu, round, bin[1], count[1], to);
    form<Tile<16>, 128, tile_threads>(gpu, round, bin[2], count[2], to);
    form<Tile<32>, 256, tile_threads>(gpu, round, bin[3], count[3], to);
    form<Tile<32>, 512, tile_threads>(gpu, round, bin[4], count[4], to);
    form<Tile<32>, 1024, tile_threads>(gpu, round, bin[5], count[5], to);
    form<BlockGroup<256>, 4096, 256>(gpu, round, bin[6], count[6], to);
    form<BlockGroup<512>, largest_table, 512>(gpu, round, bin[7], count[7], to);
}

/// The same again with more room while there was too little.
Counters form_until_it_fits(Gpu& gpu, RoundsState& state, const Round& round, const Counters& found)
{
    const int next = state.now ^ 1;
    for (;;) {
        auto& to = state.entries[next];
        if (to.capacity() == 0)
            to = Entries(static_cast<std::size_t>(state.nnz) + static_cast<std::size_t>(state.nnz) / 4);
        form_next(gpu, state, round, found,
                  {state.start[next], state.length[next], to.col.data(), to.val.data(),
                   static_cast<Offset>(to.capacity())});
        const Counters now = state.read(gpu);
        if (now.overflow == 0 || now.too_wide != 0) return now;
        const auto needed = static_cast<std::size_t>(now.entries);
        to = Entries();
        to = Entries(needed + needed / 8);
        cuda::check(cudaMemsetAsync(&state.count->entries, 0, sizeof(Status), cuda::stream(gpu)), "cudaMemsetAsync");
        cuda::check(cudaMemsetAsync(&state.count->overflow, 0, sizeof(Index), cuda::stream(gpu)), "cudaMemsetAsync");
    }
}

}  // namespace

const char* eliminate(Gpu& gpu, RoundsState& state, const Counters& set, const RoundDropping& dropping)
{
    const auto stream = cuda::stream(gpu);
    Bins       bins{};
    std::ranges::copy(state.bin, bins.rows);
    const auto   usual = static_cast<std::size_t>(state.nnz);
    RoundFactors made{.first = state.done,
                      .last = state.done + set.pivots,
                      .L = state.L.reserve(set.pivot_cols, usual),
                      .U_col = state.U_col.reserve(set.pivot_rows, usual),
                      .U_val = state.U_val.reserve(set.pivot_rows, usual)};
    for (Entries* scratch : {&state.unsorted, &state.sorted})
        if (scratch->capacity() < set.pivot_cols) *scratch = Entries(set.pivot_cols);
    const Round round{.S = state.rows(),
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
    by_tiles(state, set.pivots,
             [&](auto lanes, unsigned blocks) { take_pivots<lanes()><<<blocks, tile_threads, 0, stream>>>(round); });
    by_tiles(state, set.rest, [&](auto lanes, unsigned blocks) {
        split_rest<lanes()><<<blocks, tile_threads, 0, stream>>>(round, made.L, state.unsorted.col.data(),
                                                                 state.unsorted.val.data(), bins);
    });
    cuda::check_launch("split_rest");
    const Counters split = state.read(gpu);
    if (split.too_wide != 0) return "a row has too many pivots in one round";
    const Counters next = form_until_it_fits(gpu, state, round, split);
    if (next.too_wide != 0) return "a row is too wide for the device's tables";
    if (next.not_finite != 0) return "numbers overflowed";
    if (!state.first_level) {
        by_tiles(state, set.pivots,
                 [&](auto lanes, unsigned blocks) { fold_U<lanes()><<<blocks, tile_threads, 0, stream>>>(round); });
        cuda::check_launch("fold_U");
    }
    made.L_count = static_cast<Offset>(split.L_entries);
    state.L_entries += made.L_count;
    state.U_entries += static_cast<Offset>(split.U_entries);
    state.inverse_L = std::max(state.inverse_L, std::bit_cast<double>(split.inverse_L));
    state.inverse_U = std::max(state.inverse_U, std::bit_cast<double>(split.inverse_U));
    state.L.take(static_cast<std::size_t>(made.L_count));
    state.U_col.take(static_cast<std::size_t>(split.U_entries));
    state.U_val.take(static_cast<std::size_t>(split.U_entries));
    state.rounds.push_back(made);
    state.done += set.pivots;
    state.nnz = static_cast<Offset>(next.entries);
    state.turn(set.rest);
    return "";
}

}  // namespace ilux::rounds
