// x ← L⁻¹ b in one launch, a block to a chunk of contiguous rows (chunked_layout.hpp).
//
// Launch shape: as many blocks as chunks, 512 threads each, and a row of the grid to each right-hand side, which has a
// header and exported x of its own. A block claims its chunk by a ticket, so chunks of a right-hand side start in
// order, and a chunk reads only itself and earlier ones: whatever it waits for is already running. Inside a block the
// chunk's team of t warps takes tasks in turn, warp w tasks w, w + t, ..., in the order of levels; the first unfinished
// task of the lowest level never waits.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/chunked.hpp"
#include "ilux/sptrsv/gpu/device_row.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int threads = 512;
constexpr int warps = threads / 32;
constexpr int patience = 64;  // polls of L2 before a warp sleeps between them
constexpr int nap_nanoseconds = 40;

/// What the solve of a right-hand side writes besides `out`: kept between solves, so that none has to clear anything
/// first.
struct Header {
    int ticket;    // blocks started
    int finished;  // blocks done
    int parity;    // which half of the exported x this solve uses; it clears the other
    int unused[13];
};

/// Shared memory of one block.
template <class S>
struct Chunk {
    S*         x;  // rows + 1; the last is the constant 0 that padding reads
    ChunkTask* tasks;
};

/// One lane's entries of a task, `group` steps at once.
template <class T, int group>
struct Steps {
    using S = working_of<T>;
    Index     source[group];
    T         val[group];
    BitsOf<S> bits[group];

    /// Steps first, first + 1, ... of a task; what lies beyond its end reads the chunk's constant 0.
    __device__ void load(const ChunkedView<T>& v, const ChunkTask& task, int first, Index zero)
    {
#pragma unroll
        for (int u = 0; u < group; ++u) {
            const bool        live = first + u < task.steps;
            const std::size_t at = 32 * (static_cast<std::size_t>(task.entries) + first + u) + threadIdx.x % 32;
            source[u] = live ? v.source[at] : zero;
            val[u] = live ? v.val[at] : T{};
        }
    }
    __device__ void look(const S* exported)
    {
#pragma unroll
        for (int u = 0; u < group; ++u) {
            bits[u] = bits_of_unset<S>();
            if (source[u] < 0) bits[u] = load_relaxed(exported + (-1 - source[u]));
        }
    }
    /// Σ val·x once every lane of the warp has all it needs. The warp waits as one, so it leaves converged: first for
    /// other chunks, which are usually ahead, then for its own, in a loop as tight as the latency of shared memory.
    __device__ S collect(const S* x, const S* exported, bool asks_others)
    {
        for (int polls = 0; asks_others && __any_sync(whole_warp, waits(true)); ++polls) {
            if (polls > patience) __nanosleep(nap_nanoseconds);
#pragma unroll
            for (int u = 0; u < group; ++u)
                if (source[u] < 0 && is_unset(bits[u])) bits[u] = load_relaxed(exported + (-1 - source[u]));
        }
        do {
#pragma unroll
            for (int u = 0; u < group; ++u)
                if (source[u] >= 0 && is_unset(bits[u])) bits[u] = load_shared(x + source[u]);
        } while (__any_sync(whole_warp, waits(false)));
        S sum{};
#pragma unroll
        for (int u = 0; u < group; ++u) sum = cuda::plus_product(sum, cuda::widened(val[u]), as_number(bits[u]));
        return sum;
    }

private:
    __device__ bool waits(bool for_others) const
    {
        bool any = false;
#pragma unroll
        for (int u = 0; u < group; ++u) any |= (source[u] < 0) == for_others && is_unset(bits[u]);
        return any;
    }
};

/// The leading lane of row r of the task makes x known to the block and, where others read it, to the device.
template <class S>
__device__ void publish_row(const Chunk<S>& chunk, S* exported, const ChunkTask& task, int r, S x)
{
    const BitsOf<S> bits = published(x);
    store_shared(chunk.x + task.first + r, bits);
    if (task.exported >> r & 1)
        store_relaxed(exported + task.export_slot + __popc(task.exported & ((1u << r) - 1)), bits);
}

