// The pivots of a batch: max |U(:,k)|, |L(:,k)| and |B(:,k)| of every column, and their extremes over the columns.
//
// Launch shape: a warp looks at a piece of the columns of 32 members, a lane each; long columns are cut into parts
// first, whose extremes meet in integer maxima, which know no order. The pieces of a block are put together in it; then
// one block for each 32 members, a warp for a run of those, puts them together: always in the order of columns, so that
// the first of equal ones is named. Nobody waits for another block.

#include <algorithm>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/batch/gpu_batch_monitor.hpp"

namespace ilux {
namespace {

using Plan = BatchMonitorPlan;
using Seen = BatchMonitorView::Seen;

constexpr int           block_warps = 8;
constexpr int           merging_warps = 32;
constexpr Index         most_warps = 8192;  // that look at pieces: what a large GPU can have at work at once
constexpr std::uint64_t infinite = 0x7FF0'0000'0000'0000u;

__device__ std::uint64_t magnitude(double x)
{
    return static_cast<std::uint64_t>(__double_as_longlong(x)) & 0x7FFF'FFFF'FFFF'FFFFu;
}

/// max |v| over the slots; magnitudes order as numbers do, with NaN above all.
template <class T>
__device__ std::uint64_t largest(const DataflowProgram::Slot* slot, Offset count, const T* v, Index stride)
{
    std::uint64_t most = 0;
#pragma unroll 8
    for (Offset p = 0; p < count; ++p)
        most = max(most, magnitude(static_cast<double>(v[static_cast<std::size_t>(__ldg(slot + p)) * stride])));
    return most;
}

__device__ std::uint64_t largest_input(const Plan::Input* input, Offset count, const double* values, Index stride)
{
    std::uint64_t most = 0;
    double        x = 0;
#pragma unroll 4
    for (Offset e = 0; e < count; ++e) {
        x = __dadd_rn(x, __dmul_rn(values[static_cast<std::size_t>(input[e].source) * stride], input[e].scale));
        if (input[e].more) continue;
        most = max(most, magnitude(x));
        x = 0;
    }
    return most;
}

/// Largest magnitudes of a column. An F that is not finite counts as such an L: either makes the column bad, and
/// neither a pivot of 0 better.
struct Largest {
    std::uint64_t   u = 0, l = 0, b = 0;
    __device__ void add_f(std::uint64_t f) { l = f >= infinite ? f : l; }
};

/// What the parts of long columns add.
__device__ unsigned long long* place(const BatchMonitorView& P, int field, Index number, Index m)
{
    return reinterpret_cast<unsigned long long*>(P.largest) +
           (static_cast<std::size_t>(field) * P.longs + number) * P.stride + m;
}

template <class T>
__global__ void __launch_bounds__(32 * block_warps) watch_parts(BatchMonitorView P, const double* input, const T* v)
{
    const Index i = static_cast<Index>(blockIdx.x * block_warps + threadIdx.x / 32);
    if (i >= P.parts) return;
    const Index      m = static_cast<Index>(blockIdx.y * 32 + (threadIdx.x & 31));
    const Plan::Part part = P.part[i];
    const Offset     count = part.last - part.first;
    if (part.kind == Plan::Kind::inputs) {
        atomicMax(place(P, 2, part.number, m), largest_input(P.input + part.first, count, input + m, P.stride));
        return;
    }
    const std::uint64_t most = largest(P.slot + part.first, count, v + m, P.stride);
    if (part.kind == Plan::Kind::upper) atomicMax(place(P, 0, part.number, m), most);
    else if (part.kind == Plan::Kind::lower || most >= infinite) atomicMax(place(P, 1, part.number, m), most);
}

/// refactor_serial's record of column k.
__device__ void record(Seen& seen, Index k, const Largest& most, double pivot)
{
    if (most.u >= infinite || most.l >= infinite || pivot == 0) {
        const bool not_finite = most.u >= infinite || pivot != 0;
        seen.bad = min(seen.bad, 2 * static_cast<std::uint32_t>(k) + not_finite);
        return;
    }
    const auto   number = [](std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); };
    const double size = fabs(pivot), growth = number(most.b) / number(most.u), multiplier = number(most.l);
    seen.min_pivot = fmin(seen.min_pivot, size);
    seen.max_pivot = fmax(seen.max_pivot, size);
    if (growth < seen.rgrowth) {
        seen.rgrowth = growth;
        seen.growth_column = k;
    }
    if (multiplier > seen.max_multiplier) {
        seen.max_multiplier = multiplier;
        seen.multiplier_column = k;
    }
}

template <class T>
__device__ Seen look_at_piece(const BatchMonitorView& P, Index i, Index m, const double* input, const T* v)
{
    Seen seen;
    for (Index k = P.piece[i]; k < P.piece[i + 1]; ++k) {
        const Plan::Column c = P.column[k];
        Largest            most;
        if (c.number >= 0) {
            most = {*place(P, 0, c.number, m), *place(P, 1, c.number, m), *place(P, 2, c.number, m)};
        } else {
            most.u = largest(P.slot + c.first, c.upper, v + m, P.stride);
            most.l = largest(P.slot + c.first + c.upper, c.lower, v + m, P.stride);
            most.b = largest_input(P.input + c.input, c.inputs, input + m, P.stride);
            most.add_f(largest(P.slot + c.f_first, c.f, v + m, P.stride));
        }
        const DataflowProgram::Slot pivot = P.slot[c.first + c.upper - 1];
        record(seen, k, most, static_cast<double>(v[static_cast<std::size_t>(pivot) * P.stride + m]));
    }
    return seen;
}

/// `later` is of larger columns.
__device__ void merge(Seen& seen, const Seen& later)
{
    seen.min_pivot = fmin(seen.min_pivot, later.min_pivot);
    seen.max_pivot = fmax(seen.max_pivot, later.max_pivot);
    seen.bad = min(seen.bad, later.bad);
    if (later.rgrowth < seen.rgrowth) {
        seen.rgrowth = later.rgrowth;
        seen.growth_column = later.growth_column;
    }
    if (later.max_multiplier > seen.max_multiplier) {
        seen.max_multiplier = later.max_multiplier;
        seen.multiplier_column = later.multiplier_column;
    }
}

/// What the warps of a block saw, to *whole by warp 0: those of warp 0 are of the smallest columns, and so on.
__device__ void merge_warps(Seen seen, Seen* whole)
{
    extern __shared__ char memory[];
    Seen* const            of_warp = reinterpret_cast<Seen*>(memory);
    of_warp[threadIdx.x] = seen;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    for (unsigned other = threadIdx.x + 32; other < blockDim.x; other += 32) merge(seen, of_warp[other]);
    *whole = seen;
}

template <class T>
__global__ void __launch_bounds__(32 * block_warps) watch_pieces(BatchMonitorView P, const double* input, const T* v)
{
    const Index i = static_cast<Index>(blockIdx.x * block_warps + threadIdx.x / 32);
    const Index m = static_cast<Index>(blockIdx.y * 32 + (threadIdx.x & 31));
    const Seen  seen = i < P.pieces ? look_at_piece(P, i, m, input, v) : Seen{};
    merge_warps(seen, P.of_block + static_cast<std::size_t>(blockIdx.x) * P.stride + m);
}

__global__ void __launch_bounds__(32 * merging_warps) merge_blocks(BatchMonitorView P)
{
    const Index warp = static_cast<Index>(threadIdx.x / 32),
                m = static_cast<Index>(blockIdx.x * 32 + (threadIdx.x & 31));
    const Index run = (P.blocks + merging_warps - 1) / merging_warps;
    Seen        seen;
#pragma unroll 4
    for (Index i = warp * run; i < min(P.blocks, (warp + 1) * run); ++i)
        merge(seen, P.of_block[static_cast<std::size_t>(i) * P.stride + m]);
    merge_warps(seen, P.seen + m);
}

std::size_t shared_bytes(int warps) { return sizeof(Seen) * 32 * warps; }

Index stride_of(Index members) { return (members + 31) / 32 * 32; }

BatchMonitorPlan plan_for(const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of, Index members)
{
    const Index most_pieces = std::clamp(most_warps / (stride_of(members) / 32), Index{512}, Index{4096});
    return batch_monitor_plan(pattern, slot_of, most_pieces, 32);
}

dim3 blocks_of(Index warps, Index stride)
{
    return {static_cast<unsigned>((warps + block_warps - 1) / block_warps), static_cast<unsigned>(stride / 32)};
}

}  // namespace

