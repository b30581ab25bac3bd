// M⁻ᴴ by rounds: Lᴴ and Uᴴ, made on the device, take each other's place, and so do the scale factors.

#include <utility>

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/assemble.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux::rounds {
namespace {

template <class T>
__global__ void adjoint_of_dense(Index n, const T* from, T* to)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p < static_cast<Offset>(n) * n) to[p] = cuda::conjugate(from[p % n * n + p / n]);
}

template <class T>
void take(DeviceRowArrays<T> adjoint, DeviceBuffer<Offset>& ptr, DeviceBuffer<Index>& col, DeviceBuffer<T>& val)
{
    ptr = std::move(adjoint.row_ptr);
    col = std::move(adjoint.col);
    val = std::move(adjoint.val);
}

template <class V>
DeviceBuffer<V> copy_of(Gpu& gpu, const DeviceBuffer<V>& from)
{
    DeviceBuffer<V> to(from.size());
    copy_device(gpu, from.data(), to);
    return to;
}

template <class V>
__global__ void conjugate_all(Offset count, V* values)
{
    const Offset i = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) values[i] = cuda::conjugate(values[i]);
}

}  // namespace

template <class T>
RoundsFactors<T> adjoint(Gpu& gpu, const RoundsFactors<T>& f)
{
    gpu.make_current();
    RoundsFactors<T> to;
    to.n = f.n;
    to.nB = f.nB;
    to.round_begin = f.round_begin;
    to.number = f.column;
    to.column = f.number;
    to.row_scale = copy_of(gpu, f.col_scale);
    to.col_scale = copy_of(gpu, f.row_scale);
    to.inv_pivot = copy_of(gpu, f.inv_pivot);
    if constexpr (is_complex<T>)
        launch(gpu, conjugate_all<cuda::Value<working_of<T>>>, f.nB, f.nB, cuda::as_values(to.inv_pivot.data()));
    take(adjoint_rows<T>(gpu, f.U_ptr, f.U_col, f.U_val, f.n), to.L_ptr, to.L_col, to.L_val);
    take(adjoint_rows<T>(gpu, f.L_ptr, f.L_col, f.L_val, f.nB), to.U_ptr, to.U_col, to.U_val);
    to.W = DeviceBuffer<T>(f.W.size());
    const auto dense = static_cast<Offset>(f.W.size());
    launch(gpu, adjoint_of_dense<cuda::Value<T>>, dense, f.n - f.nB, cuda::as_values(f.W.data()),
           cuda::as_values(to.W.data()));
    choose_lanes(gpu, to);
    return to;
}

#define ILUX_INSTANTIATE(T) template RoundsFactors<T> adjoint(Gpu&, const RoundsFactors<T>&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
