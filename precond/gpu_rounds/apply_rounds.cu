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

/// Of one row, k columns that are solved at once; r and z hold one column after another instead.
template <int k, class S>
struct alignas(k > 1 ? 16 : sizeof(S)) Columns {
    S of[k];
};

/// r and z, found in device memory when the kernels run: one graph serves all vectors.
template <class S>
struct Ends {
    const S* r;
    S*       z;
};

template <class S>
__global__ void write_ends(Ends<S>* to, Ends<S> ends)
{
    *to = ends;
}

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
template <int k, class S>
__global__ void __launch_bounds__(block_size)
    gather(Index n, const Index* number, const double* scale, const Ends<S>* ends, Columns<k, S>* x)
{
    const Index i = static_cast<Index>(blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x);
    const S     s = i < n ? static_cast<S>(scale[i]) : 0;
    const Index place = i < n ? number[i] : 0;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    if (i >= n) return;
#pragma unroll
    for (Offset c = 0; c < k; ++c) x[i].of[c] = s * ends->r[c * n + place];
}

/// z_i ← s_i x_i, back in the order of z.
template <int k, class S>
__global__ void __launch_bounds__(block_size)
    scatter(Index n, const Index* number, const double* scale, const Ends<S>* ends, const Columns<k, S>* x)
{
    const Index i = static_cast<Index>(blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x);
    const S     s = i < n ? static_cast<S>(scale[i]) : 0;
    const Index place = i < n ? number[i] : 0;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    if (i >= n) return;
#pragma unroll
    for (Offset c = 0; c < k; ++c) ends->z[c * n + place] = s * x[i].of[c];
}

template <int k, class S>
__device__ void add_multiple(Columns<k, S>& sum, S a, const Columns<k, S>& x)
{
#pragma unroll
    for (int c = 0; c < k; ++c) sum.of[c] += a * x.of[c];
}

template <int lanes, int k, class S>
__device__ Columns<k, S> over_lanes(Columns<k, S> sum)
{
#pragma unroll
    for (int c = 0; c < k; ++c) sum.of[c] = cuda::over_lanes<cuda::Add, lanes>(sum.of[c]);
    return sum;
}

/// x_i ← x_i / d_i − Σ a_ij x_j for the rows of a round; d = 1 where inv_pivot is null.
template <int lanes, int k, class T, class S>
__global__ void __launch_bounds__(block_size) eliminate(Rows<T> A, const double* inv_pivot, Columns<k, S>* x)
{
    const Index i =
        A.begin + static_cast<Index>((blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x) / lanes);
    const int    lane = threadIdx.x % lanes;
    const bool   is = i < A.end;
    Offset       p = is ? __ldg(A.ptr + i) + lane : 0;
    const Offset end = is ? __ldg(A.ptr + i + 1) : 0;
    // the first entries and the pivot, before the wait
    Index col[ahead];
    S     val[ahead];
#pragma unroll
    for (int e = 0; e < ahead; ++e) {
        const bool there = p + e * lanes < end;
        col[e] = there ? __ldg(A.col + p + e * lanes) : 0;
        val[e] = there ? static_cast<S>(__ldg(A.val + p + e * lanes)) : 0;
    }
    const S inverse = is && inv_pivot && lane == 0 ? static_cast<S>(inv_pivot[i]) : 1;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    Columns<k, S> sum{};
    const auto    add = [&](S a, Index j) { add_multiple(sum, a, x[j]); };
#pragma unroll
    for (int e = 0; e < ahead; ++e)
        if (p + e * lanes < end) add(val[e], col[e]);
    for (p += ahead * lanes; p < end; p += lanes) add(static_cast<S>(__ldg(A.val + p)), __ldg(A.col + p));
    sum = over_lanes<lanes>(sum);
    if (!is || lane != 0) return;
    Columns<k, S> result = x[i];
#pragma unroll
    for (int c = 0; c < k; ++c) result.of[c] = inverse * result.of[c] - sum.of[c];
    x[i] = result;
}

