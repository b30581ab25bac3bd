// Right-looking refactorization. Launch shape: a block a column, a warp a subcolumn, of 8 warps for glu1 [he16], of 2
// to 32 by the size of the level for glu3; in stream mode, for levels of few columns, a stream a column with three
// launches: division by one block, subcolumns by a block each, clearing by one block [peng_tan_20].
//
// Levels are separate launches, or joined streams; so what a launch reads as divisors and multipliers no other block
// writes, by the levels' rules, and what it writes are additions to entries that others may add to as well: atomics.
// Nobody waits for another block. Work vectors hold `unset` outside the column at hand: a NaN that no quotient is
// stored as.

#include <cstdint>
#include <utility>

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/gpu/branches.hpp"
#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/direct/published/refactor_right_plan.hpp"
#include "ilux/sptrsv/gpu/device_row.hpp"

namespace ilux {
namespace {

constexpr int most_threads = 1024;

struct UpperRowsView {
    const Offset* ptr = nullptr;
    const Index*  col = nullptr;
    const Offset* position = nullptr;
};

/// L(:,j) ← L(:,j) / u_jj by one block, and a dense copy of it in x unless that is null.
template <class V>
__device__ void divide(const LuPatternView& P, Index j, V* val, BitsOf<V>* x)
{
    const Offset     diag = P.diag[j], end = P.col_ptr[j + 1];
    const Divisor<V> by_pivot(val[diag]);
    for (Offset q = diag + 1 + threadIdx.x; q < end; q += blockDim.x) {
        const V l = by_pivot(val[q]);
        val[q] = l;
        if (x != nullptr) x[P.row[q]] = published(l);
    }
}

/// *at ← *at − l u; others may add to it as well.
__device__ void subtract_product(double* at, double l, double u) { atomicAdd(at, -(l * u)); }
__device__ void subtract_product(cuda::Complex<double>* at, cuda::Complex<double> l, cuda::Complex<double> u)
{
    const auto product = l * u;
    atomicAdd(&at->re, -product.re);
    atomicAdd(&at->im, -product.im);
}

/// Subcolumn e of the rows of U, (j, k): a_rk ← a_rk − l_rj u_jk for r ∈ L(:,j), which is in x; all rows of column k
/// below j are walked, by `lanes` threads.
template <class V>
__device__ void subtract(const LuPatternView& P, const UpperRowsView& U, Offset e, int lane, int lanes,
                         const BitsOf<V>* x, V* val)
{
    const Offset at = U.position[e], end = P.col_ptr[U.col[e] + 1];
    const V      u = val[at];
    for (Offset q = at + 1 + lane; q < end; q += lanes)
        if (const BitsOf<V> l = x[P.row[q]]; !is_unset(l)) subtract_product(val + q, as_number(l), u);
}

template <class V>
__device__ void clear(const LuPatternView& P, Index j, BitsOf<V>* x)
{
    const Offset end = P.col_ptr[j + 1];
    for (Offset q = P.diag[j] + 1 + threadIdx.x; q < end; q += blockDim.x) x[P.row[q]] = bits_of_unset<V>();
}

/// A block eliminates a column, its warps take turns at the subcolumns.
template <class V>
__global__ void __launch_bounds__(most_threads)
    eliminate_columns(LuPatternView P, UpperRowsView U, const Index* column, V* val, BitsOf<V>* work)
{
    const Index  j = column[blockIdx.x];
    const Offset first = U.ptr[j], end = U.ptr[j + 1];
    if (first == end) return divide<V>(P, j, val, nullptr);
    if (P.diag[j] + 1 == P.col_ptr[j + 1]) return;  // L(:,j) is empty; row j of U may still be growing
    BitsOf<V>* const x = work + blockIdx.x * static_cast<std::size_t>(P.n);
    divide(P, j, val, x);
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (Offset e = first + threadIdx.x / 32; e < end; e += blockDim.x / 32) subtract(P, U, e, lane, 32, x, val);
    __syncthreads();
    clear<V>(P, j, x);
}

// Stream mode: the same in three launches.
template <class V>
__global__ void __launch_bounds__(most_threads) divide_column(LuPatternView P, Index j, V* val, BitsOf<V>* x)
{
    divide(P, j, val, x);
}
template <class V>
__global__ void __launch_bounds__(most_threads)
    subtract_column(LuPatternView P, UpperRowsView U, Index j, const BitsOf<V>* x, V* val)
{
    subtract(P, U, U.ptr[j] + blockIdx.x, threadIdx.x, blockDim.x, x, val);
}
template <class V>
__global__ void __launch_bounds__(most_threads) clear_column(LuPatternView P, Index j, BitsOf<V>* x)
{
    clear<V>(P, j, x);
}

int attribute(Gpu& gpu, cudaDeviceAttr which)
{
    int value = 0;
    cuda::check(cudaDeviceGetAttribute(&value, which, gpu.device()), "cudaDeviceGetAttribute");
    return value;
}

template <class V>
detail::RightRoom room_of(Gpu& gpu)
{
    cuda::stream(gpu);  // makes the device current
    const int processors = attribute(gpu, cudaDevAttrMultiProcessorCount);
    int       blocks = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, eliminate_columns<V>, 32 * detail::glu1_warps,
                                                              0),
                "occupancy");
    return {processors * attribute(gpu, cudaDevAttrMaxThreadsPerMultiProcessor) / 32, processors * blocks, sizeof(V)};
}

}  // namespace

