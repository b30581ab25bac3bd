// Dot products that read one another, for many members in one launch: the members of a group are lanes that compute the
// same products of different systems; what to multiply is read once for all of them, and the numbers of a slot lie side
// by side. The warps of a thread block cluster take the tasks of a level (batch_dataflow.hpp), and meet at the
// cluster's barrier before the next.
//
// Launch shape: a cluster for each group, of up to 16 blocks, each block alone on its multiprocessor. A warp loads what
// its next task is before it computes the one at hand; and while it waits at a barrier it sums up what its next task
// reads of older levels, so that behind the barrier only the products known last are missing. Terminates: every thread
// of a cluster passes depth − 1 barriers, and nobody waits for another cluster. Repeatable: bitwise, for each lane does
// what run_serial does. What a member holds, NaN and Inf too, is never seen by another.

#include <algorithm>
#include <string>

#include "ilux/direct/batch/device_batch_item.hpp"
#include "ilux/direct/batch/gpu_dataflow_batch.hpp"
#include "ilux/direct/gpu/cluster_launch.hpp"
#include "ilux/direct/solve/gpu_transpose.hpp"

namespace ilux {
namespace {

using cuda::cluster_sizes;
using Room = cuda::ClusterRoom;

constexpr int   block_warps = 24;  // 16 and 32 took as long or up to a third longer
constexpr int   at_once = 4;  // products of which a lane has all operands on their way together, as registers allow
constexpr int   side_by_side = 4;    // tasks of one block: they are likely to have operands in common
constexpr Index many_members = 256;  // from here on 32 lanes a group leave no multiprocessor idle, and read less

/// Where a warp stands in the tasks of its cluster. Knows the ends of levels before they are needed.
struct Cursor {
    const BatchDataflowView& P;
    std::uint32_t            rank, blocks;  // of and in the cluster
    std::uint32_t            warp, place;   // in the level, counted by block
    Index                    level = 0;
    std::uint32_t            first, end, next_end, after_end;

