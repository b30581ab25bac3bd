// The dense level of M⁻¹, and its steps as CUDA graphs.
//
// x ← W x: a warp a row, lanes stride over its columns, then a shuffle tree: the order of each sum is fixed by n.
// Up to dense_in_place rows one block does all and keeps x in shared memory; beyond, x is copied first.

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int      row_threads = 256;
constexpr unsigned whole_warp = ~0u;

/// Lane 0 has Σ_j W_ij x_j. Called by whole warps, with one i in each.
template <class T>
__device__ double row_times(const T* W, std::size_t n, std::size_t i, const double* x)
{
    double sum = 0;
    for (std::size_t j = threadIdx.x % 32; j < n; j += 32) sum += static_cast<double>(W[i * n + j]) * x[j];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(whole_warp, sum, step);
    return sum;
}

template <class T>
__global__ void multiply_in_place(std::size_t n, const T* W, double* x)
{
    __shared__ double old[detail::dense_in_place];
    for (std::size_t j = threadIdx.x; j < n; j += blockDim.x) old[j] = x[j];
    __syncthreads();
    for (std::size_t i = threadIdx.x / 32; i < n; i += blockDim.x / 32) {
        const double sum = row_times(W, n, i, old);
        if (threadIdx.x % 32 == 0) x[i] = sum;
    }
}

template <class T>
__global__ void __launch_bounds__(row_threads) multiply_rows(std::size_t n, const T* W, const double* x, double* y)
{
    const std::size_t i = std::size_t{blockIdx.x} * (row_threads / 32) + threadIdx.x / 32;
    if (i >= n) return;  // the whole warp
    const double sum = row_times(W, n, i, x);
    if (threadIdx.x % 32 == 0) y[i] = sum;
}

}  // namespace

namespace detail {

template <class T>
void multiply_dense(Gpu& be, DeviceSpan<const T> W, DeviceSpan<double> x, DeviceSpan<double> scratch)
{
    const std::size_t n = x.size();
    ILUX_ASSERT(W.size() == n * n && (n <= dense_in_place || scratch.size() == n));
    const cuda::Range range("multiply_dense");
    const auto        stream = cuda::stream(be);
    if (n == 0) return;
    if (n <= dense_in_place) {
        const auto threads = static_cast<unsigned>(32 * (n < 32 ? n : 32));
        multiply_in_place<<<1, threads, 0, stream>>>(n, W.data(), x.data());
    } else {
        copy(be, x, scratch);
        const auto blocks = static_cast<unsigned>((n + row_threads / 32 - 1) / (row_threads / 32));
        multiply_rows<<<blocks, row_threads, 0, stream>>>(n, W.data(), scratch.data(), x.data());
    }
    cuda::check_launch("multiply_dense");
}

template void multiply_dense(Gpu&, DeviceSpan<const double>, DeviceSpan<double>, DeviceSpan<double>);
template void multiply_dense(Gpu&, DeviceSpan<const float>, DeviceSpan<double>, DeviceSpan<double>);

std::shared_ptr<void> capture_graph(Gpu& gpu, const std::function<void()>& work)
{
    return cuda::capture_graph(gpu, work);
}

void launch_graph(Gpu& gpu, const std::shared_ptr<void>& graph) { cuda::launch_graph(gpu, graph); }

}  // namespace detail
}  // namespace ilux