/// y ← W x for W of order n, by rows: a warp a row.
template <int k, class T, class S>
__global__ void __launch_bounds__(block_size)
    multiply_rest(Index n, const T* W, const Columns<k, S>* x, Columns<k, S>* y)
{
    const Index   i = static_cast<Index>((blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x) / 32);
    const int     lane = threadIdx.x % 32;
    Columns<k, S> sum{};
    for (Index j = lane; i < n && j < n; j += 32) add_multiple(sum, static_cast<S>(W[Offset{i} * n + j]), x[j]);
    sum = over_lanes<32>(sum);
    if (i < n && lane == 0) y[i] = sum;
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

template <int k, class T, class S>
void eliminate_round(Gpu& gpu, const Rows<T>& rows, int lanes, const double* inv_pivot, Columns<k, S>* x)
{
    if (rows.begin == rows.end) return;
    rounds::with_one_of<1, 2, 4, 8, 16, 32>(lanes, [&](auto count) {
        const unsigned blocks = rounds::blocks_for(rows.end - rows.begin, block_size / count());
        launch(gpu, eliminate<count(), k, T, S>, blocks, rows, inv_pivot, x);
    });
}

/// x ← W x for the rest. @param scratch  as many values as x, or none where detail::multiply_dense needs none
template <int k, class T, class S>
void solve_rest(Gpu& gpu, const RoundsFactors<T>& f, DeviceSpan<S> x, DeviceSpan<S> scratch)
{
    const Index m = f.n - f.nB;
    if (m == 0) return;
    if constexpr (k == 1 && std::is_same_v<S, double>) return detail::multiply_dense<T>(gpu, f.W, x, scratch);
    copy<S>(gpu, x, scratch);
    const unsigned blocks = rounds::blocks_for(m, block_size / 32);
    const auto*    from = reinterpret_cast<const Columns<k, S>*>(scratch.data());
    auto* const    to = reinterpret_cast<Columns<k, S>*>(x.data());
    multiply_rest<k, T, S><<<blocks, block_size, 0, cuda::stream(gpu)>>>(m, f.W.data(), from, to);
    cuda::check_launch("multiply_rest");
}

template <int k, class T, class S>
void enqueue(Gpu& gpu, const RoundsFactors<T>& f, const RoundsScales* scales, const Ends<S>* ends, DeviceSpan<S> x,
             DeviceSpan<S> rest)
{
    const auto&       row_scale = scales ? scales->row : f.row_scale;
    const auto&       col_scale = scales ? scales->col : f.col_scale;
    const std::size_t rounds = f.lanes_U.size();
    auto* const       columns = reinterpret_cast<Columns<k, S>*>(x.data());
    const auto        L = [&](Index begin, Index end) {
        return Rows<T>{f.L_ptr.data(), f.L_col.data(), f.L_val.data(), begin, end};
    };
    launch(gpu, gather<k, S>, rounds::blocks_for(f.n, block_size), f.n, f.number->data(), row_scale.data(), ends,
           columns);
    for (std::size_t round = 1; round < rounds; ++round)
        eliminate_round<k, T, S>(gpu, L(f.round_begin[round], f.round_begin[round + 1]), f.lanes_L[round], nullptr,
                                 columns);
    eliminate_round<k, T, S>(gpu, L(f.nB, f.n), f.lanes_L[rounds], nullptr, columns);
    solve_rest<k, T, S>(gpu, f, x.subspan(k * std::size_t(f.nB), k * std::size_t(f.n - f.nB)), rest);
    for (std::size_t round = rounds; round-- > 0;)
        eliminate_round<k, T, S>(gpu,
                                 {f.U_ptr.data(), f.U_col.data(), f.U_val.data(), f.round_begin[round],
                                  f.round_begin[round + 1]},
                                 f.lanes_U[round], f.inv_pivot.data(), columns);
    launch(gpu, scatter<k, S>, rounds::blocks_for(f.n, block_size), f.n, f.number->data(), col_scale.data(), ends,
           columns);
}

}  // namespace

template <class T>
std::size_t RoundsFactors<T>::bytes() const
{
    return (number->size() + L_col.size() + U_col.size()) * sizeof(Index) +
           (row_scale.size() + col_scale.size() + inv_pivot.size()) * sizeof(double) +
           (L_ptr.size() + U_ptr.size()) * sizeof(Offset) + (L_val.size() + U_val.size() + W.size()) * sizeof(T);
}

template <class T, class S>
RoundsWorkspace<T, S>::RoundsWorkspace(Gpu& gpu, const RoundsFactors<T>& factors, int columns,
                                       const RoundsScales* scales)
    : factors_(&factors), scales_(scales), columns_(columns)
{
    gpu.make_current();
    const Index rest = factors.n - factors.nB;
    x_ = DeviceBuffer<S>(std::size_t(columns) * factors.n);
    if (columns > 1 || !std::is_same_v<S, double> || rest > detail::dense_in_place)
        rest_ = DeviceBuffer<S>(std::size_t(columns) * rest);
    ends_ = DeviceBuffer<std::byte>(sizeof(Ends<S>));
    graph_ = cuda::capture_graph(gpu, [&] { enqueue(gpu); });
}

template <class T, class S>
void RoundsWorkspace<T, S>::enqueue(Gpu& gpu)
{
    const auto* ends = reinterpret_cast<const Ends<S>*>(ends_.data());
    const auto all = [&](auto k) { ilux::enqueue<k(), T, S>(gpu, *factors_, scales_, ends, DeviceSpan<S>(x_), rest_); };
    if constexpr (std::is_same_v<S, double>) rounds::with_one_of<1, rounds_columns>(columns_, all);
    else all(std::integral_constant<int, 1>());
}

template <class T, class S>
void RoundsWorkspace<T, S>::apply(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    const cuda::Range range("rounds");
    const auto        stream = cuda::stream(gpu);
    if (factors_->n == 0) return;
    auto* const ends = reinterpret_cast<Ends<S>*>(ends_.data());
    write_ends<<<1, 1, 0, stream>>>(ends, Ends<S>{r.data(), z.data()});
    cuda::check_launch("write_ends");
    if (graph_ && !cuda::capturing(stream)) cuda::launch_graph(gpu, graph_);
    else enqueue(gpu);
}

template struct RoundsFactors<double>;
template struct RoundsFactors<float>;
template class RoundsWorkspace<double>;
template class RoundsWorkspace<float>;
template class RoundsWorkspace<float, float>;

}  // namespace ilux
