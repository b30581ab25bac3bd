// M⁻ᴴ by rounds: Lᴴ and Uᴴ, made on the device, take each other's place, and so do the scale factors.

#include <utility>

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/assemble.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux::rounds {
namespace {

/// The row of every entry.
__global__ void find_rows(Index rows, const Offset* ptr, Index* row)
{
    const Tile<8> tile;
    const long    i = tile.in_grid();
    if (i >= rows) return;
    for (Offset p = ptr[i] + tile.lane(); p < ptr[i + 1]; p += Tile<8>::size) row[p] = static_cast<Index>(i);
}

template <class T>
__global__ void gather_entries(Offset count, const Offset* entry, const Index* row, const T* val, Index* to_col,
                               T* to_val)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p >= count) return;
    to_col[p] = row[entry[p]];
    to_val[p] = cuda::conjugate(val[entry[p]]);
}

template <class T>
__global__ void adjoint_of_dense(Index n, const T* from, T* to)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p < static_cast<Offset>(n) * n) to[p] = cuda::conjugate(from[p % n * n + p / n]);
}

template <class T>
struct DeviceRows {
    Index                       rows;
    const DeviceBuffer<Offset>& ptr;
    const DeviceBuffer<Index>&  col;
    const DeviceBuffer<T>&      val;
};

/// The adjoint of A.
template <class T>
void take_adjoint(Gpu& gpu, const DeviceRows<T>& A, Index cols, DeviceBuffer<Offset>& ptr, DeviceBuffer<Index>& col,
                  DeviceBuffer<T>& val)
{
    const auto entries = A.col.size();
    const auto count = static_cast<Offset>(entries);
    auto       sorted = by_key<Offset>(gpu, A.col, cols);
    ptr = std::move(sorted.begin);
    DeviceBuffer<Index> row(entries);  // only now: the sort had needed more
    launch_tiles<8>(gpu, find_rows, A.rows, A.rows, A.ptr.data(), row.data());
    col = DeviceBuffer<Index>(entries);
    val = DeviceBuffer<T>(entries);
    launch(gpu, gather_entries<cuda::Value<T>>, count, count, sorted.item.data(), row.data(),
           cuda::as_values(A.val.data()), col.data(), cuda::as_values(val.data()));
    gpu.synchronize();  // for what goes now
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
    to.number = f.number;
    to.row_scale = copy_of(gpu, f.col_scale);
    to.col_scale = copy_of(gpu, f.row_scale);
    to.inv_pivot = copy_of(gpu, f.inv_pivot);
    if constexpr (is_complex<T>)
        launch(gpu, conjugate_all<cuda::Value<working_of<T>>>, f.nB, f.nB, cuda::as_values(to.inv_pivot.data()));
    take_adjoint<T>(gpu, {f.nB, f.U_ptr, f.U_col, f.U_val}, f.n, to.L_ptr, to.L_col, to.L_val);
    take_adjoint<T>(gpu, {f.n, f.L_ptr, f.L_col, f.L_val}, f.nB, to.U_ptr, to.U_col, to.U_val);
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
