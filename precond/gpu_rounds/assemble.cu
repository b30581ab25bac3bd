// Rows of L from the entries of all rounds, rows of U sorted in the order of elimination.

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/assemble.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux::rounds {
namespace {

constexpr double entries_a_lane = 2;  // as in spmv

template <class V>
__global__ void place_rows(Index first, const Index* active, Index count, RowArrays<V> at, Index* number)
{
    const Index i = thread_in_grid();
    if (i >= count) return;
    at.place[active[i]] = first + i;
    number[first + i] = active[i];
}

template <class V>
struct Frame {
    const Index* number;
    const V*     pivot;
    RowArrays<V> at;
    Index        n, nB;
};

/// Vectors in the order of elimination, and the lengths of rows.
template <class V>
__global__ void order_rows(Frame<V> frame, double* row_scale, double* col_scale, V* inv_pivot, Offset* L_ptr,
                           Offset* U_ptr)
{
    const Index i = thread_in_grid();
    if (i >= frame.n) return;
    const Index k = frame.number[i];
    row_scale[i] = frame.at.row_first[k];
    col_scale[i] = frame.at.col_first[k];
    L_ptr[i + 1] = frame.at.L_total[k];
    if (i >= frame.nB) return;
    U_ptr[i + 1] = frame.at.pivot[k].U_length;
    inv_pivot[i] = Divisor<V>(frame.pivot[i])(cuda::from_real<V>(1));
}

template <class T, class V>
__device__ T stored(V value, unsigned long long* too_large)
{
    const T result = cuda::converted<T>(value);
    if (!cuda::is_finite(result)) atomicAdd(too_large, 1ULL);
    return result;
}

template <class T, class V>
__global__ void fill_L(const LEntry<V>* entries, Offset count, const Index* place, const Offset* ptr, Index* col,
                       T* val, unsigned long long* too_large)
{
    const Offset e = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (e >= count) return;
    const LEntry<V> entry = entries[e];
    const Offset    p = ptr[place[entry.row]] + entry.slot;
    col[p] = entry.place;
    val[p] = stored<T>(entry.val, too_large);
}

/// A row of U, its columns numbered anew and sorted by counting those before.
template <int lanes, class T, class V>
__global__ void __launch_bounds__(tile_threads)
    fill_U(Index first, Index last, const Index* from_col, const V* from_val, Frame<V> frame, const Offset* ptr,
           Index* col, T* val, unsigned long long* too_large)
{
    const Tile<lanes> tile;
    const long        i = first + tile.in_grid();
    if (i >= last) return;
    const Pivot<V> pivot = frame.at.pivot[frame.number[i]];
    const Index    count = pivot.U_length;
    const Offset   from = pivot.U_start, to = ptr[i];
    for (Index e = tile.lane(); e < count; e += lanes) {
        const Index j = from_col[from + e], place = frame.at.place[j];
        Index       rank = 0;
        for (Index other = 0; other < count; ++other) rank += frame.at.place[from_col[from + other]] < place;
        col[to + rank] = place;
        val[to + rank] = stored<T>(from_val[from + e], too_large);
    }
}

template <class V>
__global__ void look_up(const V* values, const Index* at, Index count, V* found)
{
    const Index i = thread_in_grid();
    if (i < count) found[i] = values[at[i]];
}

int lanes_of(Offset entries, Index rows)
{
    int lanes = 1;
    while (lanes < 32 && static_cast<double>(entries) > entries_a_lane * lanes * rows) lanes *= 2;
    return lanes;
}

/// The lanes of every run of rows from one of `begin` to the next.
std::vector<int> lanes_of_rows(Gpu& gpu, const DeviceBuffer<Offset>& ptr, const std::vector<Index>& begin)
{
    DeviceBuffer<Index>  rows(begin.size());
    DeviceBuffer<Offset> found(begin.size());
    upload<Index>(gpu, begin, rows);
    const auto count = static_cast<int>(begin.size());
    launch(gpu, look_up<Offset>, count, ptr.data(), rows.data(), count, found.data());
    std::vector<Offset> at(begin.size());
    download<Offset>(gpu, found, at);
    std::vector<int> lanes;
    for (std::size_t k = 0; k + 1 < begin.size(); ++k)
        lanes.push_back(lanes_of(at[k + 1] - at[k], std::max(begin[k + 1] - begin[k], 1)));
    return lanes;
}

template <class T, Scalar S, class V = cuda::Value<S>>
void fill(Gpu& gpu, const RoundsState<S>& state, const Frame<cuda::Value<S>>& frame, RoundsFactors<T>& to)
{
    using Stored = cuda::Value<T>;
    auto* const too_large = &state.count->entries;
    for (const auto& round : state.rounds) {
        launch(gpu, fill_L<Stored, V>, round.L_count, round.L, round.L_count, state.at.place, to.L_ptr.data(),
               to.L_col.data(), cuda::as_values(to.L_val.data()), too_large);
        launch_tiles<8>(gpu, fill_U<8, Stored, V>, round.last - round.first, round.first, round.last, round.U_col,
                        round.U_val, frame, to.U_ptr.data(), to.U_col.data(), cuda::as_values(to.U_val.data()),
                        too_large);
    }
}

}  // namespace

template <Scalar S>
void place_rest(Gpu& gpu, RoundsState<S>& state)
{
    launch(gpu, place_rows<cuda::Value<S>>, state.active_count, state.done, state.active[state.now], state.active_count,
           state.at, state.number);
}

template <class T, Scalar S>
Offset assemble(Gpu& gpu, RoundsState<S>& state, RoundsFactors<T>& to)
{
    using V = cuda::Value<S>;
    to.n = state.n;
    to.nB = state.done;
    to.round_begin = {0};
    for (const auto& round : state.rounds) to.round_begin.push_back(round.last);
    const auto          n = static_cast<std::size_t>(to.n), nB = static_cast<std::size_t>(to.nB);
    DeviceBuffer<Index> number(n);
    to.row_scale = DeviceBuffer<double>(n);
    to.col_scale = DeviceBuffer<double>(n);
    to.inv_pivot = DeviceBuffer<S>(nB);
    to.L_ptr = DeviceBuffer<Offset>(n + 1);
    to.U_ptr = DeviceBuffer<Offset>(nB + 1);
    const Frame<V> frame{state.number, state.pivot, state.at, to.n, to.nB};
    launch(gpu, order_rows<V>, to.n, frame, to.row_scale.data(), to.col_scale.data(),
           cuda::as_values(to.inv_pivot.data()), to.L_ptr.data(), to.U_ptr.data());
    copy_device(gpu, state.number, number);
    to.column = to.number = std::make_shared<const DeviceBuffer<Index>>(std::move(number));
    if (state.matched) {
        DeviceBuffer<Index> column(n);
        launch(gpu, look_up<Index>, to.n, state.column, to.number->data(), to.n, column.data());
        to.column = std::make_shared<const DeviceBuffer<Index>>(std::move(column));
    }
    add_up(gpu, to.L_ptr);
    add_up(gpu, to.U_ptr);
    to.L_col = DeviceBuffer<Index>(static_cast<std::size_t>(state.L_entries));
    to.L_val = DeviceBuffer<T>(static_cast<std::size_t>(state.L_entries));
    to.U_col = DeviceBuffer<Index>(static_cast<std::size_t>(state.U_entries));
    to.U_val = DeviceBuffer<T>(static_cast<std::size_t>(state.U_entries));
    state.clear(gpu);
    fill<T, S>(gpu, state, frame, to);
    const auto too_large = static_cast<Offset>(state.read(gpu).entries);
    choose_lanes(gpu, to);
    return too_large;
}

template <class T>
void choose_lanes(Gpu& gpu, RoundsFactors<T>& factors)
{
    factors.lanes_U = lanes_of_rows(gpu, factors.U_ptr, factors.round_begin);
    auto all = factors.round_begin;
    all.push_back(factors.n);
    factors.lanes_L = lanes_of_rows(gpu, factors.L_ptr, all);
}

#define ILUX_INSTANTIATE(S)                                             \
    template void   place_rest(Gpu&, RoundsState<S>&);                  \
    template Offset assemble(Gpu&, RoundsState<S>&, RoundsFactors<S>&); \
    template Offset assemble(Gpu&, RoundsState<S>&, RoundsFactors<single_of<S>>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) template void choose_lanes(Gpu&, RoundsFactors<T>&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
