#pragma once
// How the kernels of the rounds are launched: a tile a row, or a thread a row. Only .cu files include this.

#include <algorithm>
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

/// with(std::integral_constant<int, lanes>) for as many lanes a row as suit the rows of S.
template <class With>
void with_lanes(const RoundsState& state, With&& with)
{
    switch (lanes_for(state.nnz, state.active_count)) {
        case 8:
            return with(std::integral_constant<int, 8>());
        case 16:
            return with(std::integral_constant<int, 16>());
        default:
            return with(std::integral_constant<int, 32>());
    }
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

}  // namespace ilux::rounds