/// Adds to arrays_ what `plan`, which must outlive their upload, asks for.
void GpuBatchMonitor::lay_out(const BatchMonitorPlan& plan, Index members)
{
    view_.members = members;
    view_.stride = stride_of(members);
    view_.pieces = plan.pieces();
    view_.blocks = (view_.pieces + block_warps - 1) / block_warps;
    view_.parts = static_cast<Index>(plan.part.size());
    view_.longs = plan.longs;
    arrays_.add(plan.column, view_.column);
    arrays_.add(plan.slot, view_.slot);
    arrays_.add(plan.input, view_.input);
    arrays_.add(plan.piece, view_.piece);
    arrays_.add(plan.part, view_.part);
    arrays_.room(std::size_t{3} * plan.longs * view_.stride, view_.largest);
    arrays_.room(static_cast<std::size_t>(view_.blocks) * view_.stride, view_.of_block);
    arrays_.room(static_cast<std::size_t>(view_.stride), view_.seen);
}

GpuBatchMonitor::GpuBatchMonitor(Gpu& gpu, const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of,
                                 Index members)
{
    const BatchMonitorPlan plan = plan_for(pattern, slot_of, members);
    lay_out(plan, members);
    arrays_.upload(gpu);
    cuda::check(cudaFuncSetAttribute(merge_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes(merging_warps))),
                "cudaFuncSetAttribute");
}

