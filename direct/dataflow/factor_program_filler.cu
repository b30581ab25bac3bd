// What lanes subtract, and where slots start from.
//
// Launch shape: 8 warps a block, a warp a task; a lane looks up the operands of its unit, a row of the task after
// another. Warps neither wait for one another nor share memory, so the launch ends. It takes 0.1 ms of 10³ products,
// 0.45 ms of 1.6·10⁷ on an H100. Repeatable: bitwise.

#include "ilux/direct/dataflow/factor_program_steps.hpp"
#include "ilux/direct/dataflow/gpu_factor_program.hpp"

namespace ilux {
namespace {

using Slot = DataflowProgram::Slot;
using Task = DataflowProgram::Task;
using Operand = DataflowProgram::Operand;
using Shape = DataflowUnits::Shape;
using Product = DataflowUnits::Product;

/// What the kernel reads.
struct LayoutView {
    FactorProgramView plan;
    FactorTaskView    tasks;
    const Shape*      shape = nullptr;

    __device__ Operand slots(Offset position) const
    {
        const Product p = plan.product[position];
        const bool    adds = p.a == DataflowUnits::minus_one;
        return {adds ? DataflowProgram::minus_one_slot : tasks.place[p.a], tasks.place[p.b]};
    }
};

/// The unit of a lane, if there is one: a group leaves lanes idle, and so does a task that is not full.
struct UnitOfLane {
    DataflowEntry unit = 0;
    bool          there = false;
};

__device__ UnitOfLane unit_of_lane(const LayoutView& L, Index t, const Task& task, int lane)
{
    const int           log2_lanes = task.log2_group > 0 ? task.log2_group : task.log2_part;
    const std::uint32_t s = L.tasks.first_shape[t] + (lane >> log2_lanes);
    if (s >= L.tasks.first_shape[t + 1]) return {};
    const Shape shape = L.shape[s];
    const int   member = (lane & ((1 << log2_lanes) - 1)) >> task.log2_part;
    return {shape.first + member, member < shape.size};
}

/// Operand `row` of a lane, which is the own-th of those that sum up a unit. The last early product is in the last lane
/// of row end − 1.
__device__ Operand early_operand(const LayoutView& L, DataflowEntry unit, int row, int end, int log2_part, int own)
{
    const Offset count = L.plan.early[unit];
    const Offset k = (Offset{row} << log2_part) + own - ((Offset{end} << log2_part) - count);
    return k < 0 ? Operand{} : L.slots(L.plan.first[unit] + k);
}

__device__ void fill_input(const FactorProgramView& V, const DataflowRoom& to, Slot slot, Offset unit)
{
    if (unit < V.own) {
        to.source[slot] = V.pattern.source[unit];
        to.scale[slot] = V.pattern.scale[unit];
    } else if (unit < V.entries) {
        to.source[slot] = V.extra_source[unit - V.own];
        to.scale[slot] = V.extra_scale[unit - V.own];
    }
}

/// What a slot holds, but for its early operands. A slot without a unit is zero.
__device__ void fill_slot(const LayoutView& L, const DataflowRoom& to, Slot slot, const UnitOfLane& of)
{
    Operand* const late = reinterpret_cast<Operand*>(to.late + slot);
    late[0] = late[1] = Operand{};
    to.source[slot] = -1;
    to.scale[slot] = 1;
    to.divisor[slot] = DataflowProgram::zero_slot;
    if (!of.there) return;
    const int    count = L.plan.late[of.unit];
    const Offset begin = L.plan.first[of.unit] + L.plan.early[of.unit];
    for (int k = 0; k < count; ++k) late[2 - count + k] = L.slots(begin + k);
    fill_input(L.plan, to, slot, of.unit);
    if (of.unit < L.plan.own && L.plan.divisor[of.unit] >= 0) to.divisor[slot] = L.tasks.place[L.plan.divisor[of.unit]];
}

__global__ void __launch_bounds__(32 * plan_warps) fill(LayoutView L, DataflowRoom to)
{
    const Index t = static_cast<Index>(blockIdx.x) * plan_warps + static_cast<Index>(threadIdx.x) / 32;
    const int   lane = threadIdx.x & 31;
    if (t == 0) fill_slot(L, to, static_cast<Slot>(lane), {});  // constants
    if (t >= L.tasks.tasks) return;
    const Task       task = to.task[t];
    const int        part = 1 << task.log2_part, own = lane & (part - 1), slot = lane >> task.log2_part;
    const int        rows = task.steps + task.divisor_steps;
    const UnitOfLane of = unit_of_lane(L, t, task, lane);
    Operand* const   operand = to.operand + 32 * std::size_t{task.first} + lane;
    for (int row = 0; row < rows; ++row) {
        const bool twin = row >= task.steps;
        Operand    found{};
        if (of.there)
            found = early_operand(L, twin ? static_cast<DataflowEntry>(L.plan.divisor[of.unit]) : of.unit, row,
                                  twin ? rows : task.steps, task.log2_part, own);
        operand[32 * row] = found;
    }
    if (own == 0 && slot < task.entries) fill_slot(L, to, task.slot + slot, of);
}

}  // namespace

void fill_factor_tasks(Gpu& gpu, const FactorProgramView& plan, const FactorTasks& tasks, const DataflowRoom& room)
{
    static_assert(DataflowProgram::first_slot == 32, "a warp clears the slots of constants");
    const cuda::Range range("fill_factor_tasks");
    tasks.write(gpu, room.task);
    const int blocks = tasks.view().tasks / plan_warps + 1;
    fill<<<blocks, 32 * plan_warps, 0, cuda::stream(gpu)>>>({plan, tasks.view(), tasks.shapes().shape()}, room);
    cuda::check_launch("fill");
}

}  // namespace ilux
