// The next round's matrix: every row summed up in a table of shared memory, its entries dropped and the diagonal compensated, as in
// round_eliminate.cpp. Rows that need tables of one size share a launch.

#include <cfloat>

#include "ilux/precond/gpu_rounds/device_table.hpp"
#include "ilux/precond/gpu_rounds/eliminate.hpp"

namespace ilux::rounds {
namespace {

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
__device__ void add_update(const Group& group, const Elimination& round, double l, double d, Offset begin, Index length,
                           Table<slots>& table, bool& full)
{
    for (Index e = group.lane(); e < length; e += Group::size)
        if (!table.add(round.U_col[begin + e], __dmul_rn(-__dmul_rn(l, round.U_val[begin + e]), d))) full = true;
    group.sync();
}

/// The same for all pivots of row r, in their order, so that every sum has one value.
/// @return the largest magnitude of a term
template <class Group, int slots>
__device__ double add_updates(const Group& group, const Elimination& round, Index r, Table<slots>& table, bool& full)
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

/// What the drop rule reads of a column, and the entry weighted by t.
struct Column {
    double weighted;  ///< s t_j / t_r
    double sized;     ///< √m_j; with compensation √m_j |t_j|, and unless S is Hermitian over |t_r|
    double by_t;      ///< 1 / |t_j|, where S is Hermitian

    /// @param by_t_r  1 / t_r
    __device__ Column(const Elimination& round, Index r, Index j, double s, double by_t_r)
        : weighted(0), sized(0), by_t(1)
    {
        if (j == r) return;
        const bool hermitian = round.dropping.mirror != Mirror::none;
        if (round.dropping.compensate) {
            const Scale scale = round.at.scale[j];
            weighted = s * (scale.t * by_t_r);
            sized = hermitian ? scale.sized : scale.sized * fabs(by_t_r);
            if (hermitian) by_t = 1 / fabs(scale.t);
        } else if (hermitian) {
            sized = sqrt(fmax(round.at.row_largest[j], fabs(round.at.diagonal[j])));
        }
    }
};

/// Which entries of a row go; as in round_eliminate.cpp. Where S is Hermitian s_rj and s_jr have one bound, to the last bit.
struct DropRule {
    const RoundDropping& dropping;
    Index                r;
    double               noise;    ///< up to where an entry is what cancellation leaves
    double               largest;  ///< entry of the row
    double               size;     ///< its root
    double               sized;    ///< √m_r, m of when the round began; with compensation √m_r |t_r|
    double               by_t;     ///< 1 / |t_r|

