// Extremes of columns, then of all columns.
//
// Launch shape: a lane of the first launch has four entries of its warp's 128; what a warp holds of one column becomes one
// atomic maximum each of |b|, |u| and |l|. Magnitudes are compared by their bits, which order numbers below Inf and that
// below NaN. The second launch has a thread for one or several columns, clears what it reads for the next watch, and its
// last block joins what all found. Nobody waits.

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ilux/base/cuda.hpp"
#include "ilux/base/host_buffer.hpp"
#include "ilux/direct/device_input.hpp"
#include "ilux/direct/entry_inputs.hpp"
#include "ilux/direct/gpu_pivot_monitor.hpp"

namespace ilux {
namespace {

using Bits = unsigned long long;

constexpr int      threads = 256;
constexpr int      per_lane = 4;
constexpr Offset   block_entries = Offset{threads} * per_lane;
constexpr unsigned most_blocks = 128;  // of the second launch
constexpr unsigned whole_warp = ~0u;
constexpr unsigned no_column = ~0u;
constexpr Bits     infinite = 0x7FF0'0000'0000'0000u;  // magnitudes from here on are not finite
constexpr double   infinity = std::numeric_limits<double>::infinity();

/// Of columns, columns ascending among equals. What no column has stays as it is here.
struct alignas(16) Extremes {
    Bits     bad = ~Bits{0};  // 2 k + 1 for the first column that is not finite, 2 k for one with a zero pivot
    double   min_pivot = infinity, max_pivot = 0;
    double   rgrowth = infinity, max_multiplier = 0;
    unsigned growth_column = no_column, multiplier_column = no_column;
};

/// As kernels get it.
struct MonitorView {
    const std::uint32_t* tag = nullptr;                 // by entry: 2 k, and 1 more below the diagonal and in F
    const std::uint32_t* slot = nullptr;                // by entry; null: the identity
    const std::int32_t*  b_source = nullptr;            // by entry of L + U: its only input; −1 for several or none
    Bits *    b = nullptr, *u = nullptr, *l = nullptr;  // by column, 0 between watches; F counts as L where not finite
    Extremes* partial = nullptr;                        // most_blocks
    unsigned* done = nullptr;                           // 0 between launches

