// P A Q = L U from the left, a warp a column [chen_wang_14].
//
// Launch shape: blocks of 2 warps, so that few warps spread over all multiprocessors and 32 blocks fill one. Cluster
// mode: a launch a level, columns strided over the warps. Pipeline mode: one launch, in which a warp takes one column
// after another by ticket in level order. A column waits only for columns of earlier levels: those hold earlier
// tickets, so their warps run; the smallest unfinished ticket waits for nobody. It need not wait for the launch to be
// resident as a whole, and every column is published whatever its values, so nobody waits for ever.
//
// Columns behind a bad pivot are skipped, and published. Let m be the smallest column with a zero or non-finite pivot.
// No column is noted as bad before m is: those below m rest on columns below m alone. So all up to m are computed in
// full, and whatever GpuPivotMonitor finds first is what a run without skipping has there.

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/gpu/device_delay.hpp"
#include "ilux/direct/published/device_left.hpp"
#include "ilux/direct/published/refactor_left.hpp"
#include "ilux/direct/published/refactor_left_plan.hpp"

namespace ilux {

template <class S>
struct LeftState {
    S*            val;
    std::uint32_t epoch;   // of this run; stale flags hold the one before
    Index         ticket;  // columns of the pipeline that were taken
    Index         bad;     // smallest column that was seen to have a bad pivot
};

namespace {

constexpr int block_warps = 2;
template <class S>
constexpr int      min_blocks = is_complex<S> ? 10 : 16;  // 64 registers a lane: with 48 they spill. Complex: 96
constexpr unsigned whole_warp = ~0u;

/// Neither 0 nor NaN nor Inf.
template <class V>
__device__ bool is_sound(V pivot)
{
    const double size = size_of(pivot);
    return size > 0 && isfinite(size);
}

__device__ int warp() { return blockIdx.x * block_warps + threadIdx.x / 32; }

/// Column k on its way through a warp.
template <class S>
struct Column {
    using V = cuda::Value<S>;

    const LeftView<S>&  view;
    const LuPatternView P;
    V* const            val;
    V* const            x;  // of this warp; only rows of column k are ever read, after they were written
    const std::uint32_t epoch;
    const Index         k;

    __device__ bool finished(std::uint32_t flag) const { return flag == epoch || flag == detail::always_done; }

    /// The answer is the same in all lanes.
    __device__ bool needed() const
    {
        return __all_sync(whole_warp, k <= *static_cast<volatile const Index*>(&view.state->bad));
    }

    /// x ← x − L(:,i) x_i for up to 32 of the i ∈ U(:,k), one after another. Other warps wrote L in this launch: it
    /// comes from L2, after an acquire.
    template <bool waits>
    __device__ void apply(Offset first, Offset end) const
    {
        const Offset p = first + left::lane();
        Index        i = 0;
        Offset       begin_L = 0, end_L = 0;
        if (p < end) {
            i = P.row[p];
            begin_L = P.diag[i] + 1;
            end_L = P.col_ptr[i + 1];
        }
        const bool     has_L = begin_L < end_L;
        const bool     known = !waits || !has_L || finished(left::load_acquire(view.done + i));
        unsigned       updates = __ballot_sync(whole_warp, has_L);
        const unsigned unknown = __ballot_sync(whole_warp, !known);
        __syncwarp();  // what one lane acquired, all may read
        for (; updates != 0; updates &= updates - 1) {
            const int    source = __ffs(updates) - 1;
            const Index  column = __shfl_sync(whole_warp, i, source);
            const Offset begin = __shfl_sync(whole_warp, begin_L, source);
            const Offset last = __shfl_sync(whole_warp, end_L, source);
            if (waits && (unknown >> source & 1))
                left::wait_for(view.done + column, [&](std::uint32_t flag) { return finished(flag); });
            const V x_i = x[column];
            left::multiply_add(P.row, val, begin, last, x_i, x);
            __syncwarp();
        }
    }

