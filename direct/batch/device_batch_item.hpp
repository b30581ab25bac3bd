#pragma once
// The items of a batch's tasks (batch_dataflow.hpp), as a lane sums them up and ends them. Only .cu files include this.

#include <cstdint>

#include "ilux/direct/batch/device_batch_stage.hpp"
#include "ilux/direct/batch/gpu_dataflow_batch.hpp"
#include "ilux/direct/dataflow/device_dataflow.hpp"

namespace ilux {

/// Where the numbers of one member are; in all of them its slot or place 0.
template <bool a_given, class T, class A>
struct Member {
    T*            v;
    double*       sums;
    const double* input;
    const A*      factors;
    std::uint32_t stride;
    std::uint32_t a_stride;

    __device__ double slot(DataflowProgram::Slot s) const
    {
        return static_cast<double>(v[static_cast<std::size_t>(s) * stride]);
    }
    __device__ double sum(DataflowProgram::Slot s) const { return sums[static_cast<std::size_t>(s) * stride]; }
    __device__ double a(DataflowProgram::Slot s) const
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
    double aside[6];  // of 32 leaves at most. In local memory: registers are for operands, and most sums have one leaf

    __device__ Tree(const BatchDataflow::Task& task, double start)
        : x(start), left(task.log2_leaves > 0 ? task.steps : 0), steps(task.steps), last((1u << task.log2_leaves) - 1)
    {}
    __device__ void count_product()
    {
        if (--left != 0) return;
        left = steps;
        int m = 0;
        for (; leaf >> m & 1; ++m) x = aside[m] + x;
        aside[m] = x;
        if (leaf++ != last) x = 0;
    }
};

/// Leaves are the sums of products, or sums that are there. Stage by stage, where it holds not all.
template <bool sums, int depth, int width, class M>
__device__ void add_leaves(Tree& tree, const BatchDataflow::Task& task, Stage<width>& stage, const M& member,
                           const BatchDataflowView& P)
{
    const std::uint32_t count = products_of(task), g = (threadIdx.x & 31) / (32 / width);
    for (std::uint32_t p = 0; p < count; p += depth) {
        const std::uint32_t row = p % stage.rows;
        if (p > 0 && row == 0) {
            __syncwarp();
            stage.load_pairs(P, task, p);
            stage.wait();
        }
        double left[depth], right[depth];
#pragma unroll
        for (int s = 0; s < depth; s += 2) {
            if (p + s >= count) continue;
            const uint4 pair = stage.pair[(row + s) / 2 * width + g];
            if constexpr (!sums) left[s] = member.a(pair.x);
            right[s] = sums ? member.sum(pair.y) : member.slot(pair.y);
            if (p + s + 1 >= count) continue;
            if constexpr (!sums) left[s + 1] = member.a(pair.z);
            right[s + 1] = sums ? member.sum(pair.w) : member.slot(pair.w);
        }
#pragma unroll
        for (int s = 0; s < depth; ++s) {
            if (p + s >= count) continue;
            if constexpr (sums) tree.x = right[s];
            else tree.x = __fma_rn(-left[s], right[s], tree.x);
            tree.count_product();
        }
    }
}

template <int width>
__device__ const uint4* item_of(const Stage<width>& stage)
{
    return stage.item + 4 * ((threadIdx.x & 31) / (32 / width));
}

/// The sum of a task's leaves.
template <bool sums, int depth, int width, class M>
__device__ double sum_leaves(const BatchDataflow::Task& task, Stage<width>& stage, const M& member,
                             const BatchDataflowView& P)
{
    const uint4* const item = item_of(stage);
    const double       scale = *reinterpret_cast<const double*>(item + 1);
    Tree               tree(task, member.scaled_input(static_cast<std::int32_t>(item->z), scale));
    add_leaves<sums, depth>(tree, task, stage, member, P);
    return tree.x;
}

/// What follows the leaves. Its loads come before those of leaves that are not there yet.
template <class T, int width, class M>
struct Ending {
    using Divide = BatchDataflow::Divide;
    const BatchDataflow::Task& task;
    const M&                   member;
    DataflowProgram::Slot      slot;
    LateProducts               late, divisor_late;
    double                     d = 1;

    __device__ Ending(const BatchDataflow::Task& task_, const Stage<width>& stage, const M& member_)
        : task(task_), member(member_)
    {
        const uint4* const item = item_of(stage);
        const uint4        first = item[0];
        slot = first.x;
        if (task.late) late.load(member, item[2]);
        if (task.divide == Divide::by_slot) d = member.a(first.y);
        if (task.divide != Divide::by_sum) return;
        d = member.sum(first.y);
        divisor_late.load(member, item[3]);
    }
    __device__ void finish(double x) const
    {
        if (task.makes_sums) {
            member.sums[static_cast<std::size_t>(slot) * member.stride] = x;
            return;
        }
        if (task.late) x = late.subtract_from(x);
        double by = d;
        if (task.divide == Divide::by_sum) by = static_cast<double>(static_cast<T>(divisor_late.subtract_from(d)));
        if (task.divide != Divide::none) x = divide(x, by);
        member.v[static_cast<std::size_t>(slot) * member.stride] = static_cast<T>(x);
    }
};

}  // namespace ilux