template <Scalar S>
struct RightRefactor<S>::State {
    std::shared_ptr<const GpuLuPattern>  pattern;
    detail::RightPlan                    plan;
    std::vector<Offset>                  upper_ptr;  // of the rows of U
    cuda::Branches                       branches;
    std::shared_ptr<void>                graph;
    const S*                             captured = nullptr;  // val of the graph
    DeviceArrays                         arrays;
    UpperRowsView                        upper;
    const Index*                         column = nullptr;
    DeviceBuffer<BitsOf<cuda::Value<S>>> work;  // columns in flight × n; freed first, which waits for the device

    State(Gpu& gpu, std::shared_ptr<const GpuLuPattern> on, detail::RightPlan given);
    void enqueue(Gpu& gpu, cuda::Value<S>* val);
    void eliminate_on_streams(cudaStream_t stream, const detail::RightStep& step, cuda::Value<S>* val);
    void eliminate_alone(cudaStream_t stream, Index j, cuda::Value<S>* val, BitsOf<cuda::Value<S>>* x);
};

template <Scalar S>
RightRefactor<S>::State::State(Gpu& gpu, std::shared_ptr<const GpuLuPattern> on, detail::RightPlan given)
    : pattern(std::move(on)), plan(std::move(given)), branches(plan.streams > 0 ? plan.streams - 1 : 0)
{
    detail::UpperRows rows(pattern->host());
    arrays.add(rows.ptr, upper.ptr);
    arrays.add(rows.col, upper.col);
    arrays.add(rows.position, upper.position);
    arrays.add(plan.levels.column, column);
    arrays.upload(gpu);
    upper_ptr = std::move(rows.ptr);
    work = DeviceBuffer<BitsOf<cuda::Value<S>>>(static_cast<std::size_t>(plan.in_flight) * pattern->host().n);
    if (work.empty()) return;
    cuda::check(cudaMemsetAsync(work.data(), unset_byte, work.size() * sizeof(BitsOf<cuda::Value<S>>),
                                cuda::stream(gpu)),
                "cudaMemsetAsync");
}

template <Scalar S>
void RightRefactor<S>::State::enqueue(Gpu& gpu, cuda::Value<S>* val)
{
    const auto stream = cuda::stream(gpu);
    for (const detail::RightStep& step : plan.steps) {
        if (step.stream) {
            eliminate_on_streams(stream, step, val);
            continue;
        }
        const auto columns = static_cast<unsigned>(step.end - step.first);
        eliminate_columns<<<columns, 32 * step.warps, 0, stream>>>(pattern->view(), upper, column + step.first, val,
                                                                   work.data());
        cuda::check_launch("eliminate_columns");
    }
}

