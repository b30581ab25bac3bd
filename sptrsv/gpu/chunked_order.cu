// Levels, order and tasks of chunks. Kernels but the first give a thread to a row or a position, each of which it alone
// writes; sorting and scanning are CUB's. All of it is repeatable.

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/sptrsv/gpu/chunked_order.hpp"

namespace ilux {
namespace {

using cuda::check;
using cuda::check_launch;

constexpr int      level_threads = 1024;  // a block has a multiprocessor to itself
constexpr int      block_size = 256;
constexpr int      class_bits = 3;  // of a key: 5 − log2 of the lanes of a row
constexpr int      patience = 32;   // looks of a warp before it sleeps between them
constexpr unsigned nap_nanoseconds = 60;
constexpr unsigned whole_warp = ~0u;

__device__ Index load_relaxed(const Index* level)
{
    Index value;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(level));
    return value;
}

__device__ void store_relaxed(Index* level, Index value)
{
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(level), "r"(value));
}

/// The rows of a chunk while their levels are found. Shared memory holds for each its level or, while that is not
/// known, minus what is: how many entries are passed, and which row of the chunk has to be known before a look at the
/// others is worth while. And the highest level among the entries passed.
struct ChunkLevels {
    OrderView       v;
    Index           first;
    volatile Index *state, *highest;

    static constexpr int passed_bits = 15;  // which leaves 16 for rows: more than shared memory holds
    static_assert(ChunkOrder::most_entries < 1 << passed_bits);

    /// @param awaited  a row of the chunk; −1: none, or one of another chunk
    __device__ static Index unknown(Index passed, Index awaited) { return -(passed | (awaited + 1) << passed_bits); }

    /// Not positive: not known yet.
    __device__ Index look(Index j) const { return j >= first ? state[j - first] : load_relaxed(v.level + j); }

    /// Row r waits for its last entry first: on a grid that is the neighbour whose level comes last.
    __device__ void start(Index r) const
    {
        const Offset begin = v.row_ptr[first + r], end = v.row_ptr[first + r + 1];
        const Index  last = begin < end ? v.col[end - 1] - first : -1;
        state[r] = unknown(0, max(last, -1));
        highest[r] = 0;
    }

    /// One look into shared memory: whether row r lacks a level and no row of the chunk is known to keep it waiting.
    __device__ bool may_advance(Index r) const
    {
        const Index own = state[r];
        if (own > 0) return false;
        const Index awaited = (-own >> passed_bits) - 1;
        return awaited < 0 || state[awaited] > 0;
    }

    /// Looks at the next few entries of row r, once, and passes those whose level is known. Never waits.
    /// @return whether anything was passed or published
    __device__ bool advance(Index r) const
    {
        constexpr int at_once = 4;
        const Index   before = -state[r] & ((1 << passed_bits) - 1);
        const Offset  begin = v.row_ptr[first + r] + before, end = v.row_ptr[first + r + 1];
        Index         level[at_once], top = highest[r], passed = 0, awaited = -1;
        bool          known = true;
#pragma unroll
        for (int u = 0; u < at_once; ++u) level[u] = begin + u < end ? look(v.col[begin + u]) : 0;
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            if (known && level[u] <= 0 && begin + u < end) awaited = max(v.col[begin + u] - first, -1);
            known = known && level[u] > 0;
            if (!known) continue;
            top = max(top, level[u]);
            ++passed;
        }
        if (begin + passed == end) {
            store_relaxed(v.level + first + r, top + 1);
            state[r] = top + 1;
        } else {
            highest[r] = top;
            state[r] = unknown(before + passed, awaited);
        }
        return passed > 0 || begin == end;
    }
};