std::size_t GpuBatchMonitor::bytes_for(const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of,
                                       Index members)
{
    const BatchMonitorPlan plan = plan_for(pattern, slot_of, members);
    GpuBatchMonitor        never_made;
    never_made.lay_out(plan, members);
    return never_made.arrays_.bytes_asked_for();
}

template <class T>
void GpuBatchMonitor::watch(Gpu& gpu, const double* input, const T* v)
{
    const cuda::Range range("batch_monitor");
    const auto        stream = cuda::stream(gpu);
    if (view_.parts > 0) {
        cuda::check(cudaMemsetAsync(view_.largest, 0,
                                    std::size_t{3} * view_.longs * view_.stride * sizeof(std::uint64_t), stream),
                    "cudaMemsetAsync");
        watch_parts<<<blocks_of(view_.parts, view_.stride), 32 * block_warps, 0, stream>>>(view_, input, v);
        cuda::check_launch("watch_parts");
    }
    if (view_.pieces > 0) {
        const auto blocks = blocks_of(view_.pieces, view_.stride);
        watch_pieces<<<blocks, 32 * block_warps, shared_bytes(block_warps), stream>>>(view_, input, v);
        cuda::check_launch("watch_pieces");
    }
    merge_blocks<<<view_.stride / 32, 32 * merging_warps, shared_bytes(merging_warps), stream>>>(view_);
    cuda::check_launch("merge_blocks");
}

std::vector<PivotMonitor> GpuBatchMonitor::result(Gpu& gpu) const
{
    std::vector<Seen> seen(view_.members);
    download<Seen>(gpu, {view_.seen, seen.size()}, seen);
    std::vector<PivotMonitor> all;
    all.reserve(seen.size());
    for (const Seen& s : seen) {
        if (s.bad != BatchMonitorView::no_column)
            all.push_back({.bad_column = static_cast<Index>(s.bad / 2), .not_finite = s.bad % 2 != 0});
        else
            all.push_back({.min_pivot = s.min_pivot,
                           .max_pivot = s.max_pivot,
                           .rgrowth = s.rgrowth,
                           .growth_column = s.growth_column,
                           .max_multiplier = s.max_multiplier,
                           .multiplier_column = s.multiplier_column});
    }
    return all;
}

template void GpuBatchMonitor::watch(Gpu&, const double*, const double*);
template void GpuBatchMonitor::watch(Gpu&, const double*, const float*);

}  // namespace ilux
