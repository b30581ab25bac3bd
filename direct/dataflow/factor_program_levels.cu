// The level of each unit: 1 above the highest of what it reads.
//
// Launch shape: a warp an entry. Blocks claim eight entries at a time by a ticket, column after column, in an order in
// which each column comes behind those that it reads. Warps poll levels, which are their own flags, of entries that
// were claimed earlier. So the first entry that is not known can always go on, and the launch ends. Repeatable:
// bitwise.

#include <cstdint>

#include "ilux/direct/dataflow/factor_program_steps.hpp"

namespace ilux {
namespace {

using namespace sum_rule;
using Product = DataflowUnits::Product;

constexpr int each = static_cast<int>(chunk) / lanes;  // operands of a lane

__device__ void publish_level(std::int32_t* level, std::int32_t value)
{
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(level), "r"(value));
}

/// value ← *level while it is not known: a predicated load, so that several are in flight at once.
__device__ void poll_level(const std::int32_t* level, std::int32_t& value)
{
    asm volatile(
        "{\n\t.reg .pred waits;\n\tsetp.lt.s32 waits, %0, 0;\n\t@waits ld.relaxed.gpu.global.s32 %0, [%1];\n\t}"
        : "+r"(value)
        : "l"(level)
        : "memory");
}

/// The level at which at most `chunk` products from a position on are all known; 0 for none. The whole warp waits.
__device__ std::int32_t wait_for_products(const FactorProgramView& V, Offset first, Offset count)
{
    if (count == 0) return 0;
    const int    lane = lane_of_warp();
    Product      product[each];
    std::int32_t a[each], b[each];
#pragma unroll
    for (int s = 0; s < each; ++s) {
        const bool there = lane + 32 * s < count;
        product[s] = there ? V.product[first + lane + 32 * s] : Product{DataflowUnits::minus_one, 0};
        a[s] = product[s].a == DataflowUnits::minus_one ? 0 : -1;
        b[s] = there ? -1 : 0;
    }
    for (bool waiting = true; __any_sync(whole_warp, waiting);) {
#pragma unroll
        for (int s = 0; s < each; ++s) {
            poll_level(V.level + product[s].a, a[s]);
            poll_level(V.level + product[s].b, b[s]);
        }
        waiting = false;
#pragma unroll
        for (int s = 0; s < each; ++s) waiting |= a[s] < 0 || b[s] < 0;
    }
    std::int32_t highest = 0;
#pragma unroll
    for (int s = 0; s < each; ++s)
        if (lane + 32 * s < count) highest = most(highest, most(a[s], b[s]) + 1);
    return most_over_warp(highest);
}

/// The level of an entry as far as its own products decide it; levels of its partial sums are published on the way. A
/// whole warp works on it.
__device__ std::int32_t level_of_entry(const FactorProgramView& V, Offset entry)
{
    const EntryList list(V, entry);
    const bool      leads = lane_of_warp() == 0;
    const Offset    sum = V.first_sum(entry);
    std::int32_t    highest = 0, of_sum = 0;
    for (Offset p = 0; p < list.cut.parts; ++p) {
        const std::int32_t of_part = wait_for_products(V, list.begin + p * chunk, list.of_part(p));
        if (leads) publish_level(V.level + sum + p, of_part);
        if (list.cut.sums == 0) {
            highest = most(highest, of_part + 1);
            continue;
        }
        of_sum = most(p % chunk == 0 ? 0 : of_sum, of_part + 1);
        if ((p + 1) % chunk != 0 && p + 1 < list.cut.parts) continue;
        if (leads) publish_level(V.level + sum + list.cut.parts + p / chunk, of_sum);
        highest = most(highest, of_sum + 1);
    }
    // these become known last
    return most(highest, wait_for_products(V, list.own + list.cut.added(), list.products));
}

/// The lengths of columns in their order, for the sums over them.
__global__ void __launch_bounds__(plan_threads) measure_columns(FactorProgramView V)
{
    const auto j = static_cast<Index>(thread_of_grid());
    if (j < V.pattern.n) V.start[j] = V.pattern.col_ptr[V.order[j] + 1] - V.pattern.col_ptr[V.order[j]];
}

/// The entry at each place of the order.
__global__ void __launch_bounds__(plan_threads) order_entries(FactorProgramView V)
{
    const Offset at = thread_of_grid();
    if (at >= V.pattern.nnz) return;
    const Index j = last_not_above(V.start, V.pattern.n, at), k = V.order[j];
    V.ordered[at] = {static_cast<DataflowEntry>(V.pattern.col_ptr[k] + at - V.start[j]), k};
}

/// Level of a group, whose members are claimed no later than the warp that asks.
__device__ std::int32_t wait_for_group(const FactorProgramView& V, const Shape& group)
{
    const int    lane = lane_of_warp();
    std::int32_t of_member = lane < group.size ? -1 : 0;
    while (__any_sync(whole_warp, of_member < 0)) poll_level(V.alone + group.first + lane, of_member);
    return most_over_warp(of_member);
}

/// A member of a group. All share a level: the last one finds it.
__device__ void join_group(const FactorProgramView& V, Offset entry, const Shape& group, std::int32_t level)
{
    const int lane = lane_of_warp();
    if (lane == 0) publish_level(V.alone + entry, level);
    if (entry != Offset{group.first} + group.size - 1) return;
    level = wait_for_group(V, group);
    if (lane < group.size) publish_level(V.level + group.first + lane, level);
}

/// An entry that computes its divisor once more is known no earlier than the divisor; another one waits for the
/// divisor.
__device__ void follow_group(const FactorProgramView& V, Offset entry, const Shape& group, std::int32_t level)
{
    const auto         own = early_operands(V.count[entry]), leader = early_operands(V.count[group.first]);
    const std::int32_t of_group = wait_for_group(V, group);
    const bool         twin = has_twin(own, leader, group.log2_part);
    if (lane_of_warp() == 0) publish_level(V.level + entry, most(level, of_group + (twin ? 0 : 1)));
}

__global__ void __launch_bounds__(plan_threads, 6) find_levels(FactorProgramView V)
{
    __shared__ int claimed;
    if (threadIdx.x == 0) claimed = atomicAdd(V.ticket, 1) + 1;
    __syncthreads();
    const Offset at = Offset{claimed} * plan_warps + threadIdx.x / 32;
    if (at >= V.pattern.nnz) return;
    const auto [t, k] = V.ordered[at];
    const Shape        group = V.group[k];
    const std::int32_t level = level_of_entry(V, t);
    if (group.size == 0 || t < group.first) {
        if (lane_of_warp() == 0) publish_level(V.level + t, level);
    } else if (t < group.first + group.size) {
        join_group(V, t, group, level);
    } else {
        follow_group(V, t, group, level);
    }
}

/// Finds the levels of entries of F, which read nothing but inputs.
__global__ void __launch_bounds__(plan_threads) find_levels_of_F(FactorProgramView V)
{
    const Offset t = V.pattern.nnz + thread_of_grid() / 32;
    if (t >= V.own) return;
    const std::int32_t level = level_of_entry(V, t);
    if (lane_of_warp() == 0) publish_level(V.level + t, level);
}

/// Sets the level of inputs.
__global__ void __launch_bounds__(plan_threads) set_level_zero(FactorProgramView V)
{
    const Offset t = V.own + thread_of_grid();
    if (t < V.entries) V.level[t] = 0;
}

}  // namespace

void find_factor_levels(Gpu& gpu, const FactorProgramView& V)
{
    const cuda::Range range("find_factor_levels");
    plan_launch(gpu, "set_level_zero", set_level_zero, V.entries - V.own, V);
    plan_launch(gpu, "find_levels_of_F", find_levels_of_F, 32 * (V.own - V.pattern.nnz), V);
    plan_launch(gpu, "measure_columns", measure_columns, V.pattern.n, V);
    add_up(gpu, V.start, Offset{V.pattern.n} + 1);
    plan_launch(gpu, "order_entries", order_entries, V.pattern.nnz, V);
    plan_launch(gpu, "find_levels", find_levels, 32 * V.pattern.nnz, V);
}

}  // namespace ilux