/// Columns take turns at the streams, of which the caller's is the first.
template <Scalar S>
void RightRefactor<S>::State::eliminate_on_streams(cudaStream_t stream, const detail::RightStep& step,
                                                   cuda::Value<S>* val)
{
    const Index streams = static_cast<Index>(std::min<Offset>(plan.streams, step.end - step.first));
    branches.fork(stream, streams - 1);
    for (Offset c = step.first; c < step.end; ++c) {
        const auto s = static_cast<Index>((c - step.first) % streams);
        eliminate_alone(s == 0 ? stream : branches[s - 1], plan.levels.column[c], val,
                        work.data() + static_cast<std::size_t>(s) * pattern->host().n);
    }
    branches.join(stream, streams - 1);
}

template <Scalar S>
void RightRefactor<S>::State::eliminate_alone(cudaStream_t stream, Index j, cuda::Value<S>* val,
                                              BitsOf<cuda::Value<S>>* x)
{
    if (pattern->host().lower_count(j) == 0) return;
    const LuPatternView& P = pattern->view();
    const auto           subcolumns = static_cast<unsigned>(upper_ptr[j + 1] - upper_ptr[j]);
    divide_column<<<1, most_threads, 0, stream>>>(P, j, val, subcolumns > 0 ? x : nullptr);
    cuda::check_launch("divide_column");
    if (subcolumns == 0) return;
    subtract_column<<<subcolumns, most_threads, 0, stream>>>(P, upper, j, x, val);
    cuda::check_launch("subtract_column");
    clear_column<cuda::Value<S>><<<1, most_threads, 0, stream>>>(P, j, x);
    cuda::check_launch("clear_column");
}

template <Scalar S>
RightRefactor<S>::RightRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const RightTuning& tuning)
    : RightRefactor(gpu, pattern, detail::plan_right(pattern->host(), tuning, room_of<cuda::Value<S>>(gpu)))
{}
template <Scalar S>
RightRefactor<S>::RightRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, detail::RightPlan plan)
    : state_(std::make_unique<State>(gpu, std::move(pattern), std::move(plan)))
{}
template <Scalar S>
RightRefactor<S>::~RightRefactor() = default;
template <Scalar S>
RightRefactor<S>::RightRefactor(RightRefactor&&) noexcept = default;
template <Scalar S>
RightRefactor<S>& RightRefactor<S>::operator=(RightRefactor&&) noexcept = default;

template <Scalar S>
void RightRefactor<S>::run(Gpu& gpu, DeviceSpan<S> val)
{
    const cuda::Range range("refactor_right");
    State&            s = *state_;
    require(val.size() >= static_cast<std::size_t>(s.pattern->host().nnz()), [&] {
        return "refactor: room for " + std::to_string(val.size()) + " entries where the pattern has " +
               std::to_string(s.pattern->host().nnz());
    });
    auto* const numbers = cuda::as_values(val.data());
    if (cuda::capturing(cuda::stream(gpu))) return s.enqueue(gpu, numbers);
    if (!s.graph || s.captured != val.data()) {
        if (s.graph) gpu.synchronize();  // the graph may still run
        s.graph = nullptr;
        s.captured = val.data();
        s.graph = cuda::capture_graph(gpu, [&] { s.enqueue(gpu, numbers); });
    }
    if (s.graph) cuda::launch_graph(gpu, s.graph);
    else s.enqueue(gpu, numbers);
}

template <Scalar S>
const LuLevels& RightRefactor<S>::levels() const
{
    return state_->plan.levels;
}
template <Scalar S>
RightModes RightRefactor<S>::modes() const
{
    return state_->plan.modes;
}
template <Scalar S>
std::size_t RightRefactor<S>::bytes() const
{
    return state_->arrays.bytes() + state_->work.size() * sizeof(S);
}

#define ILUX_INSTANTIATE(S) template class RightRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
