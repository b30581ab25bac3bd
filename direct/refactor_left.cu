// P A Q = L U from the left, a warp a column [chen_wang_14].
//
// Launch shape: blocks of 2 warps, so that few warps spread over all multiprocessors and 32 blocks fill one. Cluster
// mode: a launch a level, columns strided over the warps. Pipeline mode: one launch, in which a warp takes one column
// after another by ticket in level order. A column waits only for columns of earlier levels: those hold earlier tickets,
// so their warps run; the smallest unfinished ticket waits for nobody. It need not wait for the launch to be resident as
// a whole, and every column is published whatever its values, so nobody waits for ever.
//
// Columns behind a bad pivot are skipped, and published. Let m be the smallest column with a zero or non-finite pivot.
// No column is noted as bad before m is: those below m rest on columns below m alone. So all up to m are computed in full,
// and whatever GpuPivotMonitor finds first is what a run without skipping has there.

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>

#include "ilux/base/cuda_graph.hpp"
#include "ilux/direct/refactor_left.hpp"
#include "ilux/direct/refactor_left_plan.hpp"

namespace ilux {

struct LeftState {
    double*       val;
    std::uint32_t epoch;   // of this run; stale flags hold the one before
    Index         ticket;  // columns of the pipeline that were taken
    Index         bad;     // smallest column that was seen to have a bad pivot
};

namespace {

constexpr int      block_warps = 2;
constexpr int      min_blocks = 16;  // 64 registers a lane: with 48 they spill
constexpr int      group = 2;        // entries that a lane has in flight at once
constexpr unsigned whole_warp = ~0u;
constexpr int      patience = 64;  // polls before a warp sleeps between them
constexpr int      nap_nanoseconds = 40;

__device__ int lane() { return threadIdx.x % 32; }
__device__ int warp() { return blockIdx.x * block_warps + threadIdx.x / 32; }

__device__ std::uint32_t load_relaxed(const std::uint32_t* flag)
{
    std::uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ std::uint32_t load_acquire(const std::uint32_t* flag)
{
    std::uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ void store_release(std::uint32_t* flag, std::uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/// use(q, r, load(q, r)) for the entries q = begin …  end − 1, of row r, over the lanes. The loads of a group are under way
/// at once; rows differ, so no entry's load reads what another's use writes.
template <class Load, class Use>
__device__ void for_entries(const Index* row, Offset begin, Offset end, Load load, Use use)
{
    for (Offset first = begin + lane(); first < end; first += 32 * group) {
        Index                    r[group];
        decltype(load(first, 0)) loaded[group];
#pragma unroll
        for (int u = 0; u < group; ++u) r[u] = first + 32 * u < end ? row[first + 32 * u] : -1;
#pragma unroll
        for (int u = 0; u < group; ++u)
            if (r[u] >= 0) loaded[u] = load(first + 32 * u, r[u]);
#pragma unroll
        for (int u = 0; u < group; ++u)
            if (r[u] >= 0) use(first + 32 * u, r[u], loaded[u]);
    }
}

/// Column k on its way through a warp.
struct Column {
    const LeftView&     view;
    const LuPatternView P;
    double* const       val;
    double* const       x;  // of this warp; only rows of column k are ever read, after they were written
    const std::uint32_t epoch;
    const Index         k;

    __device__ bool finished(std::uint32_t flag) const { return flag == epoch || flag == detail::always_done; }

    /// All lanes poll. The polls are relaxed, since an acquire empties the first-level cache of the multiprocessor, where
    /// work vectors are.
    __device__ void wait_for(Index i) const
    {
        for (int polls = 0; !finished(load_relaxed(view.done + i)); ++polls)
            if (polls > patience) __nanosleep(nap_nanoseconds);
        load_acquire(view.done + i);
        __syncwarp();
    }

    /// The same in all lanes.
    __device__ bool needed() const
    {
        return __all_sync(whole_warp, k <= *static_cast<volatile const Index*>(&view.state->bad));
    }

    /// x ← x − L(:,i) x_i for up to 32 of the i ∈ U(:,k), one after another. Other warps wrote L in this launch: it comes
    /// from L2, after an acquire.
    template <bool waits>
    __device__ void apply(Offset first, Offset end) const
    {
        const Offset p = first + lane();
        Index        i = 0;
        Offset       begin_L = 0, end_L = 0;
        if (p < end) {
            i = P.row[p];
            begin_L = P.diag[i] + 1;
            end_L = P.col_ptr[i + 1];
        }
        const bool     has_L = begin_L < end_L;
        const bool     known = !waits || !has_L || finished(load_acquire(view.done + i));
        unsigned       updates = __ballot_sync(whole_warp, has_L);
        const unsigned unknown = __ballot_sync(whole_warp, !known);
        __syncwarp();  // what one lane acquired, all may read
        for (; updates != 0; updates &= updates - 1) {
            const int    source = __ffs(updates) - 1;
            const Index  column = __shfl_sync(whole_warp, i, source);
            const Offset begin = __shfl_sync(whole_warp, begin_L, source);
            const Offset last = __shfl_sync(whole_warp, end_L, source);
            if (waits && (unknown >> source & 1)) wait_for(column);
            const double x_i = x[column];
            for_entries(
                P.row, begin, last, [&](Offset q, Index r) { return make_double2(__ldcg(val + q), x[r]); },
                [&](Offset, Index r, double2 l_and_x) { x[r] = __fma_rn(-l_and_x.x, x_i, l_and_x.y); });
            __syncwarp();
        }
    }

    template <bool waits>
    __device__ void compute() const
    {
        const Offset begin = P.col_ptr[k], diag = P.diag[k], end = P.col_ptr[k + 1];
        for_entries(
            P.row, begin, end, [&](Offset q, Index) { return __ldcg(val + q); },
            [&](Offset, Index r, double input) { x[r] = input; });
        __syncwarp();
        for (Offset first = begin; first < diag; first += 32) {
            if (!needed()) return;
            apply<waits>(first, diag);
        }
        const double pivot = x[k];
        for_entries(
            P.row, begin, end, [&](Offset, Index r) { return x[r]; },
            [&](Offset q, Index, double x_r) { val[q] = q > diag ? x_r / pivot : x_r; });
        if (lane() == 0 && !(fabs(pivot) > 0 && isfinite(pivot))) atomicMin(&view.state->bad, k);
        __syncwarp();  // the next column of this warp writes x; and whoever publishes this one is behind all its lanes
    }
};

__device__ Column column_of(const LeftView& view, Index k)
{
    const LeftState& state = *view.state;
    double* const    x = view.work + static_cast<Offset>(warp()) * view.pattern.n;
    return {view, view.pattern, state.val, x, state.epoch, k};
}

/// Now and then, up to `delay`; as good as at random by column, epoch and `place`.
__device__ void stumble(unsigned delay, Index k, std::uint32_t epoch, unsigned place)
{
    if (delay == 0) return;
    unsigned h = (static_cast<unsigned>(k) * 2 + place) * 0x9E3779B1u + epoch * 0x85EBCA6Bu;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    h ^= h >> 15;
    if (h % 4 == 0) __nanosleep(h / 4 % delay + 1);
}

/// One thread, before all else of a run.
__global__ void start_run(LeftState* state, double* val)
{
    state->val = val;
    state->epoch = state->epoch + 1 == detail::always_done ? 1 : state->epoch + 1;
    state->ticket = 0;
    state->bad = INT_MAX;
}

/// Columns first … first + count − 1 in level order, all of one level. Repeatable: bitwise. Nobody waits.
__global__ void __launch_bounds__(32 * block_warps, min_blocks)
    cluster_level(LeftView view, Index first, Index count, Index warps)
{
    if (warp() >= warps) return;
    for (Index c = warp(); c < count; c += warps) {
        const Column column = column_of(view, view.column[first + c]);
        if (column.needed()) column.compute<false>();
    }
}

/// Columns first … first + count − 1 in level order. Repeatable: bitwise. Terminates: see the head of this file.
__global__ void __launch_bounds__(32 * block_warps, min_blocks) pipeline(LeftView view, Index first, Index count)
{
    if (warp() >= view.warps) return;
    for (;;) {
        Index ticket = 0;
        if (lane() == 0) ticket = atomicAdd(&view.state->ticket, 1);
        ticket = __shfl_sync(whole_warp, ticket, 0);
        if (ticket >= count) return;
        const Column column = column_of(view, view.column[first + ticket]);
        stumble(view.delay, column.k, column.epoch, 0);
        if (column.needed()) column.compute<true>();
        stumble(view.delay, column.k, column.epoch, 1);
        __syncwarp();
        if (lane() == 0 && view.done[column.k] != detail::always_done)
            store_release(view.done + column.k, column.epoch);
    }
}

Index resident_warps(Gpu& gpu)
{
    int cluster = 0, pipelined = 0;
    cuda::stream(gpu);  // makes its device current
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&cluster, cluster_level, 32 * block_warps, 0),
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&pipelined, pipeline, 32 * block_warps, 0),
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return gpu.state().multiprocessors * block_warps * std::min(cluster, pipelined);
}

int blocks_of(Index warps) { return (warps + block_warps - 1) / block_warps; }

}  // namespace

LeftRefactor::LeftRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const LeftTuning& tuning)
    : pattern_(std::move(pattern))
{
    detail::LeftPlan plan = detail::plan_left(pattern_->host(), tuning);
    cluster_ptr_ = std::move(plan.cluster_ptr);
    view_.pattern = pattern_->view();
    view_.warps = detail::left_warps(plan, tuning, resident_warps(gpu));
    view_.delay = tuning.delay;
    arrays_.add(plan.column, view_.column);
    arrays_.room(1, view_.state);
    arrays_.upload(gpu);
    done_ = DeviceBuffer<std::uint32_t>(plan.done.size());
    upload<std::uint32_t>(gpu, plan.done, done_);
    work_ = DeviceBuffer<double>(static_cast<std::size_t>(view_.warps) * plan.column.size());
    view_.done = done_.data();
    view_.work = work_.data();
    if (cluster_levels() > 1) graph_ = cuda::capture_graph(gpu, [&] { enqueue(gpu); });
}

void LeftRefactor::enqueue(Gpu& gpu) const
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

void LeftRefactor::run(Gpu& gpu, DeviceSpan<double> val)
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

}  // namespace ilux