    __device__ bool goes(Index j, double s, const Column& column) const
    {
        const double magnitude = fabs(s), tol = dropping.drop_tol;
        if (j == r || (dropping.mirror == Mirror::none && magnitude <= noise)) return magnitude <= noise;
        if (dropping.mirror == Mirror::none) {
            const double least = fmin(size, column.sized);
            return dropping.compensate ? fabs(column.weighted) <= fmin(tol * (least * least), DBL_MAX)
                                       : magnitude <= fmin(tol * largest, DBL_MAX);
        }
        if (!dropping.compensate) return magnitude <= fmin(fmax(tol, noise_level) * (sized * column.sized), DBL_MAX);
        const double least = fmin(sized, column.sized);
        const double bound = tol * ((least * by_t) * (least * column.by_t));
        return magnitude <= fmin(fmax(bound, noise_level * ((sized * by_t) * (column.sized * column.by_t))), DBL_MAX);
    }
};

/// A row of the next matrix summed up in `table`. @return the largest magnitude of a term
template <class Group, int slots>
__device__ double sum_row(const Group& group, const Elimination& round, bool is, Index r, Table<slots>& table)
{
    for (int s = group.lane(); s < slots; s += Group::size) table.col[s] = Table<slots>::free;
    if (group.lane() == 0) *table.count = 0;
    group.sync();
    const Offset begin = is ? round.S.start[r] : 0, end = is ? begin + round.S.length[r] : 0;
    double       largest = 0;
    bool         full = false;
    for (Offset p = begin + group.lane(); p < end; p += Group::size)
        if (const Index j = round.S.col[p]; !round.is_pivot(j)) {
            const double s = round.S.val[p];
            if (!table.add(j, s)) full = true;
            largest = fmax(largest, fabs(s));
        }
    group.sync();
    if (is) largest = fmax(largest, add_updates<Group, slots>(group, round, r, table, full));
    if (full) round.counters->too_wide = 1;
    return group.max(largest);
}

/// The largest entry of a row, and the largest weighted one off the diagonal.
struct Extent {
    double largest = 0, heaviest = 0;
};
template <class Group, int slots>
__device__ Extent extent_of(const Group& group, const Elimination& round, Index r, double by_t,
                            const Table<slots>& table)
{
    Extent extent;
    for (Index e = group.lane(); e < *table.count; e += Group::size) {
        const int    s = table.list[e];
        const double size = fabs(table.val[s]);
        extent.largest = fmax(extent.largest, size);
        if (!isfinite(size)) round.counters->not_finite = 1;
        if (round.dropping.compensate)
            extent.heaviest = fmax(extent.heaviest, fabs(Column(round, r, table.col[s], table.val[s], by_t).weighted));
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
__device__ Verdict judge(const Group& group, const Elimination& round, const DropRule& rule, double by_t,
                         double heaviest, const Table<slots>& table)
{
    static_assert(slots / Group::size <= 32);
    Verdict      verdict;
    Fixed        lumped = 0, kept = 0;
    const bool   sums = heaviest > 0 && isfinite(heaviest);
    const double unit = sums ? scalbn(1., ilogb(heaviest)) : 1, by_unit = 1 / unit;
    for (Index e = group.lane(), place = 0; e < *table.count; e += Group::size, ++place) {
        const int    s = table.list[e];
        const Index  j = table.col[s];
        const double value = table.val[s];
        const Column column(round, rule.r, j, value, by_t);
        const bool   goes = rule.goes(j, value, column);
        if (!goes) verdict.stays |= 1U << place, ++verdict.count;
        if (!sums) continue;
        const bool   several = round.at.vector_count > 0 && j != rule.r;
        const double weighted = (several ? value * weight_of_several(round.at, rule.r, j) : column.weighted) * by_unit;
        if (goes) lumped += fixed<46>(weighted, 2);
        else kept += fixed<46>(fabs(weighted), 2);
    }
    verdict.count = group.sum(verdict.count);
    verdict.lumped = unit * from_fixed<46>(group.sum(lumped));
    verdict.kept = sums ? unit * from_fixed<46>(group.sum(kept)) : heaviest;
    return verdict;
}

/// A row of the next matrix, by each group of the block. Every thread of the block comes here.
template <class Group, int slots>
__device__ void form_row(const Group& group, const Elimination& round, bool is, Index r, void* memory,
                         const NextRows& to)
{
    Table<slots>   table(memory, Group::in_block(), Group::per_block);
    const double   noise = noise_level * sum_row<Group, slots>(group, round, is, r, table);
    const double   by_t = is ? 1 / round.at.scale[r].t : 1;
    const auto     extent = extent_of<Group, slots>(group, round, r, by_t, table);
    const double   before = is ? sqrt(fmax(round.at.row_largest[r], fabs(round.at.diagonal[r]))) : 0;
    const DropRule rule{.dropping = round.dropping,
                        .r = r,
                        .noise = fmin(noise, DBL_MAX),
                        .largest = extent.largest,
                        .size = sqrt(extent.largest),
                        .sized = is && round.dropping.compensate ? round.at.scale[r].sized : before,
                        .by_t = fabs(by_t)};
    const auto     verdict = judge<Group, slots>(group, round, rule, by_t, extent.heaviest, table);
    const Offset   start =
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
        double      value = table.val[s];
        if (j == r && round.dropping.compensate) value = compensated(value, verdict.lumped, verdict.kept);
        to.col[start + place] = j;
        to.val[start + place] = value;
    }
    if (!is || group.lane() != 0) return;
    to.start[r] = start;
    to.length[r] = verdict.count;
}

template <class Group, int slots, int threads>
__global__ void __launch_bounds__(threads, Group::per_block > 1 ? 5 : 1)
    form_rows(Elimination round, const Index* rows, Index count, NextRows to)
{
    extern __shared__ double memory[];
    const Group              group;
    const long               i = Group::in_grid();
    const bool               is = i < count;
    form_row<Group, slots>(group, round, is, is ? rows[i] : 0, memory, to);
}

/// Rows that need one size of table. @return whether the device has room for it
template <class Group, int slots, int threads>
bool form(Gpu& gpu, const Elimination& round, const Index* rows, Index count, const NextRows& to)
{
    constexpr std::size_t bytes = Group::per_block * Table<slots>::bytes;
    if (count == 0) return true;
    if (bytes + cuda::reserved_shared > static_cast<std::size_t>(gpu.state().shared_bytes)) return false;
    const auto kernel = form_rows<Group, slots, threads>;
    cuda::allow_shared(gpu, kernel);
    kernel<<<blocks_for(count, Group::per_block), threads, bytes, cuda::stream(gpu)>>>(round, rows, count, to);
    cuda::check_launch("form_rows");
    return true;
}

bool form_all(Gpu& gpu, const RoundsState& state, const Elimination& round, const Counters& found, const NextRows& to)
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
           form<BlockGroup<512>, largest_table, 512>(gpu, round, bin[7], count[7], to);
}

}  // namespace

Counters form_next(Gpu& gpu, RoundsState& state, const Elimination& round, const Counters& found)
{
    const int next = state.now ^ 1;
    for (;;) {
        auto& to = state.entries[next];
        if (to.capacity() == 0)
            to = Entries(static_cast<std::size_t>(state.nnz) + static_cast<std::size_t>(state.nnz) / 4);
        const bool fits = form_all(gpu, state, round, found,
                                   {state.start[next], state.length[next], to.col.data(), to.val.data(),
                                    static_cast<Offset>(to.capacity())});
        Counters   now = state.read(gpu);
        if (!fits) now.too_wide = 1;
        if (now.overflow == 0 || now.too_wide != 0) return now;
        const auto needed = static_cast<std::size_t>(now.entries);
        to = Entries();
        to = Entries(needed + needed / 8);
        cuda::check(cudaMemsetAsync(&state.count->entries, 0, sizeof(Status), cuda::stream(gpu)), "cudaMemsetAsync");
        cuda::check(cudaMemsetAsync(&state.count->overflow, 0, sizeof(Index), cuda::stream(gpu)), "cudaMemsetAsync");
    }
}

}  // namespace ilux::rounds