    __device__ Offset at(Offset entry) const { return slot ? slot[entry] : entry; }
};

__device__ Bits magnitude(double x) { return static_cast<Bits>(__double_as_longlong(x)) & 0x7FFF'FFFF'FFFF'FFFFu; }

/// Largest magnitudes of some entries of one column.
struct Magnitudes {
    Bits b = 0, u = 0, l = 0;

    __device__ void raise(const Magnitudes& other)
    {
        b = max(b, other.b);
        u = max(u, other.u);
        l = max(l, other.l);
    }
    __device__ Magnitudes down(int step) const
    {
        return {__shfl_down_sync(whole_warp, b, step), __shfl_down_sync(whole_warp, u, step),
                __shfl_down_sync(whole_warp, l, step)};
    }
    __device__ void publish(const MonitorView& M, unsigned column) const
    {
        if (b) atomicMax(M.b + column, b);
        if (u) atomicMax(M.u + column, u);
        if (l) atomicMax(M.l + column, l);
    }
};

/// @return the entry's column
__device__ unsigned look(const LuPatternView& P, const MonitorView& M, Offset entry, const double* values,
                         const double* val, Magnitudes& seen)
{
    if (entry >= P.nnz + P.nnz_F) return no_column;
    const std::uint32_t tag = M.tag[entry];
    const Bits          x = magnitude(val[M.at(entry)]);
    if (entry >= P.nnz) {
        seen.l = x >= infinite ? x : 0;
        return tag >> 1;
    }
    (tag & 1 ? seen.l : seen.u) = x;
    if (const std::int32_t source = M.b_source[entry]; source >= 0)
        seen.b = magnitude(add_input(0, values[source], P.scale[entry]));
    return tag >> 1;
}

/// Columns ascend along the entries, so those of one column are neighbours: each lane collects what its column has from here to
/// the end of the warp, and the first of the column publishes it. All lanes of the warp call it.
__device__ void publish_by_column(const MonitorView& M, unsigned column, Magnitudes seen)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const Magnitudes other = seen.down(step);
        const unsigned   theirs = __shfl_down_sync(whole_warp, column, step);
        if (lane + step < 32 && theirs == column) seen.raise(other);
    }
    const unsigned before = __shfl_up_sync(whole_warp, column, 1);
    if ((lane == 0 || before != column) && column != no_column) seen.publish(M, column);
}

__global__ void __launch_bounds__(threads)
    watch_entries(LuPatternView P, MonitorView M, const double* values, const double* val)
{
    const int    lane = threadIdx.x & 31;
    const Offset first = blockIdx.x * block_entries + Offset{static_cast<int>(threadIdx.x) - lane} * per_lane + lane;
    unsigned     column[per_lane];
    Magnitudes   seen[per_lane];
#pragma unroll
    for (int s = 0; s < per_lane; ++s) column[s] = look(P, M, first + 32 * s, values, val, seen[s]);

    const unsigned first_column = __shfl_sync(whole_warp, column[0], 0);
    bool           same = true;
#pragma unroll
    for (int s = 0; s < per_lane; ++s) same = same && column[s] == first_column;
    if (__all_sync(whole_warp, same)) {  // a long column: one reduction instead of four
#pragma unroll
        for (int s = 1; s < per_lane; ++s) seen[0].raise(seen[s]);
        return publish_by_column(M, column[0], seen[0]);
    }
#pragma unroll
    for (int s = 0; s < per_lane; ++s) publish_by_column(M, column[s], seen[s]);
}

/// |b| of entries that add several inputs.
__global__ void __launch_bounds__(threads) watch_repeated(LuPatternView P, MonitorView M, const double* values)
{
    const Offset r = Offset{blockIdx.x} * threads + threadIdx.x;
    if (r >= P.repeated) return;
    const Offset entry = P.repeated_entry[r];
    if (entry >= P.nnz) return;
    const Bits b = magnitude(repeated_input(P, static_cast<Index>(r), values));
    if (b) atomicMax(M.b + (M.tag[entry] >> 1), b);
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

__device__ Bits take(Bits& from)
{
    const Bits taken = from;
    from = 0;
    return taken;
}

__device__ double as_double(Bits bits) { return __longlong_as_double(static_cast<long long>(bits)); }

/// Column k alone; clears its magnitudes.
__device__ Extremes take_column(const LuPatternView& P, const MonitorView& M, Index k, const double* val)
{
    const Bits   b = take(M.b[k]), u = take(M.u[k]), l = take(M.l[k]);
    const double pivot = val[M.at(P.diag[k])];
    Extremes     own;
    if (u >= infinite) own.bad = 2 * Bits(k) + 1;
    else if (pivot == 0) own.bad = 2 * Bits(k);
    else if (l >= infinite) own.bad = 2 * Bits(k) + 1;
    if (own.bad != ~Bits{0}) return own;
    own.min_pivot = own.max_pivot = fabs(pivot);
    const double growth = as_double(b) / as_double(u);
    if (growth < infinity) {
        own.rgrowth = growth;
        own.growth_column = k;
    }
    if (l > 0) {
        own.max_multiplier = as_double(l);
        own.multiplier_column = k;
    }
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

__global__ void __launch_bounds__(threads)
    watch_columns(LuPatternView P, MonitorView M, const double* val, Extremes* result)
{
    using Reduce = cub::BlockReduce<Extremes, threads>;
    __shared__ typename Reduce::TempStorage shared;
    __shared__ bool                         last;
    Extremes                                mine;
    for (Offset k = Offset{blockIdx.x} * threads + threadIdx.x; k < P.n; k += Offset{gridDim.x} * threads)
        mine = Join{}(mine, take_column(P, M, static_cast<Index>(k), val));
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

/// Of every entry of L + U, then F.
std::vector<std::uint32_t> tags_of(const LuPattern& P)
{
    std::vector<std::uint32_t> tag;
    tag.reserve(static_cast<std::size_t>(P.nnz() + P.nnz_F()));
    for (Index k = 0; k < P.n; ++k)
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p)
            tag.push_back(2 * static_cast<std::uint32_t>(k) + (p > P.diag[k] ? 1 : 0));
    for (Index k = 0; k < P.n; ++k)
        tag.insert(tag.end(), static_cast<std::size_t>(P.f_col_ptr[k + 1] - P.f_col_ptr[k]),
                   2 * static_cast<std::uint32_t>(k) + 1);
    return tag;
}

std::vector<std::int32_t> only_inputs(const LuPattern& P)
{
    const EntryInputs         inputs = entry_inputs(P);
    std::vector<std::int32_t> source(inputs.source.begin(), inputs.source.end());
    for (const Offset entry : inputs.extra_of) source[entry] = -1;
    return source;
}

Index column_of(unsigned column) { return column == no_column ? -1 : static_cast<Index>(column); }

unsigned blocks_for(Offset count, Offset each) { return static_cast<unsigned>((count + each - 1) / each); }

}  // namespace

struct GpuPivotMonitor::State {
    std::shared_ptr<const GpuLuPattern> pattern;
    HostBuffer<Extremes>                found{1};  // outlives the arrays, whose end waits for the kernels
    DeviceArrays                        arrays;
    MonitorView                         view;
};

GpuPivotMonitor::GpuPivotMonitor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern,
                                 std::span<const DotProgram::Slot> slot_of)
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
    const auto                      tag = tags_of(P.host());
    const std::vector<std::int32_t> source =
        P.view().repeated > 0 ? only_inputs(P.host()) : std::vector<std::int32_t>{};
    arrays.add(tag, view.tag);
    arrays.add(slot_of.empty() ? slot_of : slot_of.first(P.entries()), view.slot);
    if (source.empty()) view.b_source = P.view().source;
    else arrays.add(source, view.b_source);
    arrays.room(P.view().n, view.b);
    arrays.room(P.view().n, view.u);
    arrays.room(P.view().n, view.l);
    arrays.room(most_blocks, view.partial);
    arrays.room(1, view.done);
    arrays.upload(gpu);
}
GpuPivotMonitor::~GpuPivotMonitor() = default;
GpuPivotMonitor::GpuPivotMonitor(GpuPivotMonitor&&) noexcept = default;
GpuPivotMonitor& GpuPivotMonitor::operator=(GpuPivotMonitor&&) noexcept = default;

void GpuPivotMonitor::watch(Gpu& gpu, const double* values, const double* val)
{
    const LuPatternView& P = state_->pattern->view();
    const MonitorView&   M = state_->view;
    if (P.n == 0) return;
    const cuda::Range range("pivot monitor");
    const auto        stream = cuda::stream(gpu);
    watch_entries<<<blocks_for(P.nnz + P.nnz_F, block_entries), threads, 0, stream>>>(P, M, values, val);
    cuda::check_launch("watch_entries");
    if (P.repeated > 0) {
        watch_repeated<<<blocks_for(P.repeated, threads), threads, 0, stream>>>(P, M, values);
        cuda::check_launch("watch_repeated");
    }
    const unsigned blocks = std::min(most_blocks, blocks_for(P.n, threads));
    watch_columns<<<blocks, threads, 0, stream>>>(P, M, val, state_->found.data());
    cuda::check_launch("watch_columns");
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

}  // namespace ilux