/// level_i ← 1 + max_j level_j, a block to a chunk, rows dealt out to its threads in turn. Every thread goes round all
/// its rows, since a row may wait for any before it. Terminates: chunks start in order, by tickets, and no thread waits
/// in place: a turn of its loop is finite. The first row of the first unfinished chunk that has no level yet passes
/// entries in each of its thread's next turns, for all it reads is known.
__global__ void __launch_bounds__(level_threads) find_level(OrderView v)
{
    extern __shared__ Index shared[];
    __shared__ int          claimed;
    if (threadIdx.x == 0) claimed = atomicAdd(&v.header->ticket, 1);
    __syncthreads();
    const Index       first = v.chunk_ptr[claimed], rows = v.chunk_ptr[claimed + 1] - first;
    const ChunkLevels chunk{v, first, shared, shared + rows};
    for (Index r = threadIdx.x; r < rows; r += level_threads) chunk.start(r);
    __syncthreads();

    Index next = threadIdx.x;  // the first row of this thread without a level
    for (int idle = 0; __any_sync(whole_warp, next < rows);) {
        bool moved = false;
        for (Index r = next; r < rows; r += level_threads)
            if (chunk.may_advance(r)) moved |= chunk.advance(r);
        while (next < rows && chunk.state[next] > 0) next += level_threads;
        idle = __any_sync(whole_warp, moved) ? 0 : idle + 1;
        if (idle > patience) __nanosleep(nap_nanoseconds);
    }
    Index deepest = 0;
    for (Index r = threadIdx.x; r < rows; r += level_threads) deepest = max(deepest, chunk.state[r]);
    deepest = __reduce_max_sync(whole_warp, deepest);
    if (threadIdx.x % 32 == 0) atomicMax(&v.header->depth, deepest);
}

/// log2_lanes() of the host.
__device__ int log2_lanes_of(Offset length, int group)
{
    const Offset lanes = (length + group - 1) / group;
    return lanes >= 32 ? 5 : lanes <= 1 ? 0 : 32 - __clz(static_cast<int>(lanes) - 1);
}

/// A key is chunk, level and 5 − class, from the highest bits down.
__device__ int class_of(std::uint64_t key) { return 5 - static_cast<int>(key & ((1 << class_bits) - 1)); }
__device__ std::uint64_t level_of(std::uint64_t key) { return key >> class_bits; }  // with the chunk
__device__ Index         chunk_of(const OrderView& v, std::uint64_t key)
{
    return static_cast<Index>(key >> (class_bits + v.level_bits));
}
__device__ std::size_t position() { return blockIdx.x * std::size_t{block_size} + threadIdx.x; }

/// A block to a chunk. Marks what the chunk reads of earlier ones, too: the leading entries of a row.
__global__ void __launch_bounds__(level_threads) make_keys(OrderView v)
{
    const Index c = blockIdx.x, first = v.chunk_ptr[c], end = v.chunk_ptr[c + 1];
    for (Index i = first + static_cast<Index>(threadIdx.x); i < end; i += level_threads) {
        const Offset begin = v.row_ptr[i], stop = v.row_ptr[i + 1];
        const auto   level = static_cast<std::uint64_t>(c) << v.level_bits | static_cast<unsigned>(v.level[i] - 1);
        v.row_key[i] = level << class_bits | static_cast<unsigned>(5 - log2_lanes_of(stop - begin, v.group));
        v.row[i] = i;
        for (Offset p = begin; p < stop && v.col[p] < first; ++p) v.exported[v.col[p]] = 1;
    }
}

__global__ void __launch_bounds__(block_size) describe_rows(OrderView v)
{
    const std::size_t s = position();
    if (s >= v.n) return;
    const std::uint64_t key = v.key[s];
    const Index         i = v.order[s];
    const Offset        begin = v.row_ptr[i], length = v.row_ptr[i + 1] - begin;
    const int           log2 = class_of(key);
    const bool          asks = length > 0 && v.col[begin] < v.chunk_ptr[chunk_of(v, key)];
    v.facts[s] = {static_cast<Index>((length + (1 << log2) - 1) >> log2), v.exported[i], asks};
    v.start[s] = s == 0 || v.key[s - 1] != key ? static_cast<Index>(s) : 0;
}

/// Whether a task begins at position s.
__device__ bool heads_task(const OrderView& v, std::size_t s)
{
    return ((static_cast<Index>(s) - v.start[s]) & ((32 >> class_of(v.key[s])) - 1)) == 0;
}

/// see(r, facts) for each row of the task that begins at s.
template <class See>
__device__ void for_rows(const OrderView& v, std::size_t s, See see)
{
    const int most = 32 >> class_of(v.key[s]);
    for (int r = 0; r < most && s + r < v.n && v.key[s + r] == v.key[s]; ++r) see(r, v.facts[s + r]);
}

