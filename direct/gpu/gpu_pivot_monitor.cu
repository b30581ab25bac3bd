// Extremes of columns, then of all columns, in one launch.
//
// Launch shape: a warp a task of MonitorPlan, as many blocks as can work at once. Parts of a long column meet in atomic
// maxima, and the last of them joins the column; the last block joins what all blocks found. Both clear what they read
// for the next watch. Magnitudes are compared by their bits, which order numbers below Inf and that below NaN. Nobody
// waits for other blocks.

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/direct/gpu/device_input.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"
#include "ilux/direct/gpu/gpu_pivot_monitor.hpp"
#include "ilux/direct/gpu/monitor_plan.hpp"

namespace ilux {
namespace {

using Bits = unsigned long long;
using Kind = MonitorPlan::Kind;

constexpr int      threads = 256;
constexpr int      block_warps = threads / 32;
constexpr int      per_lane = MonitorPlan::per_lane;
constexpr int      blocks_each = 6;  // of a multiprocessor
constexpr unsigned whole_warp = ~0u;
constexpr unsigned no_column = ~0u;
constexpr Bits     infinite = 0x7FF0'0000'0000'0000u;  // magnitudes from here on are not finite
constexpr double   infinity = std::numeric_limits<double>::infinity();

/// Extremes of columns, columns ascending among equals. What no column has stays as it is here.
struct alignas(16) Extremes {
    Bits     bad = ~Bits{0};  // 2 k + 1 for the first column that is not finite, 2 k for one with a zero pivot
    double   min_pivot = infinity, max_pivot = 0;
    double   rgrowth = infinity, max_multiplier = 0;
    unsigned growth_column = no_column, multiplier_column = no_column;
};

/// Largest magnitudes of some entries of one column: of what they start from, of U, of L, and of the pivot alone.
struct Magnitudes {
    Bits b = 0, u = 0, l = 0, pivot = 0;

    __device__ void raise(const Magnitudes& other)
    {
        b = max(b, other.b);
        u = max(u, other.u);
        l = max(l, other.l);
        pivot = max(pivot, other.pivot);
    }
    __device__ Magnitudes over(int lanes) const
    {
        const auto there = [&](Bits x) { return __shfl_xor_sync(whole_warp, x, lanes); };
        return {there(b), there(u), there(l), there(pivot)};
    }
};

/// What the parts of a long column have found so far, 0 between watches.
struct Gathered {
    Magnitudes seen;
    unsigned   parts = 0;
};

/// What kernels get.
struct MonitorView {
    const MonitorPlan::Task*       task = nullptr;
    const MonitorPlan::Piece*      piece = nullptr;
    const MonitorPlan::LongColumn* long_column = nullptr;
    Index                          tasks = 0;
    const std::uint32_t*           slot = nullptr;  // by entry; null: the identity
    const std::int32_t* source = nullptr;    // by entry: its only input; −1: none; −2 − r: several, the r-th such
    Gathered*           gathered = nullptr;  // by long column
    Extremes*           partial = nullptr;   // by block
    unsigned*           done = nullptr;      // 0 between launches

    __device__ Offset at(Offset entry) const { return slot ? slot[entry] : entry; }
};

template <class V>
__device__ Bits size_bits(V x)
{
    return static_cast<Bits>(__double_as_longlong(size_of(x))) & 0x7FFF'FFFF'FFFF'FFFFu;
}

/// A lane's part of a task.
struct Share {
    MonitorPlan::Task  task{};
    MonitorPlan::Piece piece{};
    int                first = 0;     // entry of the piece; the next is lanes() further
    Offset             at[per_lane];  // of the factors
    Magnitudes         seen;