/// A task on its way through a warp in three stages, a turn apart, so that neither the factor, nor b, nor what other
/// chunks have long published is waited for: load, look, finish.
template <class T, int group>
struct Turn {
    using S = working_of<T>;
    ChunkTask       task;
    Steps<T, group> steps;
    bool            leads;     // this lane stores the row's x
    Index           position;  // of that row over all chunks
    Index           in, out;   // its places in b and out
    S               right, inv, out_scale;

    __device__ void load(const ChunkedView<T>& v, const ChunkTask& next, Index first, Index rows)
    {
        task = next;
        steps.load(v, task, 0, rows);
        const int lane = threadIdx.x % 32, r = lane >> task.log2_part;
        leads = (lane & ((1 << task.log2_part) - 1)) == 0 && r < task.rows;
        position = first + task.first + r;
        in = leads ? v.frame.in_index[position] : -1;
    }
    __device__ void look(const ChunkedView<T>& v, const S* b, const S* exported)
    {
        steps.look(exported);
        right = in >= 0 ? b[in] : S{};
        if (leads && v.frame.in_scale) right = v.frame.in_scale[position] * right;
        inv = leads ? inv_pivot(v.frame, position) : cuda::from_real<S>(1);
        out = leads ? v.frame.out_index[position] : -1;
        out_scale = leads && v.frame.out_scale ? v.frame.out_scale[position] : cuda::from_real<S>(1);
    }
    __device__ void finish(const ChunkedView<T>& v, const Chunk<S>& chunk, S* exported, S* result, Index rows)
    {
        S sum = steps.collect(chunk.x, exported, task.asks_others);
        for (int s = group; s < task.steps; s += group) {
            steps.load(v, task, s, rows);
            steps.look(exported);
            sum += steps.collect(chunk.x, exported, task.asks_others);
        }
        sum = sum_over(1 << task.log2_part, sum);
        if (!leads) return;
        const S x = (right - sum) * inv;
        publish_row(chunk, exported, task, (threadIdx.x % 32) >> task.log2_part, x);
        if (out >= 0) result[out] = out_scale * x;
    }
};

/// @param team  warps that share the tasks, in turn
template <class T, int group, class S>
__device__ void solve_tasks(const ChunkedView<T>& v, const Chunk<S>& chunk, S* exported, const S* b, S* out,
                            Index first, Index rows, int count, int team)
{
    const auto task_at = [&](int t) { return t < count ? chunk.tasks[t] : ChunkTask{}; };
    const int  w = threadIdx.x / 32;
    if (w >= team) return;
    Turn<T, group> now, next, after;
    now.load(v, task_at(w), first, rows);
    next.load(v, task_at(w + team), first, rows);
    now.look(v, b, exported);
    for (int t = w; t < count; t += team) {
        after.load(v, task_at(t + 2 * team), first, rows);
        next.look(v, b, exported);
        now.finish(v, chunk, exported, out, rows);
        now = next;
        next = after;
    }
}

/// The last block to finish makes the workspace ready for the next solve.
__device__ void finish_block(Header& header)
{
    __syncthreads();  // no warp of this block reads the header or writes out any more
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&header.finished, 1) != gridDim.x - 1) return;
    header.ticket = header.finished = 0;
    header.parity ^= 1;
}

/// Repeatable: bitwise. Terminates: see the head of this file.
/// @param work        of each right-hand side work_bytes: a header, then both halves of the exported x
/// @param length      of a vector of b and out
template <class T, int group, class S = working_of<T>>
__global__ void __launch_bounds__(threads, 1) solve_chunks(ChunkedView<T> v, std::byte* work, std::size_t work_bytes,
                                                           Index slots, const S* b, S* out, std::size_t length)
{
    auto* const               header = reinterpret_cast<Header*>(work + blockIdx.y * work_bytes);
    S* const                  both_exported = reinterpret_cast<S*>(header + 1);
    extern __shared__ double2 shared[];
    __shared__ int            claimed;
    if (threadIdx.x == 0) claimed = atomicAdd(&header->ticket, 1);
    __syncthreads();
    const Index c = claimed, first = v.chunk_ptr[c], rows = v.chunk_ptr[c + 1] - first;
    const Index first_task = v.task_ptr[c];
    const int   tasks = v.task_ptr[c + 1] - first_task;
    const int   parity = header->parity;

    S* const       x = reinterpret_cast<S*>(shared);
    const Chunk<S> chunk{x, reinterpret_cast<ChunkTask*>(x + (rows + 2) / 2 * 2)};  // tasks start on 16 bytes
    for (int k = threadIdx.x; k < 2 * tasks; k += threads)
        reinterpret_cast<int4*>(chunk.tasks)[k] = reinterpret_cast<const int4*>(v.tasks + first_task)[k];
    for (Index r = threadIdx.x; r < rows; r += threads) store_shared(chunk.x + r, bits_of_unset<S>());
    if (threadIdx.x == 0) chunk.x[rows] = S{};
    S* const other = both_exported + (parity ? 0 : slots);
    for (std::size_t s = c * std::size_t{threads} + threadIdx.x; s < slots; s += std::size_t{gridDim.x} * threads)
        store_relaxed(other + s, bits_of_unset<S>());
    __syncthreads();

    solve_tasks<T, group>(v, chunk, both_exported + (parity ? slots : 0), b + blockIdx.y * length,
                          out + blockIdx.y * length, first, rows, tasks, min(warps, v.team[c]));
    finish_block(*header);
}

