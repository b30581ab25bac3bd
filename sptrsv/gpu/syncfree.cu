// x ← L⁻¹ b in one launch, by the method of [aliaga19]: warps take tasks of equal level (warp_layout.hpp), and rows
// wait for the rows they read by polling x itself (device_row.hpp).
//
// Launch shape: 8 warps a block, a warp a task, as many blocks as that needs, and a row of the grid to each right-hand
// side, which has a ticket and an x of its own. Terminates: a block claims its tasks by the ticket, so tasks start in
// order; a task waits only for tasks of earlier levels of its right-hand side, which come before it, in blocks that run
// already or in warps of its own block, which never wait for it. Repeatable: bitwise, sums have one order.

#include "ilux/sptrsv/gpu/syncfree.hpp"

#include <algorithm>
#include <bit>

#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/device_warp.hpp"

namespace ilux {
namespace {

constexpr int         block_warps = 8;
constexpr std::size_t head_bytes = 256;  // of a workspace: the ticket; then x

/// Before the launch tickets are −1 and each x is unset.
/// @param length      of a vector of b and out  @param work_bytes  of a right-hand side in `work`
template <class T, class S = working_of<T>>
__global__ void __launch_bounds__(32 * block_warps)
    solve_syncfree(WarpRowsView<T> L, const S* b, S* out, std::size_t length, std::byte* work, std::size_t work_bytes)
{
    __shared__ int claimed;
    work += blockIdx.y * work_bytes;
    if (threadIdx.x == 0) claimed = atomicAdd(reinterpret_cast<int*>(work), 1) + 1;
    __syncthreads();
    const Index t = claimed * block_warps + static_cast<Index>(threadIdx.x) / 32;
    S* const    x = reinterpret_cast<S*>(work + head_bytes);
    if (t < L.task_count)
        solve_task<Unknowns::awaited>(L, load_task(L.tasks + t), b + blockIdx.y * length, x, out + blockIdx.y * length);
}

/// Shared memory a block must ask for so that `resident` fit on a multiprocessor and no more; lets the kernel ask.
template <class T>
std::size_t shared_bytes_for(Gpu& gpu, int resident)
{
    if (resident == 0) return 0;
    int        all = 0, reserved = 0;
    const auto get = [&](int& value, cudaDeviceAttr attribute) {
        cuda::check(cudaDeviceGetAttribute(&value, attribute, gpu.device()), "cudaDeviceGetAttribute");
    };
    get(all, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    get(reserved, cudaDevAttrReservedSharedMemoryPerBlock);
    cuda::allow_shared(gpu, solve_syncfree<cuda::Value<T>>);
    const int most = gpu.state().shared_bytes - static_cast<int>(cuda::reserved_shared);
    const int bytes = std::min(all / resident - reserved - 128, most) / 128 * 128;
    return static_cast<std::size_t>(std::max(bytes, 0));
}

}  // namespace

template <class T>
SyncFreeEngine<T>::SyncFreeEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level,
                                  const SyncFreeTuning& tuning)
    : rows_(gpu, system, level, tuning.layout), shared_bytes_(shared_bytes_for<T>(gpu, tuning.resident))
{}

template <class T>
std::size_t SyncFreeEngine<T>::workspace_bytes() const
{
    return rows_.positions() == 0 ? 0 : head_bytes + sizeof(working_of<T>) * rows_.positions();
}

template <class T>
void SyncFreeEngine<T>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work,
                              Index rhs) const
{
    if (rows_.positions() == 0) return;
    const cuda::Range range("syncfree");
    const auto        stream = cuda::stream(gpu);
    const Index       blocks = (rows_.view().task_count + block_warps - 1) / block_warps;
    const dim3        grid(static_cast<unsigned>(blocks), static_cast<unsigned>(rhs));
    cuda::check(cudaMemsetAsync(work.data(), unset_byte, work.size(), stream), "cudaMemsetAsync");
    solve_syncfree<<<grid, 32 * block_warps, shared_bytes_, stream>>>(std::bit_cast<WarpRowsView<cuda::Value<T>>>(
                                                                          rows_.view()),
                                                                      cuda::as_values(b.data()),
                                                                      cuda::as_values(out.data()), b.size() / grid.y,
                                                                      work.data(), work.size() / grid.y);
    cuda::check_launch("solve_syncfree");
}

#define ILUX_INSTANTIATE(T) template class SyncFreeEngine<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
