// A matching of a level, found by the host: columns get the numbers of the rows that they are matched to.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"

namespace ilux::rounds {
namespace {

/// Rows of the level, close together, their columns by place in the level.
template <class V>
struct PackedRows {
    Offset* ptr;
    Index*  col;
    V*      val;
};

template <class V>
__global__ void measure_rows(ActiveRows<V> level, PackedRows<V> to)
{
    const Index a = thread_in_grid(), k = level.row(a);
    if (k >= 0) to.ptr[a + 1] = level.S.length[k];
}

template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) pack_rows(ActiveRows<V> level, PackedRows<V> to)
{
    const Tile<lanes> tile;
    const long        a = tile.in_grid();
    const Index       k = level.row(a);
    if (k < 0) return;
    const Offset begin = to.ptr[a] - level.S.start[k];
    for_entries(level.S, tile, k, [&](Index j, Offset p) {
        to.col[begin + p] = level.at.in_level[j];
        to.val[begin + p] = level.S.val[p];
    });
}

/// A value for each row or column of the level.
template <class V>
__global__ void pack(ActiveRows<V> level, const double* from, double* to)
{
    const Index a = thread_in_grid(), k = level.row(a);
    if (k >= 0) to[a] = from[k];
}

/// The new numbers of columns, by the old ones, and what both sides are to be scaled by.
struct Renumbering {
    const Index*  number;  ///< n; of columns that are not of the level the old ones
    const double *row, *col;
};

template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) renumber_rows(ActiveRows<V> level, Renumbering by, Index* col)
{
    const Tile<lanes> tile;
    const Index       k = level.row(tile.in_grid());
    if (k < 0) return;
    for_entries(level.S, tile, k, [&](Index j, Offset p) { col[p] = by.number[j]; });
}

/// The rows of U of an earlier round have columns of this level.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads)
    renumber_U(Index first, Index last, const Index* row, RowArrays<V> at, const Index* number, Index* U_col)
{
    const Tile<lanes> tile;
    const long        i = first + tile.in_grid();
    if (i >= last) return;
    const Pivot<V> pivot = at.pivot[row[i]];
    for (Offset p = pivot.U_start + tile.lane(); p < pivot.U_start + pivot.U_length; p += lanes)
        U_col[p] = number[U_col[p]];
}

/// What goes with a column.
struct Column {
    double t, first, fold;
    Index  column;
};

template <class V>
__global__ void take_columns(ActiveRows<V> level, const Index* column, Column* taken, double* vectors)
{
    const Index a = thread_in_grid(), k = level.row(a);
    if (k < 0) return;
    taken[a] = {level.at.scale[k].t, level.at.col_first[k], level.at.col_fold[k], column[k]};
    for (Index c = 0; c < level.at.vector_count; ++c)
        vectors[static_cast<std::size_t>(a) * level.at.vector_count + c] =
            level.at.vectors[static_cast<std::size_t>(k) * level.at.vector_count + c];
}

/// Scale factors of the level are those of the matching from here on.
template <class V>
__global__ void put_columns(ActiveRows<V> level, Renumbering by, const Column* taken, const double* vectors,
                            Index* column)
{
    const Index a = thread_in_grid(), k = level.row(a);
    if (k < 0) return;
    const Index  to = by.number[k];
    const Column own = taken[a];
    level.at.scale[to].t = own.t;
    level.at.col_first[to] = own.first;
    level.at.col_fold[to] = own.fold;
    column[to] = own.column;
    level.at.row_scale[k] = by.row[a];
    level.at.col_scale[to] = by.col[a];
    level.at.col_largest[k] = 0;
    for (Index c = 0; c < level.at.vector_count; ++c)
        level.at.vectors[static_cast<std::size_t>(to) * level.at.vector_count + c] =
            vectors[static_cast<std::size_t>(a) * level.at.vector_count + c];
}

template <Scalar S>
std::vector<double> packed(Gpu& gpu, const RoundsState<S>& state, const double* from)
{
    std::vector<double>  values(static_cast<std::size_t>(state.active_count));
    DeviceBuffer<double> there(values.size());
    launch(gpu, pack<cuda::Value<S>>, state.active_count, active_rows(state), from, there.data());
    download<double>(gpu, there, std::span(values));
    return values;
}

