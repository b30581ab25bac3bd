// M⁻¹ by rounds: a launch a round, all of them one CUDA graph. Rows of a round lie together; lanes share a row as in
// spmv. A launch begins while the one before ends, and has read its entries by then: late rounds are small, and their
// latency counts.

#include <type_traits>

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/precond/gpu_rounds/apply_rounds.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux {
namespace {

constexpr int block_size = 256;
constexpr int ahead = 4;  // entries of a lane that are read before the wait

/// One row of k columns that are solved at once; r and z hold one column after another instead.
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

/// Each kernel starts while the one before still runs: it reads what no kernel writes, then waits. All threads come
/// here, so that no kernel ends before the one before it.
__device__ void await_kernel_before() { cudaGridDependencySynchronize(); }

/// x_i ← s_i r_i, in the order of elimination.
template <int k, class S>
__global__ void __launch_bounds__(block_size)
    gather(Index n, const Index* number, const double* scale, const Ends<S>* ends, Columns<k, S>* x)
{
    const Index i = static_cast<Index>(blockIdx.x * static_cast<unsigned>(block_size) + threadIdx.x);
    const auto  s = i < n ? static_cast<real_of<S>>(scale[i]) : 0;
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
    const auto  s = i < n ? static_cast<real_of<S>>(scale[i]) : 0;
    const Index place = i < n ? number[i] : 0;
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    if (i >= n) return;
#pragma unroll
    for (Offset c = 0; c < k; ++c) ends->z[c * n + place] = s * x[i].of[c];
}

template <class S>
__device__ S one()
{
    if constexpr (is_complex<S>) return {1, 0};
    else return 1;
}

template <int k, class S>
__device__ void add_multiple(Columns<k, S>& sum, S a, const Columns<k, S>& x)
{
#pragma unroll
    for (int c = 0; c < k; ++c) sum.of[c] = cuda::plus_product(sum.of[c], a, x.of[c]);
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
__global__ void __launch_bounds__(block_size) eliminate(Rows<T> A, const working_of<T>* inv_pivot, Columns<k, S>* x)
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
        val[e] = there ? cuda::converted<S>(cuda::load_constant(A.val + p + e * lanes)) : S{};
    }
    const S inverse = is && inv_pivot && lane == 0 ? cuda::converted<S>(inv_pivot[i]) : one<S>();
    cudaTriggerProgrammaticLaunchCompletion();
    await_kernel_before();
    Columns<k, S> sum{};
    const auto    add = [&](S a, Index j) { add_multiple(sum, a, x[j]); };
#pragma unroll
    for (int e = 0; e < ahead; ++e)
        if (p + e * lanes < end) add(val[e], col[e]);
    for (p += ahead * lanes; p < end; p += lanes)
        add(cuda::converted<S>(cuda::load_constant(A.val + p)), __ldg(A.col + p));
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
    for (Index j = lane; i < n && j < n; j += 32) add_multiple(sum, cuda::converted<S>(W[Offset{i} * n + j]), x[j]);
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

// From here on T and S are those of the host.

template <class T>
Rows<cuda::Value<T>> rows_of(const DeviceBuffer<Offset>& ptr, const DeviceBuffer<Index>& col,
                             const DeviceBuffer<T>& val, Index begin, Index end)
{
    return {ptr.data(), col.data(), cuda::as_values(val.data()), begin, end};
}

template <int k, class T, class S>
void eliminate_round(Gpu& gpu, const Rows<T>& rows, int lanes, const working_of<T>* inv_pivot, Columns<k, S>* x)
{
    if (rows.begin == rows.end) return;
    rounds::with_one_of<1, 2, 4, 8, 16, 32>(lanes, [&](auto count) {
        const unsigned blocks = rounds::blocks_for(rows.end - rows.begin, block_size / count());
        launch(gpu, eliminate<count(), k, T, S>, blocks, rows, inv_pivot, x);
    });
}

template <int k, class S>
auto as_columns(S* x)
{
    return reinterpret_cast<Columns<k, cuda::Value<S>>*>(x);
}

/// x ← W x for the rest. @param scratch  as many values as x, or none where detail::multiply_dense needs none
template <int k, class T, class S>
void solve_rest(Gpu& gpu, const RoundsFactors<T>& f, DeviceSpan<S> x, DeviceSpan<S> scratch)
{
    const Index m = f.n - f.nB;
    if (m == 0) return;
    if constexpr (k == 1 && std::is_same_v<S, working_of<T>>) return detail::multiply_dense<T>(gpu, f.W, x, scratch);
    copy<S>(gpu, x, scratch);
    const unsigned blocks = rounds::blocks_for(m, block_size / 32);
    multiply_rest<k, cuda::Value<T>, cuda::Value<S>>
        <<<blocks, block_size, 0, cuda::stream(gpu)>>>(m, cuda::as_values(f.W.data()), as_columns<k>(scratch.data()),
                                                       as_columns<k>(x.data()));
    cuda::check_launch("multiply_rest");
}

template <int k, class T, class S>
void enqueue(Gpu& gpu, const RoundsFactors<T>& f, const RoundsScales* scales, const Ends<cuda::Value<S>>* ends,
             DeviceSpan<S> x, DeviceSpan<S> rest)
{
    using V = cuda::Value<S>;
    const auto&       row_scale = scales ? scales->row : f.row_scale;
    const auto&       col_scale = scales ? scales->col : f.col_scale;
    const std::size_t rounds = f.lanes_U.size();
    auto* const       columns = as_columns<k>(x.data());
    const auto        eliminate_L = [&](Index begin, Index end, int lanes) {
        eliminate_round(gpu, rows_of(f.L_ptr, f.L_col, f.L_val, begin, end), lanes, nullptr, columns);
    };
    launch(gpu, gather<k, V>, rounds::blocks_for(f.n, block_size), f.n, f.number->data(), row_scale.data(), ends,
           columns);
    for (std::size_t round = 1; round < rounds; ++round)
        eliminate_L(f.round_begin[round], f.round_begin[round + 1], f.lanes_L[round]);
    eliminate_L(f.nB, f.n, f.lanes_L[rounds]);
    solve_rest<k, T, S>(gpu, f, x.subspan(k * std::size_t(f.nB), k * std::size_t(f.n - f.nB)), rest);
    for (std::size_t round = rounds; round-- > 0;)
        eliminate_round(gpu, rows_of(f.U_ptr, f.U_col, f.U_val, f.round_begin[round], f.round_begin[round + 1]),
                        f.lanes_U[round], cuda::as_values(f.inv_pivot.data()), columns);
    launch(gpu, scatter<k, V>, rounds::blocks_for(f.n, block_size), f.n, f.column->data(), col_scale.data(), ends,
           columns);
}

}  // namespace

template <class T>
std::size_t RoundsFactors<T>::bytes() const
{
    const std::size_t of_columns = column == number ? 0 : column->size();
    return (number->size() + of_columns + L_col.size() + U_col.size()) * sizeof(Index) +
           (row_scale.size() + col_scale.size()) * sizeof(double) + inv_pivot.size() * sizeof(working_of<T>) +
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
    if (columns > 1 || !std::is_same_v<S, working_of<T>> || rest > detail::dense_in_place)
        rest_ = DeviceBuffer<S>(std::size_t(columns) * rest);
    ends_ = DeviceBuffer<std::byte>(sizeof(Ends<cuda::Value<S>>));
    graph_ = cuda::capture_graph(gpu, [&] { enqueue(gpu); });
}

template <class T, class S>
void RoundsWorkspace<T, S>::enqueue(Gpu& gpu)
{
    const auto* ends = reinterpret_cast<const Ends<cuda::Value<S>>*>(ends_.data());
    const auto all = [&](auto k) { ilux::enqueue<k(), T, S>(gpu, *factors_, scales_, ends, DeviceSpan<S>(x_), rest_); };
    if constexpr (std::is_same_v<S, working_of<T>>) rounds::with_one_of<1, rounds_columns>(columns_, all);
    else all(std::integral_constant<int, 1>());
}

template <class T, class S>
void RoundsWorkspace<T, S>::apply(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    const cuda::Range range("rounds");
    const auto        stream = cuda::stream(gpu);
    if (factors_->n == 0) return;
    using AllEnds = Ends<cuda::Value<S>>;
    auto* const ends = reinterpret_cast<AllEnds*>(ends_.data());
    write_ends<<<1, 1, 0, stream>>>(ends, AllEnds{cuda::as_values(r.data()), cuda::as_values(z.data())});
    cuda::check_launch("write_ends");
    if (graph_ && !cuda::capturing(stream)) cuda::launch_graph(gpu, graph_);
    else enqueue(gpu);
}

#define ILUX_INSTANTIATE(S)                       \
    template struct RoundsFactors<S>;             \
    template struct RoundsFactors<single_of<S>>;  \
    template class RoundsWorkspace<S>;            \
    template class RoundsWorkspace<single_of<S>>; \
    template class RoundsWorkspace<single_of<S>, single_of<S>>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
