// Dot products that read one another, for many members in one launch: the members of a group are lanes that compute the
// same products of different systems; what to multiply is read once for all of them, and the numbers of a slot lie side
// by side. The warps of a thread block cluster take the tasks of a level (batch_dots.hpp), and meet at the cluster's
// barrier before the next.
//
// Launch shape: a cluster for each group, of up to 16 blocks of 16 warps, each block alone on its multiprocessor. A warp
// loads what its next task is before it computes the one at hand, so that behind a barrier nothing but operands is
// missing. Terminates: every thread of a cluster passes depth − 1 barriers, and nobody waits for another cluster.
// Repeatable: bitwise, for each lane does what run_serial does. What a member holds, NaN and Inf too, is never seen by
// another.

#include <algorithm>
#include <array>
#include <string>

#include <cuda_pipeline.h>

#include "ilux/direct/cluster_launch.hpp"
#include "ilux/direct/device_dots.hpp"
#include "ilux/direct/gpu_dots_batch.hpp"
#include "ilux/direct/gpu_transpose.hpp"

namespace ilux {
namespace {

using cuda::cluster_sizes;
using Room = cuda::ClusterRoom;

constexpr int block_warps = 16;
constexpr int at_once = 8;       // products of which a lane has all operands on their way together
constexpr int side_by_side = 4;  // tasks of one block: they are likely to have operands in common
constexpr int most_merges = 5;

static_assert(sizeof(BatchDots::Task) == 8 && sizeof(BatchDots::Item) == 64 && sizeof(BatchDots::Product) == 8);

/// A task of a warp's, and its level.
struct Turn {
    BatchDots::Task task;
    std::uint32_t   number = 0;
    Index           level = -1;  // none

    __device__ explicit operator bool() const { return level >= 0; }
};

/// Where a warp stands in the tasks of its cluster. Knows the ends of levels before they are needed.
struct Cursor {
    const BatchDotsView& P;
    std::uint32_t        rank, blocks;  // of and in the cluster
    std::uint32_t        warp, place;   // in the level, counted by block
    Index                level = 0;
    std::uint32_t        first, end, next_end, after_end;

    __device__ Cursor(const BatchDotsView& view, std::uint32_t rank_, std::uint32_t blocks_)
        : P(view),
          rank(rank_),
          blocks(blocks_),
          warp(threadIdx.x / 32),
          place(warp),
          first(start(0)),
          end(start(1)),
          next_end(start(2)),
          after_end(start(3))
    {}
    __device__ std::uint32_t start(Index of) const { return __ldg(P.level + min(of, P.depth)); }

    /// Looks no further than at level `last`.
    __device__ Turn next(Index last)
    {
        for (;;) {
            const std::uint32_t number =
                first + (place / side_by_side * blocks + rank) * side_by_side + place % side_by_side;
            if (number < end) {
                place += block_warps;
                const uint2 raw = __ldg(reinterpret_cast<const uint2*>(P.task) + number);
                Turn        turn{{}, number, level};
                memcpy(&turn.task, &raw, sizeof turn.task);
                return turn;
            }
            if (level >= last) return {};
            ++level;
            place = warp;
            first = end;
            end = next_end;
            next_end = after_end;
            after_end = start(level + 3);
        }
    }
};

__device__ std::uint32_t products_of(const BatchDots::Task& task)
{
    return std::uint32_t{task.steps} << task.log2_leaves;
}

/// What the lanes of a task need to know, in shared memory: loaded while the task before is at work.
template <int width>
struct Stage {
    static constexpr int rows = 16;
    uint4                item[4 * width];
    uint4                pair[rows / 2 * width];

    /// Rows `row` and the next ones.
    __device__ void load_pairs(const BatchDotsView& P, const BatchDots::Task& task, std::uint32_t row)
    {
        const auto from = reinterpret_cast<const uint4*>(P.product) + std::size_t{task.first + row} / 2 * width;
        const std::uint32_t count = min((products_of(task) - row + 1) / 2, rows / 2) * width;
        for (std::uint32_t c = threadIdx.x & 31; c < count; c += 32)
            __pipeline_memcpy_async(pair + c, from + c, sizeof(uint4));
    }
    __device__ void load(const BatchDotsView& P, const Turn& turn)
    {
        if (!turn) return;
        const auto          from = reinterpret_cast<const uint4*>(P.item + std::size_t{turn.number} * width);
        const std::uint32_t c = threadIdx.x & 31;
        if (c < 4 * width) __pipeline_memcpy_async(item + c, from + c, sizeof(uint4));
        if (products_of(turn.task) > 0) load_pairs(P, turn.task, 0);
    }
    /// All that this warp asked for is there, and nobody looks at what was there before.
    __device__ static void wait()
    {
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncwarp();
    }
};

/// Where the numbers of one member are; in all of them its slot or place 0.
template <bool a_given, class T, class A>
struct Member {
    T*            v;
    double*       sums;
    const double* input;
    const A*      factors;
    std::uint32_t stride;
    std::uint32_t a_stride;