    template <bool waits>
    __device__ void compute() const
    {
        const Offset begin = P.col_ptr[k], diag = P.diag[k], end = P.col_ptr[k + 1];
        left::for_entries(
            P.row, begin, end, [&](Offset q, Index) { return left::load_fresh(val + q); },
            [&](Offset, Index r, V input) { x[r] = input; });
        __syncwarp();
        for (Offset first = begin; first < diag; first += 32) {
            if (!needed()) return;
            apply<waits>(first, diag);
        }
        const V          pivot = x[k];
        const Divisor<V> by_pivot(pivot);
        left::for_entries(
            P.row, begin, end, [&](Offset, Index r) { return x[r]; },
            [&](Offset q, Index, V x_r) { val[q] = q > diag ? by_pivot(x_r) : x_r; });
        if (left::lane() == 0 && !is_sound(pivot)) atomicMin(&view.state->bad, k);
        __syncwarp();  // the next column of this warp writes x; and whoever publishes this one is behind all its lanes
    }
};

template <class S>
__device__ Column<S> column_of(const LeftView<S>& view, Index k)
{
    const LeftState<S>& state = *view.state;
    auto* const         x = cuda::as_values(view.work) + static_cast<Offset>(warp()) * view.pattern.n;
    return {view, view.pattern, cuda::as_values(state.val), x, state.epoch, k};
}

/// One thread, before all else of a run.
template <class S>
__global__ void start_run(LeftState<S>* state, S* val)
{
    state->val = val;
    state->epoch = state->epoch + 1 == detail::always_done ? 1 : state->epoch + 1;
    state->ticket = 0;
    state->bad = INT_MAX;
}

/// Columns first … first + count − 1 in level order, all of one level. Repeatable: bitwise. Nobody waits.
template <class S>
__global__ void __launch_bounds__(32 * block_warps, min_blocks<S>)
    cluster_level(LeftView<S> view, Index first, Index count, Index warps)
{
    if (warp() >= warps) return;
    for (Index c = warp(); c < count; c += warps) {
        const Column<S> column = column_of(view, view.column[first + c]);
        if (column.needed()) column.template compute<false>();
    }
}

/// Columns first … first + count − 1 in level order. Repeatable: bitwise. Terminates: see the head of this file.
template <class S>
__global__ void __launch_bounds__(32 * block_warps, min_blocks<S>) pipeline(LeftView<S> view, Index first, Index count)
{
    if (warp() >= view.warps) return;
    for (;;) {
        Index ticket = 0;
        if (left::lane() == 0) ticket = atomicAdd(&view.state->ticket, 1);
        ticket = __shfl_sync(whole_warp, ticket, 0);
        if (ticket >= count) return;
        const Column<S> column = column_of(view, view.column[first + ticket]);
        wait_at_random(view.delay, 2 * static_cast<unsigned>(column.k) + 31 * column.epoch);
        if (column.needed()) column.template compute<true>();
        wait_at_random(view.delay, 2 * static_cast<unsigned>(column.k) + 31 * column.epoch + 1);
        __syncwarp();
        if (left::lane() == 0 && view.done[column.k] != detail::always_done)
            left::store_release(view.done + column.k, column.epoch);
    }
}

int blocks_of(Index warps) { return (warps + block_warps - 1) / block_warps; }

}  // namespace

template <Scalar S>
Index LeftRefactor<S>::resident_warps(Gpu& gpu)
{
    int cluster = 0, pipelined = 0;
    cuda::stream(gpu);  // makes its device current
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&cluster, cluster_level<S>, 32 * block_warps, 0),
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&pipelined, pipeline<S>, 32 * block_warps, 0),
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return gpu.state().multiprocessors * block_warps * std::min(cluster, pipelined);
}

template <Scalar S>
LeftRefactor<S>::LeftRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const LeftTuning& tuning,
                              const detail::KernelTrial& trial)
    : pattern_(std::move(pattern))
{
    detail::LeftPlan plan = detail::plan_left(pattern_->host(), tuning);
    cluster_ptr_ = std::move(plan.cluster_ptr);
    view_.pattern = pattern_->view();
    view_.warps = detail::left_warps(plan, tuning, resident_warps(gpu), sizeof(S));
    view_.delay = trial.delay;
    arrays_.add(plan.column, view_.column);
    arrays_.room(1, view_.state);
    arrays_.upload(gpu);
    done_ = DeviceBuffer<std::uint32_t>(plan.done.size());
    upload<std::uint32_t>(gpu, plan.done, done_);
    work_ = DeviceBuffer<S>(static_cast<std::size_t>(view_.warps) * plan.column.size());
    view_.done = done_.data();
    view_.work = work_.data();
    if (cluster_levels() > 1) graph_ = cuda::capture_graph(gpu, [&] { enqueue(gpu); });
}

template <Scalar S>
void LeftRefactor<S>::enqueue(Gpu& gpu) const
{
    const auto stream = cuda::stream(gpu);
    for (Index l = 0; l < cluster_levels(); ++l) {
        const Index first = cluster_ptr_[l], count = cluster_ptr_[l + 1] - first;
        const Index warps = std::min(count, view_.warps);
        cluster_level<<<blocks_of(warps), 32 * block_warps, 0, stream>>>(view_, first, count, warps);
        cuda::check_launch("cluster_level");
    }
    const Index columns = pipeline_columns();
    if (columns == 0) return;
    const int blocks = blocks_of(std::min(columns, view_.warps));
    pipeline<<<blocks, 32 * block_warps, 0, stream>>>(view_, cluster_ptr_.back(), columns);
    cuda::check_launch("pipeline");
}

template <Scalar S>
void LeftRefactor<S>::run(Gpu& gpu, DeviceSpan<S> val)
{
    require(val.size() >= pattern_->entries(), [&] {
        return "left: " + std::to_string(val.size()) + " values; expected " + std::to_string(pattern_->entries());
    });
    if (view_.pattern.n == 0) return;
    const cuda::Range range("left");
    const auto        stream = cuda::stream(gpu);
    start_run<<<1, 1, 0, stream>>>(view_.state, val.data());
    cuda::check_launch("start_run");
    if (graph_ && !cuda::capturing(stream)) cuda::launch_graph(gpu, graph_);
    else enqueue(gpu);
}

#define ILUX_INSTANTIATE(S) template class LeftRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