template <class S>
__global__ void clear_workspace(Header* header, S* exported, std::size_t count)
{
    const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (k == 0) *header = Header{};
    if (k < count) store_relaxed(exported + k, bits_of_unset<S>());
}

}  // namespace

template <class T>
ChunkedEngine<T>::ChunkedEngine(Gpu& gpu, const ForwardSystem<T>& system, WideLevels wide)
{
    const std::size_t most = gpu.state().shared_bytes - cuda::reserved_shared;
    auto              made = analyse_chunks(gpu, system, {.chunks = gpu.state().multiprocessors, .shared_bytes = most},
                                            LayoutMaker::device, wide);
    ILUX_ASSERT(made.shared_bytes <= most);
    chunks_ = made.chunks;
    slots_ = made.slots;
    group_ = made.group;
    shared_bytes_ = made.shared_bytes;
    arrays_ = std::move(made.arrays);
    view_ = made.view;
    numbers_ = {{const_cast<T*>(view_.val), made.entries},
                {const_cast<S*>(view_.frame.inv_diag), view_.frame.inv_diag ? made.positions : 0}};
    facts_ = made.facts;
    seconds_ = made.seconds;
    level_ = std::move(made.level);
    using V = cuda::Value<T>;
    for (const auto kernel : {solve_chunks<V, 2>, solve_chunks<V, 4>}) cuda::allow_shared(gpu, kernel);
}

template <class T>
std::size_t ChunkedEngine<T>::bytes() const
{
    return arrays_.bytes();
}

template <class T>
std::size_t ChunkedEngine<T>::workspace_bytes() const
{
    return sizeof(Header) + 2 * sizeof(S) * slots_;
}

template <class T>
void ChunkedEngine<T>::prepare(Gpu& gpu, DeviceSpan<std::byte> work) const
{
    const cuda::Range range("chunked: prepare");
    const std::size_t count = 2 * std::size_t(slots_);
    const auto        blocks = static_cast<unsigned>(count / 256 + 1);
    auto* const       header = reinterpret_cast<Header*>(work.data());
    auto* const       exported = reinterpret_cast<cuda::Value<S>*>(header + 1);
    clear_workspace<<<blocks, 256, 0, cuda::stream(gpu)>>>(header, exported, count);
    cuda::check_launch("clear_workspace");
}

template <class T>
void ChunkedEngine<T>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work,
                             Index rhs) const
{
    using V = cuda::Value<T>;
    if (chunks_ == 0) return;
    const cuda::Range range("chunked: solve");
    const auto        kernel = group_ == 2 ? solve_chunks<V, 2> : solve_chunks<V, 4>;
    const dim3        grid(static_cast<unsigned>(chunks_), static_cast<unsigned>(rhs));
    kernel<<<grid, threads, shared_bytes_, cuda::stream(gpu)>>>(std::bit_cast<ChunkedView<V>>(view_), work.data(),
                                                                work.size() / grid.y, slots_, cuda::as_values(b.data()),
                                                                cuda::as_values(out.data()), b.size() / grid.y);
    cuda::check_launch("solve_chunks");
}

#define ILUX_INSTANTIATE(T) template class ChunkedEngine<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