    __device__ double slot(DotProgram::Slot s) const
    {
        return static_cast<double>(v[static_cast<std::size_t>(s) * stride]);
    }
    __device__ double sum(DotProgram::Slot s) const { return sums[static_cast<std::size_t>(s) * stride]; }
    __device__ double a(DotProgram::Slot s) const
    {
        if constexpr (a_given) return static_cast<double>(__ldg(factors + static_cast<std::size_t>(s) * a_stride));
        else return slot(s);
    }
    __device__ double scaled_input(std::int32_t source, double scale) const
    {
        if (source < 0) return 0;
        return __dadd_rn(0, __dmul_rn(scale, __ldg(input + static_cast<std::size_t>(source) * stride)));
    }
};

/// The two products that are known last.
struct LateProducts {
    double a[2], b[2];

    template <class M>
    __device__ void load(const M& member, const uint4& operands)
    {
        a[0] = member.a(operands.x);
        b[0] = member.slot(operands.y);
        a[1] = member.a(operands.z);
        b[1] = member.slot(operands.w);
    }
    __device__ double subtract_from(double x) const { return __fma_rn(-a[1], b[1], __fma_rn(-a[0], b[0], x)); }
};

/// V_w(l) = V_2w(l) + V_2w(l + w), as soon as both are there. Control flow is the same in all lanes.
struct Tree {
    double        x;
    std::uint32_t left, steps;  // products of this leaf; 0: there is only one leaf
    std::uint32_t leaf = 0, last;
    double        aside[most_merges];

