// M⁻¹ by rounds: a launch a round, all of them one CUDA graph. Rows of a round lie together; lanes share a row as in spmv.
// A launch begins while the one before ends, and has read its entries by then: late rounds are small, and their latency counts.

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/precond/gpu_rounds/apply_rounds.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux {
namespace {

constexpr int block_size = 256;
constexpr int ahead = 4;  // entries of a lane that are read before the wait

/// r and z, found in device memory when the kernels run: one graph serves all vectors.
struct Ends {
    const double* r;
    double*       z;
};

__global__ void write_ends(Ends* to, Ends ends) { *to = ends; }

template <class T>
struct Rows {
    const Offset* ptr;
    const Index*  col;
    const T*      val;
    Index         begin, end;
};

/// Each kernel starts while the one before still runs: it reads what no kernel writes, then waits. All threads come here, so that
/// no kernel ends before the one before it.
__device__ void await_kernel_before() { cudaGridDependencySynchronize(); }

/// x_i ← s_i r_i, in the order of elimination.
__global__ void __launch_bounds__(block_size)
    gather(Index n, const Index* number, const double* scale, const Ends* ends, double* x)
{
    const Index  i = static_cast<Index>(blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x);
    const double s = i < n ? scale[i] : 0;
    const Index  k = i < n ? number[i] : 0;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    if (i < n) x[i] = s * ends->r[k];
}

/// z_i ← s_i x_i, back in the order of z.
__global__ void __launch_bounds__(block_size)
    scatter(Index n, const Index* number, const double* scale, const Ends* ends, const double* x)
{
    const Index  i = static_cast<Index>(blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x);
    const double s = i < n ? scale[i] : 0;
    const Index  k = i < n ? number[i] : 0;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    if (i < n) ends->z[k] = s * x[i];
}

/// x_i ← x_i / d_i − Σ a_ij x_j for the rows of a round; d = 1 where inv_pivot is null.
template <int lanes, class T>
__global__ void __launch_bounds__(block_size) eliminate(Rows<T> A, const double* inv_pivot, double* x)
{
    const Index i =
        A.begin + static_cast<Index>((blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x) / lanes);
    const int    lane = threadIdx.x % lanes;
    const bool   is = i < A.end;
    Offset       p = is ? __ldg(A.ptr + i) + lane : 0;
    const Offset end = is ? __ldg(A.ptr + i + 1) : 0;
    // the first entries and the pivot, before the wait
    Index  col[ahead];
    double val[ahead];
#pragma unroll
    for (int e = 0; e < ahead; ++e) {
        const bool there = p + e * lanes < end;
        col[e] = there ? __ldg(A.col + p + e * lanes) : 0;
        val[e] = there ? static_cast<double>(__ldg(A.val + p + e * lanes)) : 0;
    }
    const double inverse = is && inv_pivot && lane == 0 ? inv_pivot[i] : 1;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    double sum = 0;
#pragma unroll
    for (int e = 0; e < ahead; ++e)
        if (p + e * lanes < end) sum += val[e] * x[col[e]];
    for (p += ahead * lanes; p < end; p += lanes) sum += static_cast<double>(__ldg(A.val + p)) * x[__ldg(A.col + p)];
    sum = cuda::over_lanes<cuda::Add, lanes>(sum);
    if (is && lane == 0) x[i] = inverse * x[i] - sum;
}

/// A launch that may begin before the one before has ended.
template <class... Parameters, class... Arguments>
void launch(Gpu& gpu, void (*kernel)(Parameters...), unsigned blocks, Arguments... arguments)
{
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(block_size);
    config.stream = cuda::stream(gpu);
    config.attrs = &overlap;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "rounds");
}

template <class T>
void eliminate_round(Gpu& gpu, const Rows<T>& rows, int lanes, const double* inv_pivot, double* x)
{
    if (rows.begin == rows.end) return;
    rounds::with_one_of<1, 2, 4, 8, 16, 32>(lanes, [&](auto count) {
        const unsigned blocks = rounds::blocks_for(rows.end - rows.begin, block_size / count());
        launch(gpu, eliminate<count(), T>, blocks, rows, inv_pivot, x);
    });
}

template <class T>
void enqueue(Gpu& gpu, const RoundsFactors<T>& f, const Ends* ends, DeviceSpan<double> x, DeviceSpan<double> rest)
{
    const std::size_t rounds = f.lanes_U.size();
    const auto        L = [&](Index begin, Index end) {
        return Rows<T>{f.L_ptr.data(), f.L_col.data(), f.L_val.data(), begin, end};
    };
    launch(gpu, gather, rounds::blocks_for(f.n, block_size), f.n, f.number->data(), f.row_scale.data(), ends, x.data());
    for (std::size_t k = 1; k < rounds; ++k)
        eliminate_round<T>(gpu, L(f.round_begin[k], f.round_begin[k + 1]), f.lanes_L[k], nullptr, x.data());
    eliminate_round<T>(gpu, L(f.nB, f.n), f.lanes_L[rounds], nullptr, x.data());
    if (f.n > f.nB) detail::multiply_dense<T>(gpu, f.W, x.subspan(f.nB, f.n - f.nB), rest);
    for (std::size_t k = rounds; k-- > 0;)
        eliminate_round<T>(gpu,
                           {f.U_ptr.data(), f.U_col.data(), f.U_val.data(), f.round_begin[k], f.round_begin[k + 1]},
                           f.lanes_U[k], f.inv_pivot.data(), x.data());
    launch(gpu, scatter, rounds::blocks_for(f.n, block_size), f.n, f.number->data(), f.col_scale.data(), ends,
           x.data());
}

}  // namespace

template <class T>
std::size_t RoundsFactors<T>::bytes() const
{
    return (number->size() + L_col.size() + U_col.size()) * sizeof(Index) +
           (row_scale.size() + col_scale.size() + inv_pivot.size()) * sizeof(double) +
           (L_ptr.size() + U_ptr.size()) * sizeof(Offset) + (L_val.size() + U_val.size() + W.size()) * sizeof(T);
}

template <class T>
RoundsWorkspace<T>::RoundsWorkspace(Gpu& gpu, const RoundsFactors<T>& factors) : factors_(&factors)
{
    gpu.make_current();
    x_ = DeviceBuffer<double>(factors.n);
    if (factors.n - factors.nB > detail::dense_in_place) rest_ = DeviceBuffer<double>(factors.n - factors.nB);
    ends_ = DeviceBuffer<std::byte>(sizeof(Ends));
    graph_ = cuda::capture_graph(gpu, [&] {
        enqueue(gpu, factors, reinterpret_cast<const Ends*>(ends_.data()), DeviceSpan<double>(x_), rest_);
    });
}

template <class T>
void RoundsWorkspace<T>::apply(Gpu& gpu, DeviceSpan<const double> r, DeviceSpan<double> z)
{
    const cuda::Range range("rounds");
    const auto        stream = cuda::stream(gpu);
    if (factors_->n == 0) return;
    auto* const ends = reinterpret_cast<Ends*>(ends_.data());
    write_ends<<<1, 1, 0, stream>>>(ends, {r.data(), z.data()});
    cuda::check_launch("write_ends");
    if (graph_ && !cuda::capturing(stream)) cuda::launch_graph(gpu, graph_);
    else enqueue(gpu, *factors_, ends, DeviceSpan<double>(x_), rest_);
}

template struct RoundsFactors<double>;
template struct RoundsFactors<float>;
template class RoundsWorkspace<double>;
template class RoundsWorkspace<float>;

}  // namespace ilux
