// The next round's matrix: every row summed up in a table of shared memory, its entries dropped and the diagonal
// compensated, as in round_eliminate.cpp. Rows that need tables of one size share a launch.

#include <cfloat>

#include "ilux/precond/gpu_rounds/device_table.hpp"
#include "ilux/precond/gpu_rounds/eliminate.hpp"

namespace ilux::rounds {
namespace {

/// Where the rows of the next matrix go.
template <class V>
struct NextRows {
    Offset* start;
    Index*  length;
    Index*  col;
    V*      val;
    Offset  capacity;
};

/// The diagonal with `lumped` added, as in round_eliminate.cpp. @param kept  not finite: no compensation
template <class V>
__device__ V compensated(Mirror mirror, V d, V lumped, double kept)
{
    const double size = modulus(d), least = fmax(kept, least_diagonal * size);
    const V      sum = on_diagonal(mirror, d + lumped);
    if (!(size > least) || !cuda::is_finite(sum) || !isfinite(kept)) return d;
    return cuda::real_part(sum * cuda::conjugate(d)) <= 0 || modulus(sum) < least ? (least / size) * d : sum;
}

/// table ← table − (l u) d by the row of U of one pivot, at `begin`.
template <class Group, int slots, class V>
__device__ void add_update(const Group& group, const Elimination<V>& round, V l, V d, Offset begin, Index length,
                           Table<V, slots>& table, bool& full)
{
    for (Index e = group.lane(); e < length; e += Group::size)
        if (!table.add(round.U_col[begin + e], plain_product(negated(plain_product(l, round.U_val[begin + e])), d)))
            full = true;
    group.sync();
}

/// Updates the table by all pivots of row r, in their order, so that every sum has one value.
/// @return the largest magnitude of a term
template <class Group, int slots, class V>
__device__ double add_updates(const Group& group, const Elimination<V>& round, Index r, Table<V, slots>& table,
                              bool& full)
{
    const Offset start = round.at.L_start[r];
    const Index  count = round.at.L_length[r];
    double       largest = 0;
    if (count == 0) return 0;
    V        l = round.L_val[start];
    Pivot<V> pivot = round.at.pivot[round.L_col[start]];
    for (Index e = 0; e < count; ++e) {
        const V        l_now = l;
        const Pivot<V> now = pivot;
        if (e + 1 < count) {  // read ahead of the update
            l = round.L_val[start + e + 1];
            pivot = round.at.pivot[round.L_col[start + e + 1]];
        }
        largest = fmax(largest, modulus(l_now) * now.largest_in_U);
        add_update<Group, slots, V>(group, round, l_now, now.d, now.U_start, now.U_length, table, full);
    }
    return largest;
}

/// What the drop rule reads of a column, and how its entry is weighted by t.
struct Column {
    double weight;  ///< t_j / t_r with compensation and off the diagonal, else 0
    double sized;   ///< √m_j; with compensation √m_j |t_j|, and unless S is Hermitian over |t_r|
    double by_t;    ///< 1 / |t_j|, where S is Hermitian

    /// @param by_t_r  1 / t_r
    template <class V>
    __device__ Column(const Elimination<V>& round, Index r, Index j, double by_t_r) : weight(0), sized(0), by_t(1)
    {
        if (j == r) return;
        const bool hermitian = round.dropping.mirror != Mirror::none;
        if (round.dropping.compensate) {
            const Scale scale = round.at.scale[j];
            weight = scale.t * by_t_r;
            sized = hermitian ? scale.sized : scale.sized * fabs(by_t_r);
            if (hermitian) by_t = 1 / fabs(scale.t);
        } else if (hermitian) {
            sized = sqrt(fmax(round.at.row_largest[j], modulus(round.at.diagonal[j])));
        }
    }
};

/// Which entries of a row go; as in round_eliminate.cpp. Where S is Hermitian s_rj and s_jr have one bound, to the last
/// bit.
struct DropRule {
    const RoundDropping& dropping;
    Index                r;
    double               noise;    ///< up to where an entry is what cancellation leaves
    double               largest;  ///< entry of the row
    double               size;     ///< its root
    double               sized;    ///< √m_r, m of when the round began; with compensation √m_r |t_r|
    double               by_t;     ///< 1 / |t_r|