    __device__ Tree(const BatchDots::Task& task, double start)
        : x(start), left(task.log2_leaves > 0 ? task.steps : 0), steps(task.steps), last((1u << task.log2_leaves) - 1)
    {}
    __device__ void count_product()
    {
        if (--left != 0) return;
        left = steps;
        bool both = true;
#pragma unroll
        for (int m = 0; m < most_merges; ++m) {
            if (!both) continue;
            if (leaf >> m & 1) {
                x = aside[m] + x;
            } else {
                aside[m] = x;
                both = false;
            }
        }
        if (leaf++ != last) x = 0;
    }
};

/// Leaves are the sums of products, or sums that are there. Stage by stage, where it holds not all.
template <bool sums, int width, class M>
__device__ void add_leaves(Tree& tree, const BatchDots::Task& task, Stage<width>& stage, const M& member,
                           const BatchDotsView& P)
{
    const std::uint32_t count = products_of(task), g = (threadIdx.x & 31) / (32 / width);
    for (std::uint32_t p = 0; p < count; p += at_once) {
        const std::uint32_t row = p % stage.rows;
        if (p > 0 && row == 0) {
            __syncwarp();
            stage.load_pairs(P, task, p);
            stage.wait();
        }
        double left[at_once], right[at_once];
#pragma unroll
        for (int s = 0; s < at_once; s += 2) {
            if (p + s >= count) continue;
            const uint4 pair = stage.pair[(row + s) / 2 * width + g];
            if constexpr (!sums) left[s] = member.a(pair.x);
            right[s] = sums ? member.sum(pair.y) : member.slot(pair.y);
            if (p + s + 1 >= count) continue;
            if constexpr (!sums) left[s + 1] = member.a(pair.z);
            right[s + 1] = sums ? member.sum(pair.w) : member.slot(pair.w);
        }
#pragma unroll
        for (int s = 0; s < at_once; ++s) {
            if (p + s >= count) continue;
            if constexpr (sums) tree.x = right[s];
            else tree.x = __fma_rn(-left[s], right[s], tree.x);
            tree.count_product();
        }
    }
}

/// Loads that do not depend on one another come before their first use.
template <int width, class T, class M>
__device__ void run_task(const BatchDots::Task& task, Stage<width>& stage, const M& member, const BatchDotsView& P)
{
    using Divide = BatchDots::Divide;
    const uint4* const item = stage.item + 4 * ((threadIdx.x & 31) / (32 / width));
    const auto [slot, divisor, source, pad] = item[0];
    LateProducts late, divisor_late;
    double       d = 1;
    if (task.late) late.load(member, item[2]);
    if (task.divide == Divide::by_slot) d = member.a(divisor);
    if (task.divide == Divide::by_sum) {
        d = member.sum(divisor);
        divisor_late.load(member, item[3]);
    }
    const double scale = *reinterpret_cast<const double*>(item + 1);
    Tree         tree(task, member.scaled_input(static_cast<std::int32_t>(source), scale));
    if (task.adds_sums) add_leaves<true>(tree, task, stage, member, P);
    else add_leaves<false>(tree, task, stage, member, P);
    double x = tree.x;
    if (task.makes_sums) {
        member.sums[static_cast<std::size_t>(slot) * member.stride] = x;
        return;
    }
    if (task.late) x = late.subtract_from(x);
    if (task.divide == Divide::by_sum) d = static_cast<double>(static_cast<T>(divisor_late.subtract_from(d)));
    if (task.divide != Divide::none) x = divide(x, d);
    member.v[static_cast<std::size_t>(slot) * member.stride] = static_cast<T>(x);
}

__device__ std::uint32_t cluster_rank()
{
    std::uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ std::uint32_t cluster_blocks()
{
    std::uint32_t blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

/// What any thread of the cluster wrote before is seen by all of them behind it.
__device__ void meet()
{
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// v and sums are written and read in this launch: no __restrict__, no read-only cache.
template <bool a_given, int lanes, class T, class A>
__global__ void __launch_bounds__(32 * block_warps, 1)
    run_dots_batch(BatchDotsView P, const double* input, GivenFactors<A> a, T* v, double* sums)
{
    const std::uint32_t         blocks = cluster_blocks(), group = blockIdx.x / blocks;
    const auto                  m = static_cast<std::size_t>(group) * lanes + (threadIdx.x & (lanes - 1));
    const auto                  stride = static_cast<std::uint32_t>(P.stride);
    const Member<a_given, T, A> member{v + m,     sums + m,
                                       input + m, a_given && a.stride > 0 ? a.values + m : a.values,
                                       stride,    a.stride > 0 ? static_cast<std::uint32_t>(a.stride) : 1};
    constexpr int               width = 32 / lanes;
    __shared__ Stage<width> stages[block_warps][2];
    Stage<width>* const     stage = stages[threadIdx.x / 32];
    int                     current = 0;
    Cursor                  cursor(P, cluster_rank(), blocks);
    Turn                    now, next;
    for (Index level = 0; level < P.depth; ++level) {
        if (level > 0) meet();
        for (;;) {
            if (!now) {
                now = next ? next : cursor.next(level + 1);
                stage[current].load(P, now);
                next = cursor.next(level + 1);
            }
            if (now.level != level) break;
            stage[current].wait();
            stage[current ^ 1].load(P, next);
            const Turn after = cursor.next(level + 1);
            run_task<width, T>(now.task, stage[current], member, P);
            now = next;
            next = after;
            current ^= 1;
        }
    }
}

template <class T>
__global__ void write_constants(T* v, Index stride)
{
    for (Index m = threadIdx.x; m < stride; m += blockDim.x)
        for (std::size_t slot = 0; slot < DotProgram::first_slot; ++slot)
            v[slot * stride + m] = slot == DotProgram::minus_one_slot ? -1 : 0;
}

template <bool a_given, class T, class A>
using Kernel = void (*)(BatchDotsView, const double*, GivenFactors<A>, T*, double*);

template <bool a_given, class T, class A>
Kernel<a_given, T, A> kernel_for(Index lanes)
{
    if (lanes == 8) return run_dots_batch<a_given, 8, T, A>;
    return lanes == 16 ? run_dots_batch<a_given, 16, T, A> : run_dots_batch<a_given, 32, T, A>;
}

template <class K>
void limit(K* kernel, Room& room)
{
    cuda::limit_room(reinterpret_cast<const void*>(kernel), 32 * block_warps, room);
}

Room room_for(bool a_given, Index lanes)
{
    Room room;
    room.fill(1 << 20);
    if (a_given) {
        limit(kernel_for<true, double, double>(lanes), room);
        limit(kernel_for<true, double, float>(lanes), room);
    } else {
        limit(kernel_for<false, double, double>(lanes), room);
        limit(kernel_for<false, float, float>(lanes), room);
    }
    return room;
}

/// The size with which all groups are done soonest: a level takes about one step of latency, and one for each task of a
/// warp; the smaller one of equals, whose barriers are cheaper.
Index best_cluster(const Room& room, Index groups, const BatchDots& dots)
{
    Index  best = 1;
    double least = 0;
    for (std::size_t s = 0; s < room.size(); ++s) {
        if (room[s] == 0) continue;
        const double waves = (groups + room[s] - 1) / room[s];
        const double cost = waves * (dots.depth() + static_cast<double>(dots.task.size()) /
                                                        static_cast<double>(cluster_sizes[s] * block_warps));
        if (least > 0 && cost >= least) continue;
        best = cluster_sizes[s];
        least = cost;
    }
    return best;
}

template <bool a_given, class T, class A>
void launch(Gpu& gpu, const BatchDotsView& view, Index lanes, Index cluster, GivenFactors<A> a,
            DotsBatchSpace<T>& space)
{
    const auto                groups = static_cast<unsigned>((view.members + lanes - 1) / lanes);
    const cuda::ClusterLaunch how(groups, static_cast<unsigned>(cluster), 32 * block_warps, cuda::stream(gpu));
    const double* const       input = space.input.data();
    cuda::check(cudaLaunchKernelEx(&how.config, kernel_for<a_given, T, A>(lanes), view, input, a, space.v.data(),
                                   space.sum.data()),
                "run_dots_batch");
}

}  // namespace

GpuDotsBatch::GpuDotsBatch(Gpu& gpu, const DotProgram& program, Index members, std::size_t inputs,
                           std::span<const std::int32_t> out_index, std::span<const double> out_scale,
                           const BatchTuning& tuning)
    : slots_(program.slots()), inputs_(inputs), lanes_(tuning.lanes > 0 ? tuning.lanes : 8)
{
    require(members >= 1, [&] { return "a batch of " + std::to_string(members) + " members"; });
    require(members <= 65535 * 32, [&] { return "a batch of " + std::to_string(members) + " members is too large"; });
    require(lanes_ == 8 || lanes_ == 16 || lanes_ == 32,
            [&] { return "groups of " + std::to_string(lanes_) + " members: take 8, 16 or 32"; });
    const BatchDots dots = batch_dots(program, 32 / lanes_);
    places_ = dots.places;
    view_.members = members;
    view_.stride = (members + 31) / 32 * 32;
    view_.depth = dots.depth();
    const Room room = room_for(program.a_given, lanes_);
    cluster_ = tuning.cluster > 0 ? tuning.cluster : best_cluster(room, (members + lanes_ - 1) / lanes_, dots);
    const auto size = std::ranges::find(cluster_sizes, cluster_);
    require(size != cluster_sizes.end() && room[size - cluster_sizes.begin()] > 0,
            [&] { return "clusters of " + std::to_string(cluster_) + " blocks: this GPU has no room for them"; });
    const Outputs out(out_index, out_scale);
    outputs_ = out.slot.size();
    arrays_.add(dots.task, view_.task);
    arrays_.add(dots.item, view_.item);
    arrays_.add(dots.product, view_.product);
    arrays_.add(dots.level, view_.level);
    arrays_.add(out.slot, out_slot_);
    arrays_.add(out.scale, out_scale_);
    arrays_.upload(gpu);
}

template <class T>
DotsBatchSpace<T> GpuDotsBatch::space(Gpu& gpu) const
{
    const auto        stream = cuda::stream(gpu);
    DotsBatchSpace<T> made{DeviceBuffer<T>(slots_ * stride()), DeviceBuffer<double>(places_ * stride()),
                           DeviceBuffer<double>(inputs_ * stride())};
    write_constants<<<1, 256, 0, stream>>>(made.v.data(), stride());
    cuda::check_launch("write_constants");
    return made;
}

template <class T>
void GpuDotsBatch::run(Gpu& gpu, const double* input, DotsBatchSpace<T>& space) const
{
    if (view_.depth == 0) return;
    const cuda::Range range("dots_batch");
    gather_members(gpu, input, inputs_, view_.members, view_.stride, space.input.data());
    launch<false>(gpu, view_, lanes_, cluster_, GivenFactors<T>{}, space);
}

template <class A>
void GpuDotsBatch::run(Gpu& gpu, const double* input, GivenFactors<A> a, DotsBatchSpace<double>& space,
                       double* out) const
{
    if (view_.depth == 0) return;
    const cuda::Range range("dots_batch");
    gather_members(gpu, input, inputs_, view_.members, view_.stride, space.input.data());
    launch<true>(gpu, view_, lanes_, cluster_, a, space);
    scatter_members(gpu, space.v.data(), out_slot_, out_scale_, outputs_, view_.members, view_.stride, out);
}

template DotsBatchSpace<double> GpuDotsBatch::space(Gpu&) const;
template DotsBatchSpace<float>  GpuDotsBatch::space(Gpu&) const;
template void                   GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<double>&) const;
template void                   GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<float>&) const;
template void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<double>, DotsBatchSpace<double>&, double*) const;
template void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<float>, DotsBatchSpace<double>&, double*) const;

}  // namespace ilux