    __device__ int  lanes() const { return 1 << task.log2_lanes; }
    __device__ bool leads() const { return first == 0 && piece.count > 0; }
};

/// |b| of entries that add several inputs: few, so not unrolled with the others.
template <class V>
__device__ void watch_several(const LuPatternView& P, const MonitorView& M, Share& mine, const V* values)
{
#pragma unroll 1
    for (int e = mine.first; e < mine.piece.count; e += mine.lanes()) {
        const std::int32_t source = M.source[mine.piece.first + e];
        if (source < -1) mine.seen.b = max(mine.seen.b, size_bits(repeated_input(P, -2 - source, values)));
    }
}

/// Inputs, and where the factors are.
template <class V>
__device__ Share begin(const LuPatternView& P, const MonitorView& M, Index t, const V* values)
{
    const int lane = threadIdx.x & 31;
    Share     mine;
    mine.task = M.task[t];
    mine.piece = M.piece[mine.task.first + (lane >> mine.task.log2_lanes)];
    mine.first = lane & (mine.lanes() - 1);
    const bool   inputs = mine.task.kind != Kind::f;
    std::int32_t source[per_lane];
    bool         several = false;
#pragma unroll
    for (int s = 0; s < per_lane; ++s) {
        const int    e = mine.first + (s << mine.task.log2_lanes);
        const Offset entry = mine.piece.first + e;
        mine.at[s] = e < mine.piece.count ? M.at(entry) : -1;
        source[s] = inputs && e < mine.piece.count ? M.source[entry] : -1;
        several = several || source[s] < -1;
    }
#pragma unroll
    for (int s = 0; s < per_lane; ++s) {
        if (source[s] < 0) continue;
        const double scale = P.scale[mine.piece.first + mine.first + (s << mine.task.log2_lanes)];
        mine.seen.b = max(mine.seen.b, size_bits(add_input(V{}, values[source[s]], scale)));
    }
    if (several) watch_several(P, M, mine, values);
    return mine;
}

template <class T>
__device__ void look(Share& mine, const T* val)
{
    Bits x[per_lane];
#pragma unroll
    for (int s = 0; s < per_lane; ++s) x[s] = mine.at[s] >= 0 ? size_bits(cuda::widened(val[mine.at[s]])) : 0;
#pragma unroll
    for (int s = 0; s < per_lane; ++s) {
        const int e = mine.first + (s << mine.task.log2_lanes);
        Bits&     largest = e > mine.piece.diag ? mine.seen.l : mine.seen.u;
        largest = max(largest, x[s]);
        if (e == mine.piece.diag) mine.seen.pivot = x[s];
    }
    for (int lanes = mine.lanes() / 2; lanes > 0; lanes /= 2) mine.seen.raise(mine.seen.over(lanes));
}

struct Join {
    __device__ Extremes operator()(Extremes x, const Extremes& y) const
    {
        x.bad = min(x.bad, y.bad);
        x.min_pivot = fmin(x.min_pivot, y.min_pivot);
        x.max_pivot = fmax(x.max_pivot, y.max_pivot);
        if (y.rgrowth < x.rgrowth || (y.rgrowth == x.rgrowth && y.growth_column < x.growth_column)) {
            x.rgrowth = y.rgrowth;
            x.growth_column = y.growth_column;
        }
        if (y.max_multiplier > x.max_multiplier ||
            (y.max_multiplier == x.max_multiplier && y.multiplier_column < x.multiplier_column)) {
            x.max_multiplier = y.max_multiplier;
            x.multiplier_column = y.multiplier_column;
        }
        return x;
    }
};

__device__ double as_number(Bits bits) { return __longlong_as_double(static_cast<long long>(bits)); }

/// Extremes of column k alone.
__device__ Extremes of_column(unsigned k, const Magnitudes& seen)
{
    Extremes own;
    if (seen.u >= infinite) own.bad = 2 * Bits{k} + 1;
    else if (seen.pivot == 0) own.bad = 2 * Bits{k};
    else if (seen.l >= infinite) own.bad = 2 * Bits{k} + 1;
    if (own.bad != ~Bits{0}) return own;
    own.min_pivot = own.max_pivot = as_number(seen.pivot);
    const double growth = as_number(seen.b) / as_number(seen.u);
    if (growth < infinity) {
        own.rgrowth = growth;
        own.growth_column = k;
    }
    if (seen.l > 0) {
        own.max_multiplier = as_number(seen.l);
        own.multiplier_column = k;
    }
    return own;
}

/// Extremes of the column, where this was its last part.
__device__ Extremes gather(const MonitorView& M, Index number, const Magnitudes& seen)
{
    const MonitorPlan::LongColumn column = M.long_column[number];
    Gathered&                     all = M.gathered[number];
    if (seen.b) atomicMax(&all.seen.b, seen.b);
    if (seen.u) atomicMax(&all.seen.u, seen.u);
    if (seen.l) atomicMax(&all.seen.l, seen.l);
    if (seen.pivot) atomicMax(&all.seen.pivot, seen.pivot);
    __threadfence();
    const unsigned before = static_cast<unsigned>(column.parts) - 1;
    if (atomicInc(&all.parts, before) != before) return {};  // the last one makes it 0 again
    __threadfence();
    const auto take = [](Bits& from) { return atomicExch(&from, Bits{0}); };
    return of_column(column.column, {take(all.seen.b), take(all.seen.u), take(all.seen.l), take(all.seen.pivot)});
}

__device__ Extremes finish(const MonitorView& M, const Share& mine)
{
    if (!mine.leads()) return {};
    if (mine.task.kind == Kind::part) return gather(M, mine.piece.column, mine.seen);
    if (mine.task.kind == Kind::whole) return of_column(mine.piece.column, mine.seen);
    Extremes own;
    if (max(mine.seen.l, mine.seen.u) >= infinite) own.bad = 2 * Bits(mine.piece.column) + 1;
    return own;
}

/// What another block has written in this launch.
__device__ Extremes load_fresh(const Extremes* from)
{
    static_assert(sizeof(Extremes) % sizeof(uint4) == 0);
    constexpr int words = sizeof(Extremes) / sizeof(uint4);
    uint4         raw[words];
    for (int w = 0; w < words; ++w) raw[w] = __ldcg(reinterpret_cast<const uint4*>(from) + w);
    Extremes copy;
    memcpy(&copy, raw, sizeof copy);
    return copy;
}

/// Extremes of the columns that the block's warps find finished.
template <class T>
__device__ Extremes watch_tasks(const LuPatternView& P, const MonitorView& M, const working_of<T>* values, const T* val)
{
    const Index stride = static_cast<Index>(gridDim.x) * block_warps;
    Index       t = static_cast<Index>(blockIdx.x * block_warps + threadIdx.x / 32);
    Extremes    found;
    for (; t < M.tasks; t += stride) {
        Share mine = begin(P, M, t, values);
        look(mine, val);
        found = Join{}(found, finish(M, mine));
    }
    return found;
}

template <class T>
__global__ void __launch_bounds__(threads)
    watch_pivots(LuPatternView P, MonitorView M, const working_of<T>* values, const T* val, Extremes* result)
{
    using Reduce = cub::BlockReduce<Extremes, threads>;
    __shared__ typename Reduce::TempStorage shared;
    __shared__ bool                         last;
    Extremes                                mine = watch_tasks(P, M, values, val);
    mine = Reduce(shared).Reduce(mine, Join{});
    if (threadIdx.x == 0) {
        M.partial[blockIdx.x] = mine;
        __threadfence();
        last = atomicInc(M.done, gridDim.x - 1) == gridDim.x - 1;  // the last one makes it 0 again
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    mine = Extremes{};
    for (unsigned block = threadIdx.x; block < gridDim.x; block += threads)
        mine = Join{}(mine, load_fresh(M.partial + block));
    mine = Reduce(shared).Reduce(mine, Join{});
    if (threadIdx.x == 0) *result = mine;
}

/// Sources as MonitorView has them, where some entries have several inputs.
std::vector<std::int32_t> sources(const LuPattern& P)
{
    const EntryInputs         inputs = entry_inputs(P);
    std::vector<std::int32_t> source(inputs.source.begin(), inputs.source.end());
    std::int32_t              r = 0;
    for (const Offset entry : repeated_inputs(inputs).entry) source[entry] = -2 - r++;
    return source;
}

Index column_of(unsigned column) { return column == no_column ? -1 : static_cast<Index>(column); }

}  // namespace

struct GpuPivotMonitor::State {
    std::shared_ptr<const GpuLuPattern> pattern;
    HostBuffer<Extremes>                found{1};  // outlives the arrays, whose end waits for the kernels
    DeviceArrays                        arrays;
    MonitorView                         view;
    unsigned                            blocks = 0;
};

GpuPivotMonitor::GpuPivotMonitor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern,
                                 std::span<const ValueSlot> slot_of)
    : state_(std::make_unique<State>())
{
    gpu.make_current();
    state_->pattern = std::move(pattern);
    state_->found[0] = {};
    const GpuLuPattern& P = *state_->pattern;
    require(slot_of.empty() || slot_of.size() >= P.entries(), [&] {
        return "slots of " + std::to_string(slot_of.size()) + " entries where the pattern has " +
               std::to_string(P.entries());
    });
    MonitorView&                    view = state_->view;
    DeviceArrays&                   arrays = state_->arrays;
    const MonitorPlan               plan = monitor_plan(P.host());
    const std::vector<std::int32_t> source = P.view().repeated > 0 ? sources(P.host()) : std::vector<std::int32_t>{};
    const auto                      most_blocks = static_cast<std::size_t>(blocks_each * gpu.state().multiprocessors);
    view.tasks = static_cast<Index>(plan.task.size());
    state_->blocks = static_cast<unsigned>(std::min(most_blocks, (plan.task.size() + block_warps - 1) / block_warps));
    arrays.add(plan.task, view.task);
    arrays.add(plan.piece, view.piece);
    arrays.add(plan.long_column, view.long_column);
    arrays.add(slot_of.empty() ? slot_of : slot_of.first(P.entries()), view.slot);
    if (source.empty()) view.source = P.view().source;
    else arrays.add(source, view.source);
    arrays.room(plan.long_column.size(), view.gathered);
    arrays.room(state_->blocks, view.partial);
    arrays.room(1, view.done);
    arrays.upload(gpu);
}
GpuPivotMonitor::~GpuPivotMonitor() = default;
GpuPivotMonitor::GpuPivotMonitor(GpuPivotMonitor&&) noexcept = default;
GpuPivotMonitor& GpuPivotMonitor::operator=(GpuPivotMonitor&&) noexcept = default;

template <class T>
void GpuPivotMonitor::watch(Gpu& gpu, const working_of<T>* values, const T* val)
{
    if (state_->blocks == 0) return;
    const cuda::Range range("pivot monitor");
    const auto        stream = cuda::stream(gpu);
    watch_pivots<cuda::Value<T>><<<state_->blocks, threads, 0, stream>>>(state_->pattern->view(), state_->view,
                                                                         cuda::as_values(values), cuda::as_values(val),
                                                                         state_->found.data());
    cuda::check_launch("watch_pivots");
}

PivotMonitor GpuPivotMonitor::result(Gpu& gpu) const
{
    gpu.synchronize();
    const Extremes& found = state_->found[0];
    if (found.bad != ~Bits{0})
        return {.bad_column = static_cast<Index>(found.bad / 2), .not_finite = found.bad % 2 != 0};
    return {.min_pivot = found.min_pivot,
            .max_pivot = found.max_pivot,
            .rgrowth = found.rgrowth,
            .growth_column = column_of(found.growth_column),
            .max_multiplier = found.max_multiplier,
            .multiplier_column = column_of(found.multiplier_column)};
}

std::size_t GpuPivotMonitor::bytes() const { return state_->arrays.bytes(); }

template void GpuPivotMonitor::watch(Gpu&, const double*, const double*);
template void GpuPivotMonitor::watch(Gpu&, const double*, const float*);
template void GpuPivotMonitor::watch(Gpu&, const std::complex<double>*, const std::complex<double>*);

}  // namespace ilux
