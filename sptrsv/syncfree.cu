// x ← L⁻¹ b in one launch, by the method of [aliaga19]: warps take tasks of equal level (warp_layout.hpp), and rows wait
// for the rows they read by polling x itself (device_row.hpp).
//
// Launch shape: 8 warps a block, a warp a task, as many blocks as that needs. Terminates: a block claims its tasks by a
// ticket, so tasks start in order; a task waits only for tasks of earlier levels, which come before it, in blocks that
// run already or in warps of its own block, which never wait for it. Repeatable: bitwise, sums have one order.

#include "ilux/sptrsv/syncfree.hpp"

#include <algorithm>

#include "ilux/sptrsv/device_warp.hpp"

namespace ilux {
namespace {

constexpr int         block_warps = 8;
constexpr std::size_t head_bytes = 256;  // of a workspace: the ticket; then x

/// Before the launch the ticket is −1 and x is unset.
template <class T>
__global__ void __launch_bounds__(32 * block_warps)
    solve_syncfree(WarpRowsView<T> L, const double* b, double* x, double* out, int* ticket)
{
    __shared__ int claimed;
    if (threadIdx.x == 0) claimed = atomicAdd(ticket, 1) + 1;
    __syncthreads();
    const Index t = claimed * block_warps + static_cast<Index>(threadIdx.x) / 32;
    if (t < L.task_count) solve_task<Unknowns::awaited>(L, load_task(L.tasks + t), b, x, out);
}

/// Shared memory a block must ask for so that `resident` fit on a multiprocessor and no more; lets the kernel ask.
template <class T>
std::size_t shared_bytes_for(Gpu& gpu, int resident)
{
    if (resident == 0) return 0;
    int        all = 0, reserved = 0, most = 0;
    const auto get = [&](int& value, cudaDeviceAttr attribute) {
        cuda::check(cudaDeviceGetAttribute(&value, attribute, gpu.device()), "cudaDeviceGetAttribute");
    };
    get(all, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    get(reserved, cudaDevAttrReservedSharedMemoryPerBlock);
    get(most, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    most -= 1024;  // the kernel's own variable, generously
    cuda::check(cudaFuncSetAttribute(solve_syncfree<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                "cudaFuncSetAttribute");
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
    return rows_.positions() == 0 ? 0 : head_bytes + sizeof(double) * rows_.positions();
}

template <class T>
void SyncFreeEngine<T>::solve(Gpu& gpu, DeviceSpan<const double> b, DeviceSpan<double> out,
                              DeviceSpan<std::byte> work) const
{
    if (rows_.positions() == 0) return;
    const cuda::Range range("syncfree");
    const auto        stream = cuda::stream(gpu);
    const Index       blocks = (rows_.view().task_count + block_warps - 1) / block_warps;
    cuda::check(cudaMemsetAsync(work.data(), unset_byte, workspace_bytes(), stream), "cudaMemsetAsync");
    solve_syncfree<<<blocks, 32 * block_warps, shared_bytes_, stream>>>(rows_.view(), b.data(),
                                                                        reinterpret_cast<double*>(work.data() +
                                                                                                  head_bytes),
                                                                        out.data(),
                                                                        reinterpret_cast<int*>(work.data()));
    cuda::check_launch("solve_syncfree");
}

template class SyncFreeEngine<double>;
template class SyncFreeEngine<float>;

}  // namespace ilux
