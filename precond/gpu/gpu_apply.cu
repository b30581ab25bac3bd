// The dense level of M⁻¹, and its steps as CUDA graphs.
//
// x ← W x: a warp a row, lanes stride over its columns, then a shuffle tree: the order of each sum is fixed by n.
// Up to dense_in_place rows one block does all and keeps x in shared memory; beyond, x is copied first.

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int row_threads = 256;

/// Lane 0 has Σ_j W_ij x_j. Called by whole warps, with one i in each.
template <class T, class S = working_of<T>>
__device__ S row_times(const T* W, std::size_t n, std::size_t i, const S* x)
{
    S sum{};
    for (std::size_t j = threadIdx.x % 32; j < n; j += 32)
        sum = cuda::plus_product(sum, cuda::widened(W[i * n + j]), x[j]);
    return cuda::over_lanes<cuda::Add>(sum);
}

template <class T, class S = working_of<T>>
__global__ void multiply_in_place(std::size_t n, const T* W, S* x)
{
    __shared__ S old[detail::dense_in_place];
    for (std::size_t j = threadIdx.x; j < n; j += blockDim.x) old[j] = x[j];
    __syncthreads();
    for (std::size_t i = threadIdx.x / 32; i < n; i += blockDim.x / 32) {
        const S sum = row_times(W, n, i, old);
        if (threadIdx.x % 32 == 0) x[i] = sum;
    }
}

template <class T, class S = working_of<T>>
__global__ void __launch_bounds__(row_threads) multiply_rows(std::size_t n, const T* W, const S* x, S* y)
{
    const std::size_t i = std::size_t{blockIdx.x} * (row_threads / 32) + threadIdx.x / 32;
    if (i >= n) return;  // the whole warp
    const S sum = row_times(W, n, i, x);
    if (threadIdx.x % 32 == 0) y[i] = sum;
}

}  // namespace

namespace detail {

template <class T>
void multiply_dense(Gpu& be, DeviceSpan<const T> W, DeviceSpan<working_of<T>> x, DeviceSpan<working_of<T>> scratch)
{
    const std::size_t n = x.size();
    ILUX_ASSERT(W.size() == n * n && (n <= dense_in_place || scratch.size() == n));
    const cuda::Range range("multiply_dense");
    const auto        stream = cuda::stream(be);
    if (n == 0) return;
    if (n <= dense_in_place) {
        const auto threads = static_cast<unsigned>(32 * (n < 32 ? n : 32));
        multiply_in_place<<<1, threads, 0, stream>>>(n, cuda::as_values(W.data()), cuda::as_values(x.data()));
    } else {
        copy<working_of<T>>(be, x, scratch);
        const auto blocks = static_cast<unsigned>((n + row_threads / 32 - 1) / (row_threads / 32));
        multiply_rows<<<blocks, row_threads, 0, stream>>>(n, cuda::as_values(W.data()), cuda::as_values(scratch.data()),
                                                          cuda::as_values(x.data()));
    }
    cuda::check_launch("multiply_dense");
}

#define ILUX_INSTANTIATE(T) \
    template void multiply_dense(Gpu&, DeviceSpan<const T>, DeviceSpan<working_of<T>>, DeviceSpan<working_of<T>>);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

std::shared_ptr<void> capture_graph(Gpu& gpu, const std::function<void()>& work)
{
    return cuda::capture_graph(gpu, work);
}

void launch_graph(Gpu& gpu, const std::shared_ptr<void>& graph) { cuda::launch_graph(gpu, graph); }

}  // namespace detail
}  // namespace ilux