__global__ void __launch_bounds__(block_size) count_tasks(OrderView v)
{
    const std::size_t s = position();
    if (s > v.n) return;
    ChunkTally own{};  // of the end: none
    if (s < v.n) {
        own.slots = v.facts[s].exported;
        own.levels = s == 0 || level_of(v.key[s - 1]) != level_of(v.key[s]);
        if (heads_task(v, s)) {
            own.tasks = 1;
            for_rows(v, s, [&](int, const OrderedRow& row) { own.steps = max(own.steps, row.steps); });
        }
    }
    v.before[s] = own;
}

/// totals_c ← before_s of the first position of each chunk, and of the end.
__global__ void __launch_bounds__(block_size) take_totals(OrderView v, Index chunks)
{
    const std::size_t c = position();
    if (c <= chunks) v.totals[c] = v.before[v.chunk_ptr[c]];
}

__global__ void __launch_bounds__(block_size) fill_tasks(OrderView v, ChunkTask* tasks)
{
    const std::size_t s = position();
    if (s >= v.n) return;
    const ChunkTally before = v.before[s];
    const auto       within = static_cast<Index>(s) - v.chunk_ptr[chunk_of(v, v.key[s])];
    v.place[v.order[s]] = {within, before.slots};
    if (!heads_task(v, s)) return;
    ChunkTask task{};
    task.entries = before.steps;
    task.first = within;
    task.log2_part = class_of(v.key[s]);
    task.export_slot = before.slots;
    for_rows(v, s, [&](int r, const OrderedRow& row) {
        task.steps = max(task.steps, row.steps);
        task.rows = r + 1;
        task.exported |= static_cast<std::uint32_t>(row.exported) << r;
        task.asks_others |= row.asks_others;
    });
    tasks[before.tasks] = task;
}

struct Latest {
    __host__ __device__ Index operator()(Index a, Index b) const { return a > b ? a : b; }
};

struct AddTallies {
    __host__ __device__ ChunkTally operator()(const ChunkTally& a, const ChunkTally& b) const
    {
        return {a.tasks + b.tasks, a.steps + b.steps, a.slots + b.slots, a.levels + b.levels};
    }
};

/// Positions by key, rows of one key in their own order: CUB's sort is stable.
cudaError_t sort_keys(void* temp, std::size_t& bytes, const OrderView& v, int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(temp, bytes, v.row_key, v.key, v.row, v.order, v.n, 0, bits, stream);
}

/// start_s ← max_{t ≤ s} start_t
cudaError_t spread_starts(void* temp, std::size_t& bytes, const OrderView& v, cudaStream_t stream)
{
    return cub::DeviceScan::InclusiveScan(temp, bytes, v.start, v.start, Latest{}, v.n, stream);
}

/// before_s ← Σ_{t < s} before_t
cudaError_t add_up(void* temp, std::size_t& bytes, const OrderView& v, cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveScan(temp, bytes, v.before, v.before, AddTallies{}, ChunkTally{},
                                          std::int64_t{v.n} + 1, stream);
}

unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + block_size - 1) / block_size); }

}  // namespace

ChunkOrder::ChunkOrder(Gpu& gpu, DeviceArrays& scratch, std::span<const Offset> row_ptr, std::span<const Index> col,
                       Index most_chunks)
{
    const auto        stream = cuda::stream(gpu);
    const std::size_t n = row_ptr.size() - 1;
    view_.n = static_cast<Index>(n);
    view_.group = group_of(view_.n, row_ptr.back());
    view_.level_bits = std::max<int>(std::bit_width(n - 1), 1);
    scratch.room(n + 1, view_.row_ptr);
    scratch.room(col.size(), view_.col);
    scratch.room(most_chunks + std::size_t{1}, view_.chunk_ptr);
    scratch.room(1, view_.header);
    scratch.room(n, view_.level);
    scratch.room(n, view_.row);
    scratch.room(n, view_.order);
    scratch.room(n, view_.row_key);
    scratch.room(n, view_.key);
    scratch.room(n, view_.exported);
    scratch.room(n, view_.facts);
    scratch.room(n, view_.start);
    scratch.room(n + 1, view_.before);
    scratch.room(most_chunks + std::size_t{1}, view_.totals);
    scratch.room(n, view_.place);
    std::size_t bytes = 0;
    check(sort_keys(nullptr, bytes, view_, 64, stream), "cub::DeviceRadixSort");
    temp_bytes_ = bytes;
    check(spread_starts(nullptr, bytes, view_, stream), "cub::DeviceScan");
    temp_bytes_ = std::max(temp_bytes_, bytes);
    check(add_up(nullptr, bytes, view_, stream), "cub::DeviceScan");
    temp_bytes_ = std::max(temp_bytes_, bytes);
    temp_bytes_ = std::max<std::size_t>(temp_bytes_, 1);  // a null pointer would only ask for the size
    scratch.room(temp_bytes_, temp_);
}

