#pragma once
// How the kernels of the rounds are launched: a tile a row, or a thread a row. Only .cu files include this.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ilux/precond/gpu_rounds/device_tile.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"

namespace ilux::rounds {

inline unsigned blocks_for(Offset count, Offset a_block)
{
    return static_cast<unsigned>(std::max<Offset>(1, (count + a_block - 1) / a_block));
}

/// A kernel with a thread for each of `count` things.
template <class... Parameters, class... Arguments>
void launch(Gpu& gpu, void (*kernel)(Parameters...), Offset count, const Arguments&... arguments)
{
    kernel<<<blocks_for(count, tile_threads), tile_threads, 0, cuda::stream(gpu)>>>(arguments...);
    cuda::check_launch("rounds");
}
/// A kernel with a tile of `lanes` for each.
template <int lanes, class... Parameters, class... Arguments>
void launch_tiles(Gpu& gpu, void (*kernel)(Parameters...), Offset count, const Arguments&... arguments)
{
    launch(gpu, kernel, count * lanes, arguments...);
}

/// with(std::integral_constant<int, lanes>), `lanes` one of the choices.
template <int... choices, class With>
void with_one_of(int lanes, With&& with)
{
    (void)((lanes == choices && (with(std::integral_constant<int, choices>()), true)) || ...);
}

/// Calls `with` for as many lanes a row as suit the rows of S.
template <Scalar S, class With>
void with_lanes(const RoundsState<S>& state, With&& with)
{
    with_one_of<8, 16, 32>(lanes_for(state.nnz, state.active_count), with);
}

template <class V>
void copy_device(Gpu& gpu, const V* from, DeviceBuffer<V>& to)
{
    cuda::check(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(V), cudaMemcpyDeviceToDevice, cuda::stream(gpu)),
                "cudaMemcpyAsync");
}

/// Magnitudes ≥ 0 compare as their bits do.
__device__ inline Status bits_of(double magnitude) { return static_cast<Status>(__double_as_longlong(magnitude)); }
__device__ inline double magnitude_of(Status bits) { return __longlong_as_double(static_cast<long long>(bits)); }

/// atomicMax that most callers skip.
__device__ inline void raise(Status* to, Status value)
{
    if (*static_cast<volatile Status*>(to) < value) atomicMax(to, value);
}

/// The number of this thread among all of a launch of at most 2³¹.
__device__ inline Index thread_in_grid() { return static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x); }

/// The rows that are left, as kernels see them: a thread a row, or a tile.
template <class V>
struct ActiveRows {
    RowsView<V>  S;
    const Index* active;
    Index        count;
    RowArrays<V> at;
    Counters*    counters;

    /// The row number of a thread or tile, by its own number; −1 where there is none.
    __device__ Index row(long which) const { return which < count ? active[which] : -1; }
};
template <Scalar S>
ActiveRows<cuda::Value<S>> active_rows(const RoundsState<S>& state)
{
    return {state.rows(), state.active[state.now], state.active_count, state.at, state.count};
}

/// f(j, p) for the entries of row k, by the lanes of its tile.
template <int lanes, class V, class Do>
__device__ void for_entries(const RowsView<V>& S, const Tile<lanes>& tile, Index k, Do&& f)
{
    const Offset begin = S.start[k], end = begin + S.length[k];
    for (Offset p = begin + tile.lane(); p < end; p += lanes) f(S.col[p], p);
}

/// Σ_j≠k |s_kj| ‖t_j‖ over |d| ‖t_k‖, d = s_kk; Inf where that is 0. All lanes get it.
template <int lanes, class V>
__device__ double share_of_others(const ActiveRows<V>& rows, const Tile<lanes>& tile, Index k, V d)
{
    const double size = modulus(d) * fabs(rows.at.scale[k].t), by_size = 1 / size;
    Fixed        others = 0;
    for_entries(rows.S, tile, k, [&](Index j, Offset p) {
        if (j != k) others += fixed<40>(modulus(rows.S.val[p]) * fabs(rows.at.scale[j].t) * by_size, 4);
    });
    return size > 0 ? from_fixed<40>(tile.sum(others)) : HUGE_VAL;
}

}  // namespace ilux::rounds