/// The level's matrix, scaled as it is on the device.
template <Scalar S>
CsrMatrix<S> on_host(Gpu& gpu, const RoundsState<S>& state)
{
    using V = cuda::Value<S>;
    const auto           n = static_cast<std::size_t>(state.active_count);
    DeviceBuffer<Offset> ptr(n + 1);
    launch(gpu, measure_rows<V>, state.active_count, active_rows(state), PackedRows<V>{ptr.data(), nullptr, nullptr});
    const auto          nnz = static_cast<std::size_t>(add_up(gpu, ptr));
    DeviceBuffer<Index> col(nnz);
    DeviceBuffer<S>     val(nnz);
    const PackedRows<V> to{ptr.data(), col.data(), cuda::as_values(val.data())};
    with_lanes(state, [&](auto lanes) {
        launch_tiles<lanes()>(gpu, pack_rows<lanes(), V>, state.active_count, active_rows(state), to);
    });
    std::vector<Offset>              row_ptr(n + 1);
    std::vector<Index>               cols(nnz);
    std::vector<S>                   vals(nnz);
    std::vector<std::pair<Index, S>> row;
    download<Offset>(gpu, ptr, std::span(row_ptr));
    download<Index>(gpu, col, std::span(cols));
    download<S>(gpu, val, std::span(vals));
    for (std::size_t i = 0; i < n; ++i) {
        if (std::is_sorted(cols.begin() + row_ptr[i], cols.begin() + row_ptr[i + 1])) continue;
        row.clear();
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) row.emplace_back(cols[p], vals[p]);
        std::ranges::sort(row, {}, &std::pair<Index, S>::first);
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) std::tie(cols[p], vals[p]) = row[p - row_ptr[i]];
    }
    return CsrMatrix<S>::from_sorted(state.active_count, state.active_count, std::move(row_ptr), std::move(cols),
                                     std::move(vals));
}

/// The matching of the level as it was before it was scaled, as the host's setup finds it; scale factors are beside
/// those that the level has. Nothing for NaN and Inf.
template <Scalar S>
std::optional<Matching> matching_found(Gpu& gpu, const RoundsState<S>& state, bool scaling, const StopToken& stop)
{
    CsrMatrix<S> A = on_host(gpu, state);
    if (!std::ranges::all_of(A.val(), [](S a) { return std::isfinite(std::abs(a)); })) return {};
    const std::vector<double> row = packed(gpu, state, state.at.row_scale),
                              col = packed(gpu, state, state.at.col_scale);
    const auto inverse = [](std::vector<double> scale) {
        std::ranges::transform(scale, scale.begin(), [](double s) { return 1 / s; });
        return scale;
    };
    scale_rows_cols(A, inverse(row), inverse(col));
    Matching matching = matching_of_level<S>(A, stop);
    for (std::size_t i = 0; i < row.size(); ++i) {
        matching.row_scale[i] = scaling ? matching.row_scale[i] / row[i] : 1;
        matching.col_scale[i] = scaling ? matching.col_scale[i] / col[i] : 1;
    }
    return matching;
}

bool usable(const std::vector<double>& scale)
{
    return std::ranges::all_of(scale, [](double s) { return s >= 1 / largest_scale && s <= largest_scale; });
}

/// Why a level cannot go by this matching, or "".
std::string why_not_by(const std::optional<Matching>& matching, Index n)
{
    if (!matching) return "has a number that is not finite";
    if (matching->rank < n) return "is structurally singular";
    return usable(matching->row_scale) && usable(matching->col_scale) ? "" : "has too large scale factors";
}

}  // namespace

template <Scalar S>
MatchedLevel match_level(Gpu& gpu, RoundsState<S>& state, bool scaling, const StopToken& stop)
{
    using V = cuda::Value<S>;
    const auto        n = static_cast<std::size_t>(state.active_count);
    const auto        found = matching_found(gpu, state, scaling, stop);
    const std::string why_not = why_not_by(found, state.active_count);
    if (!why_not.empty()) return {.why_not = why_not};
    const Matching&    matching = *found;
    std::vector<Index> active(n), number(static_cast<std::size_t>(state.n));
    detail::download_bytes(gpu, state.active[state.now], active.data(), n * sizeof(Index));
    std::iota(number.begin(), number.end(), Index{0});
    for (std::size_t i = 0; i < n; ++i) number[active[matching.col_of_row[i]]] = active[i];

    DeviceBuffer<Index>  number_there(number.size());
    DeviceBuffer<double> row(n), col(n), vectors(n * static_cast<std::size_t>(state.at.vector_count));
    DeviceBuffer<Column> taken(n);
    upload<Index>(gpu, number, number_there);
    upload<double>(gpu, matching.row_scale, row);
    upload<double>(gpu, matching.col_scale, col);
    const Renumbering   by{number_there.data(), row.data(), col.data()};
    const ActiveRows<V> level = active_rows(state);
    launch(gpu, take_columns<V>, state.active_count, level, state.column, taken.data(), vectors.data());
    launch(gpu, put_columns<V>, state.active_count, level, by, taken.data(), vectors.data(), state.column);
    with_lanes(state, [&](auto lanes) {
        launch_tiles<lanes()>(gpu, renumber_rows<lanes(), V>, state.active_count, level, by,
                              state.entries[state.now].col.data());
    });
    for (const auto& round : state.rounds)
        launch_tiles<8>(gpu, renumber_U<8, V>, round.last - round.first, round.first, round.last, state.number,
                        state.at, by.number, round.U_col);
    state.matched = true;
    return {.facts = scale_by_matching(gpu, state),
            .moved = moves_rows(matching.col_of_row),
            .optimal = matching.optimal};
}

#define ILUX_INSTANTIATE(S) template MatchedLevel match_level(Gpu&, RoundsState<S>&, bool, const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