    __device__ Cursor(const BatchDataflowView& view, std::uint32_t rank_, std::uint32_t blocks_)
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
                place += blockDim.x / 32;
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

/// What any thread of the cluster wrote before arrive() is seen by all of them behind wait_for_all().
__device__ void arrive()
{
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ void wait_for_all()
{
    __syncwarp();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// A warp among those of its cluster: its task at hand and the one after that.
template <int width, class T, class M>
struct Worker {
    static constexpr int     depth = at_once;
    const BatchDataflowView& P;
    const M&                 member;
    Stage<width>* const      stage;  // two
    Cursor                   cursor;
    Turn                     now, next;
    int                      current = 0;
    bool                     begun = false;  // `now`: x is the sum of its leaves
    double                   x = 0;

    /// Looks no further than at level `last`.
    __device__ void look(Index last)
    {
        if (now) return;
        now = next ? next : cursor.next(last);
        stage[current].load(P, now);
        next = cursor.next(last);
    }
    /// Begins a task of the next level, before its barrier.
    __device__ void begin()
    {
        if (!now || !now.task.early) return;
        stage[current].wait();
        x = sum_leaves<false, depth>(now.task, stage[current], member, P);
        begun = true;
    }
    __device__ void run_task(Index last)
    {
        if (!begun) stage[current].wait();
        stage[current ^ 1].load(P, next);
        const Turn                after = cursor.next(last);
        const Ending<T, width, M> ending(now.task, stage[current], member);
        if (!begun) {
            if (now.task.adds_sums) x = sum_leaves<true, depth>(now.task, stage[current], member, P);
            else x = sum_leaves<false, depth>(now.task, stage[current], member, P);
        }
        ending.finish(x);
        begun = false;
        now = next;
        next = after;
        current ^= 1;
    }
};

/// v and sums are written and read in this launch: no __restrict__, no read-only cache.
template <bool a_given, int lanes, class T, class A>
__global__ void __launch_bounds__(32 * block_warps, 1)
    run_dataflow_batch(BatchDataflowView P, const double* input, GivenFactors<A> a, T* v, double* sums)
{
    using M = Member<a_given, T, A>;
    constexpr int width = 32 / lanes;
    __shared__ Stage<width> stages[block_warps][2];
    const std::uint32_t     blocks = cluster_blocks(), group = blockIdx.x / blocks;
    const auto              m = static_cast<std::size_t>(group) * lanes + (threadIdx.x & (lanes - 1));
    const auto              stride = static_cast<std::uint32_t>(P.stride);
    const M                 member{v + m,     sums + m,
                   input + m, a_given && a.stride > 0 ? a.values + m : a.values,
                   stride,    a.stride > 0 ? static_cast<std::uint32_t>(a.stride) : 1};
    Worker<width, T, M>     worker{P, member, stages[threadIdx.x / 32], Cursor(P, cluster_rank(), blocks)};
    for (Index level = 0; level < P.depth; ++level) {
        if (level > 0) wait_for_all();
        for (worker.look(level + 1); worker.now.level == level; worker.look(level + 1)) worker.run_task(level + 1);
        if (level + 1 == P.depth) break;
        arrive();
        worker.begin();
    }
}

template <class T>
__global__ void write_constants(T* v, Index stride)
{
    for (Index m = threadIdx.x; m < stride; m += blockDim.x)
        for (std::size_t slot = 0; slot < DataflowProgram::first_slot; ++slot)
            v[slot * stride + m] = slot == DataflowProgram::minus_one_slot ? -1 : 0;
}

template <bool a_given, class T, class A>
using Kernel = void (*)(BatchDataflowView, const double*, GivenFactors<A>, T*, double*);

template <bool a_given, class T, class A>
Kernel<a_given, T, A> kernel_for(Index lanes)
{
    if (lanes == 8) return run_dataflow_batch<a_given, 8, T, A>;
    return lanes == 16 ? run_dataflow_batch<a_given, 16, T, A> : run_dataflow_batch<a_given, 32, T, A>;
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
Index best_cluster(const Room& room, Index groups, const BatchDataflow& dataflow)
{
    Index  best = 1;
    double least = 0;
    for (std::size_t s = 0; s < room.size(); ++s) {
        if (room[s] == 0) continue;
        const double waves = (groups + room[s] - 1) / room[s];
        const double cost = waves * (dataflow.depth() + static_cast<double>(dataflow.task.size()) /
                                                            static_cast<double>(cluster_sizes[s] * block_warps));
        if (least > 0 && cost >= least) continue;
        best = cluster_sizes[s];
        least = cost;
    }
    return best;
}

template <bool a_given, class T, class A>
void launch(Gpu& gpu, const BatchDataflowView& view, Index lanes, Index cluster, GivenFactors<A> a,
            DataflowBatchSpace<T>& space)
{
    const auto                groups = static_cast<unsigned>((view.members + lanes - 1) / lanes);
    const cuda::ClusterLaunch how(groups, static_cast<unsigned>(cluster), 32 * block_warps, cuda::stream(gpu));
    const double* const       input = space.input.data();
    cuda::check(cudaLaunchKernelEx(&how.config, kernel_for<a_given, T, A>(lanes), view, input, a, space.v.data(),
                                   space.sum.data()),
                "run_dataflow_batch");
}

}  // namespace

GpuDataflowBatch::GpuDataflowBatch(Gpu& gpu, const DataflowProgram& program, Index members, std::size_t inputs,
                                   std::span<const std::int32_t> out_index, std::span<const double> out_scale,
                                   const BatchTuning& tuning)
    : slots_(program.slots()),
      inputs_(inputs),
      lanes_(tuning.lanes > 0         ? tuning.lanes
             : members < many_members ? 8
                                      : 32)
{
    require(members >= 1, [&] { return "a batch of " + std::to_string(members) + " members"; });
    require(members <= 65535 * 32, [&] { return "a batch of " + std::to_string(members) + " members is too large"; });
    require(lanes_ == 8 || lanes_ == 16 || lanes_ == 32,
            [&] { return "groups of " + std::to_string(lanes_) + " members: take 8, 16 or 32"; });
    const BatchDataflow dataflow = batch_dataflow(program, 32 / lanes_);
    places_ = dataflow.places;
    set_members(members);
    view_.depth = dataflow.depth();
    const Room room = room_for(program.a_given, lanes_);
    cluster_ = tuning.cluster > 0 ? tuning.cluster : best_cluster(room, (members + lanes_ - 1) / lanes_, dataflow);
    const auto size = std::ranges::find(cluster_sizes, cluster_);
    require(size != cluster_sizes.end() && room[size - cluster_sizes.begin()] > 0,
            [&] { return "clusters of " + std::to_string(cluster_) + " blocks: this GPU has no room for them"; });
    const Outputs out(out_index, out_scale);
    outputs_ = out.slot.size();
    arrays_.add(dataflow.task, view_.task);
    arrays_.add(dataflow.item, view_.item);
    arrays_.add(dataflow.product, view_.product);
    arrays_.add(dataflow.level, view_.level);
    arrays_.add(out.slot, out_slot_);
    arrays_.add(out.scale, out_scale_);
    arrays_.upload(gpu);
}

void GpuDataflowBatch::set_members(Index members)
{
    view_.members = members;
    view_.stride = (members + 31) / 32 * 32;
}

template <class T>
DataflowBatchSpace<T> GpuDataflowBatch::space(Gpu& gpu) const
{
    const auto            stream = cuda::stream(gpu);
    DataflowBatchSpace<T> made{DeviceBuffer<T>(slots_ * stride()), DeviceBuffer<double>(places_ * stride()),
                               DeviceBuffer<double>(inputs_ * stride())};
    write_constants<<<1, 256, 0, stream>>>(made.v.data(), stride());
    cuda::check_launch("write_constants");
    return made;
}

template <class T>
void GpuDataflowBatch::run(Gpu& gpu, const double* input, DataflowBatchSpace<T>& space) const
{
    if (view_.depth == 0) return;
    const cuda::Range range("dataflow_batch");
    gather_members(gpu, input, inputs_, view_.members, view_.stride, space.input.data());
    launch<false>(gpu, view_, lanes_, cluster_, GivenFactors<T>{}, space);
}

template <class A>
void GpuDataflowBatch::run(Gpu& gpu, const double* input, GivenFactors<A> a, DataflowBatchSpace<double>& space,
                           double* out) const
{
    if (view_.depth == 0) return;
    const cuda::Range range("dataflow_batch");
    gather_members(gpu, input, inputs_, view_.members, view_.stride, space.input.data());
    launch<true>(gpu, view_, lanes_, cluster_, a, space);
    scatter_members(gpu, space.v.data(), out_slot_, out_scale_, outputs_, view_.members, view_.stride, out);
}

template DataflowBatchSpace<double> GpuDataflowBatch::space(Gpu&) const;
template DataflowBatchSpace<float>  GpuDataflowBatch::space(Gpu&) const;
template void                       GpuDataflowBatch::run(Gpu&, const double*, DataflowBatchSpace<double>&) const;
template void                       GpuDataflowBatch::run(Gpu&, const double*, DataflowBatchSpace<float>&) const;
template void GpuDataflowBatch::run(Gpu&, const double*, GivenFactors<double>, DataflowBatchSpace<double>&,
                                    double*) const;
template void GpuDataflowBatch::run(Gpu&, const double*, GivenFactors<float>, DataflowBatchSpace<double>&,
                                    double*) const;

}  // namespace ilux