    /// @param entry  |s_rj|
    __device__ bool goes(Index j, double entry, const Column& column) const
    {
        const double tol = dropping.drop_tol;
        if (j == r || (dropping.mirror == Mirror::none && entry <= noise)) return entry <= noise;
        if (dropping.mirror == Mirror::none) {
            const double least = fmin(size, column.sized);
            return dropping.compensate ? entry * fabs(column.weight) <= fmin(tol * (least * least), DBL_MAX)
                                       : entry <= fmin(tol * largest, DBL_MAX);
        }
        if (!dropping.compensate) return entry <= fmin(fmax(tol, noise_level) * (sized * column.sized), DBL_MAX);
        const double least = fmin(sized, column.sized);
        const double bound = tol * ((least * by_t) * (least * column.by_t));
        return entry <= fmin(fmax(bound, noise_level * ((sized * by_t) * (column.sized * column.by_t))), DBL_MAX);
    }
};

/// A row of the next matrix summed up in `table`. @return the largest magnitude of a term
template <class Group, int slots, class V>
__device__ double sum_row(const Group& group, const Elimination<V>& round, bool is, Index r, Table<V, slots>& table)
{
    for (int s = group.lane(); s < slots; s += Group::size) table.col[s] = Table<V, slots>::free;
    if (group.lane() == 0) *table.count = 0;
    group.sync();
    const Offset begin = is ? round.S.start[r] : 0, end = is ? begin + round.S.length[r] : 0;
    double       largest = 0;
    bool         full = false;
    for (Offset p = begin + group.lane(); p < end; p += Group::size)
        if (const Index j = round.S.col[p]; !round.is_pivot(j)) {
            const V s = round.S.val[p];
            if (!table.add(j, s)) full = true;
            largest = fmax(largest, modulus(s));
        }
    group.sync();
    if (is) largest = fmax(largest, add_updates<Group, slots, V>(group, round, r, table, full));
    if (full) round.counters->too_wide = 1;
    return group.max(largest);
}

/// The largest entry of a row, and the largest weighted one off the diagonal.
struct Extent {
    double largest = 0, heaviest = 0;
};
template <class Group, int slots, class V>
__device__ Extent extent_of(const Group& group, const Elimination<V>& round, Index r, double by_t,
                            const Table<V, slots>& table)
{
    Extent extent;
    for (Index e = group.lane(); e < *table.count; e += Group::size) {
        const int    s = table.list[e];
        const double size = modulus(table.val[s]);
        extent.largest = fmax(extent.largest, size);
        if (!isfinite(size)) round.counters->not_finite = 1;
        if (round.dropping.compensate)
            extent.heaviest = fmax(extent.heaviest, size * fabs(Column(round, r, table.col[s], by_t).weight));
        else if (round.dropping.lump && table.col[s] != r) extent.heaviest = fmax(extent.heaviest, size);
    }
    return {group.max(extent.largest), group.max(extent.heaviest)};
}

/// What stays of a thread's places of the table, a bit a place; of the whole row, how many and the sums.
template <class V>
struct Verdict {
    unsigned stays = 0;
    Index    count = 0;
    V        lumped{};  ///< of what goes Σ s_rj t_j / t_r, or Σ |s_rj| where that is lumped
    double   kept = 0;  ///< Σ |s_rj t_j / t_r| of what stays
};
template <class Group, int slots, class V>
__device__ Verdict<V> judge(const Group& group, const Elimination<V>& round, const DropRule& rule, double by_t,
                            double heaviest, const Table<V, slots>& table)
{
    static_assert(slots / Group::size <= 32);
    Verdict<V>   verdict;
    FixedOf<V>   lumped{};
    Fixed        kept = 0;
    const bool   sums = heaviest > 0 && isfinite(heaviest);
    const double unit = sums ? scalbn(1., ilogb(heaviest)) : 1, by_unit = 1 / unit;
    for (Index e = group.lane(), place = 0; e < *table.count; e += Group::size, ++place) {
        const int    s = table.list[e];
        const Index  j = table.col[s];
        const V      value = table.val[s];
        const double size = modulus(value);
        const Column column(round, rule.r, j, by_t);
        const V      weighted_once = column.weight * value;
        const bool   goes = rule.goes(j, size, column);
        if (!goes) verdict.stays |= 1U << place, ++verdict.count;
        if (!sums) continue;
        const bool several = round.at.vector_count > 0 && j != rule.r;
        const V    weighted = by_unit * (round.dropping.lump ? cuda::from_real<V>(j != rule.r ? size : 0)
                                         : several           ? weight_of_several(round.at, rule.r, j) * value
                                                             : weighted_once);
        if (goes) lumped += fixed<46>(weighted, 2);
        else kept += fixed<46>(modulus(weighted), 2);
    }
    verdict.count = group.sum(verdict.count);
    verdict.lumped = unit * from_fixed<46>(group.sum(lumped));
    verdict.kept = sums ? unit * from_fixed<46>(group.sum(kept)) : heaviest;
    return verdict;
}

/// A row of the next matrix, by each group of the block. Every thread of the block comes here.
template <class Group, int slots, class V>
__device__ void form_row(const Group& group, const Elimination<V>& round, bool is, Index r, void* memory,
                         const NextRows<V>& to)
{
    Table<V, slots> table(memory, Group::in_block(), Group::per_block);
    const double    noise = noise_level * sum_row<Group, slots, V>(group, round, is, r, table);
    const double    by_t = is ? 1 / round.at.scale[r].t : 1;
    const auto      extent = extent_of<Group, slots, V>(group, round, r, by_t, table);
    const double    before = is ? sqrt(fmax(round.at.row_largest[r], modulus(round.at.diagonal[r]))) : 0;
    const DropRule  rule{.dropping = round.dropping,
                         .r = r,
                         .noise = fmin(noise, DBL_MAX),
                         .largest = extent.largest,
                         .size = sqrt(extent.largest),
                         .sized = is && round.dropping.compensate ? round.at.scale[r].sized : before,
                         .by_t = fabs(by_t)};
    const auto      verdict = judge<Group, slots, V>(group, round, rule, by_t, extent.heaviest, table);
    const Offset    start =
        room_for<Group::per_block>(verdict.count, Group::in_block(), group.lane() == 0, &round.counters->entries);
    const bool fits = start + verdict.count <= to.capacity;
    if (!fits) round.counters->overflow = 1;
    const Index entries = *table.count;
    Index       next = 0;
    for (Index from = 0; from < entries; from += Group::size) {
        const bool  stays = (verdict.stays >> (from / Group::size) & 1) != 0;
        const Index place = group.place(stays, next);
        if (!stays || !fits) continue;
        const int   s = table.list[from + group.lane()];
        const Index j = table.col[s];
        V           value = table.val[s];
        if (j == r && round.dropping.compensate)
            value = compensated(round.dropping.mirror, value, verdict.lumped, verdict.kept);
        else if (j == r && round.dropping.lump) value = value + verdict.lumped;
        to.col[start + place] = j;
        to.val[start + place] = value;
    }
    if (!is || group.lane() != 0) return;
    to.start[r] = start;
    to.length[r] = verdict.count;
}

template <class Group, int slots, int threads, class V>
__global__ void __launch_bounds__(threads, Group::per_block > 1 ? (is_complex<V> ? 4 : 5) : 1)
    form_rows(Elimination<V> round, const Index* rows, Index count, NextRows<V> to)
{
    extern __shared__ double2 memory[];
    const Group               group;
    const long                i = Group::in_grid();
    const bool                is = i < count;
    form_row<Group, slots, V>(group, round, is, is ? rows[i] : 0, memory, to);
}

/// Rows that need one size of table. @return whether the device has room for it
template <class Group, int slots, int threads, class V>
bool form(Gpu& gpu, const Elimination<V>& round, const Index* rows, Index count, const NextRows<V>& to)
{
    constexpr std::size_t bytes = Group::per_block * Table<V, slots>::bytes;
    if (count == 0) return true;
    if (bytes + cuda::reserved_shared > static_cast<std::size_t>(gpu.state().shared_bytes)) return false;
    const auto kernel = form_rows<Group, slots, threads, V>;
    cuda::allow_shared(gpu, kernel);
    kernel<<<blocks_for(count, Group::per_block), threads, bytes, cuda::stream(gpu)>>>(round, rows, count, to);
    cuda::check_launch("form_rows");
    return true;
}

template <Scalar S, class V = cuda::Value<S>>
bool form_all(Gpu& gpu, const RoundsState<S>& state, const Elimination<V>& round, const Counters& found,
              const NextRows<V>& to)
{
    const auto& bin = state.bin;
    const auto& count = found.bin;
    return form<Tile<8>, 32, tile_threads>(gpu, round, bin[0], count[0], to) &&
           form<Tile<8>, 64, tile_threads>(gpu, round, bin[1], count[1], to) &&
           form<Tile<16>, 128, tile_threads>(gpu, round, bin[2], count[2], to) &&
           form<Tile<32>, 256, tile_threads>(gpu, round, bin[3], count[3], to) &&
           form<Tile<32>, 512, tile_threads>(gpu, round, bin[4], count[4], to) &&
           form<Tile<32>, 1024, tile_threads>(gpu, round, bin[5], count[5], to) &&
           form<BlockGroup<256>, 4096, 256>(gpu, round, bin[6], count[6], to) &&
           form<BlockGroup<512>, largest_table<V>, 512>(gpu, round, bin[7], count[7], to);
}

}  // namespace

template <Scalar S>
Counters form_next(Gpu& gpu, RoundsState<S>& state, const Elimination<cuda::Value<S>>& round, const Counters& found)
{
    using Rows = Entries<cuda::Value<S>>;
    const int next = state.now ^ 1;
    for (;;) {
        auto& to = state.entries[next];
        if (to.capacity() == 0)
            to = Rows(static_cast<std::size_t>(state.nnz) + static_cast<std::size_t>(state.nnz) / 4);
        const bool fits = form_all(gpu, state, round, found,
                                   {state.start[next], state.length[next], to.col.data(), to.val.data(),
                                    static_cast<Offset>(to.capacity())});
        Counters   now = state.read(gpu);
        if (!fits) now.too_wide = 1;
        if (now.overflow == 0 || now.too_wide != 0) return now;
        const auto needed = static_cast<std::size_t>(now.entries);
        to = Rows();
        to = Rows(needed + needed / 8);
        cuda::check(cudaMemsetAsync(&state.count->entries, 0, sizeof(Status), cuda::stream(gpu)), "cudaMemsetAsync");
        cuda::check(cudaMemsetAsync(&state.count->overflow, 0, sizeof(Index), cuda::stream(gpu)), "cudaMemsetAsync");
    }
}

template Counters form_next(Gpu&, RoundsState<double>&, const Elimination<double>&, const Counters&);
template Counters form_next(Gpu&, RoundsState<std::complex<double>>&, const Elimination<cuda::Complex<double>>&,
                            const Counters&);

}  // namespace ilux::rounds