void ChunkOrder::upload(Gpu& gpu, std::span<const Offset> row_ptr, std::span<const Index> col)
{
    detail::upload_bytes(gpu, row_ptr.data(), const_cast<Offset*>(view_.row_ptr), row_ptr.size_bytes());
    if (!col.empty()) detail::upload_bytes(gpu, col.data(), const_cast<Index*>(view_.col), col.size_bytes());
}

void ChunkOrder::set_chunks(Gpu& gpu, std::span<const Index> chunk_ptr)
{
    chunks_ = static_cast<Index>(chunk_ptr.size()) - 1;
    most_rows_ = 0;
    for (Index c = 0; c < chunks_; ++c) most_rows_ = std::max(most_rows_, chunk_ptr[c + 1] - chunk_ptr[c]);
    detail::upload_bytes(gpu, chunk_ptr.data(), view_.chunk_ptr, chunk_ptr.size_bytes());
}

void ChunkOrder::find_levels(Gpu& gpu)
{
    const cuda::Range range("chunked: levels");
    const auto        stream = cuda::stream(gpu);
    const std::size_t shared_bytes = 2 * sizeof(Index) * most_rows_;
    cuda::allow_shared(gpu, find_level);
    find_level<<<chunks_, level_threads, shared_bytes, stream>>>(view_);
    check_launch("find_level");
}

void ChunkOrder::take_levels(Gpu& gpu, std::vector<Index> level)
{
    LevelHeader header{};
    for (Index& one : level) header.depth = std::max(header.depth, ++one);
    detail::upload_bytes(gpu, level.data(), view_.level, level.size() * sizeof(Index));
    detail::upload_bytes(gpu, &header, view_.header, sizeof header);
}

void ChunkOrder::sort(Gpu& gpu)
{
    const cuda::Range range("chunked: order");
    const auto        stream = cuda::stream(gpu);
    const std::size_t n = view_.n;
    make_keys<<<chunks_, level_threads, 0, stream>>>(view_);
    check_launch("make_keys");
    const int bits =
        class_bits + view_.level_bits + static_cast<int>(std::bit_width(static_cast<unsigned>(chunks_ - 1)));
    check(sort_keys(temp_, temp_bytes_, view_, bits, stream), "cub::DeviceRadixSort");
    describe_rows<<<blocks_for(n), block_size, 0, stream>>>(view_);
    check_launch("describe_rows");
    check(spread_starts(temp_, temp_bytes_, view_, stream), "cub::DeviceScan");
    count_tasks<<<blocks_for(n + 1), block_size, 0, stream>>>(view_);
    check_launch("count_tasks");
    check(add_up(temp_, temp_bytes_, view_, stream), "cub::DeviceScan");
    take_totals<<<blocks_for(chunks_ + std::size_t{1}), block_size, 0, stream>>>(view_, chunks_);
    check_launch("take_totals");
}

std::vector<ChunkTally> ChunkOrder::totals(Gpu& gpu) const
{
    std::vector<ChunkTally> totals(chunks_ + std::size_t{1});
    detail::download_bytes(gpu, view_.totals, totals.data(), totals.size() * sizeof(ChunkTally));
    return totals;
}

Index ChunkOrder::depth(Gpu& gpu) const
{
    LevelHeader header{};
    detail::download_bytes(gpu, view_.header, &header, sizeof header);
    return header.depth;
}

std::vector<Index> ChunkOrder::levels(Gpu& gpu) const
{
    std::vector<Index> level(view_.n);
    detail::download_bytes(gpu, view_.level, level.data(), level.size() * sizeof(Index));
    for (Index& l : level) --l;
    return level;
}

void ChunkOrder::write_tasks(Gpu& gpu, ChunkTask* tasks)
{
    const cuda::Range range("chunked: tasks");
    fill_tasks<<<blocks_for(view_.n), block_size, 0, cuda::stream(gpu)>>>(view_, tasks);
    check_launch("fill_tasks");
}

}  // namespace ilux
