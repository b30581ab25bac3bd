// Shapes of units, sorted, and the tasks that they fill.
//
// Launch shape: a warp a column for its shapes, elsewhere a thread a shape or a task. Tasks take shapes in their order
// as long as they have room, as TaskMaker (dataflow_layout.cpp) does one after another. Here each shape finds out where
// a task that begins with it ends; jumps of doubling length from the first shape of each kind then find all that begin
// one. Nobody waits for other blocks. Repeatable: bitwise.

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "ilux/direct/dataflow/factor_program_tasks.hpp"

namespace ilux {
namespace {

using namespace sum_rule;
using Task = DataflowProgram::Task;
using Slot = DataflowProgram::Slot;
using Key = std::uint64_t;

struct ShapeRoom {
    Shape* shape = nullptr;
    Key*   key = nullptr;
    int*   depth = nullptr;

    __device__ void put(const FactorProgramView& V, Offset at, Shape made) const
    {
        made.level = V.level[made.first];
        shape[at] = made;
        key[at] = static_cast<Key>(made.level) * lane_keys + lane_key(made);
        if (made.level >= *depth) atomicMax(depth, made.level + 1);
    }
};

/// Shape of an entry alone: what divides it is known already, or is summed up beside it.
__device__ Shape single_shape(const FactorProgramView& V, Offset t, const Shape& group)
{
    const std::uint32_t own = V.early[t];
    const std::int32_t  divisor = V.divisor[t];
    if (divisor < 0) return lone_shape(t, own, 0);
    const std::uint32_t leader = V.early[divisor];
    if (!has_twin(own, leader, group.log2_part)) return lone_shape(t, own, DataflowProgram::by_slot);
    return twin_shape(t, own, leader, group.log2_part);
}

__global__ void __launch_bounds__(plan_threads) shape_columns(FactorProgramView V, ShapeRoom to)
{
    const LuPatternView& P = V.pattern;
    const Index          k = static_cast<Index>(thread_of_grid() / 32);
    const int            lane = lane_of_warp();
    if (k >= P.n) return;
    const Shape  group = V.group[k];
    const Offset saved = V.saved[k], last = P.col_ptr[k + 1], leader = group.size > 0 ? P.diag[k] : last;
    for (Offset t = P.col_ptr[k] + lane; t < leader; t += 32) to.put(V, t - saved, single_shape(V, t, group));
    if (leader == last) return;
    if (lane == 0) to.put(V, leader - saved, group);
    for (Offset t = leader + group.size + lane; t < last; t += 32)
        to.put(V, t - saved - (group.size - 1), single_shape(V, t, group));
}

/// Makes the shapes of F, of further inputs, and of partial sums.
__global__ void __launch_bounds__(plan_threads) shape_others(FactorProgramView V, ShapeRoom to, Offset saved)
{
    const Offset unit = V.pattern.nnz + thread_of_grid();
    if (unit < V.units) to.put(V, unit - saved, lone_shape(unit, V.early[unit], 0));
}

/// Which shapes begin tasks.
struct TaskStarts {
    const Shape*   shape = nullptr;
    std::uint32_t* next = nullptr;    ///< shapes + 1; behind a task that would begin here
    std::uint32_t* jump = nullptr;    ///< shapes + 1
    Index*         begins = nullptr;  ///< shapes + 1; 1 where one does; then how many do before
    std::uint32_t  shapes = 0;
};

__global__ void __launch_bounds__(plan_threads) find_next(TaskStarts S)
{
    const auto i = static_cast<std::uint32_t>(thread_of_grid());
    if (i > S.shapes) return;
    if (i == S.shapes) {
        S.next[i] = i;
        S.begins[i] = 0;
        return;
    }
    const Shape         own = S.shape[i];
    const std::uint32_t end = least(S.shapes, i + (static_cast<std::uint32_t>(lanes) >> own.log2_lanes));
    int                 steps = own.steps, divisor_steps = own.divisor_steps;
    std::uint32_t       j = i + 1;
    for (; j < end; ++j) {
        const Shape other = S.shape[j];
        steps = most<int>(steps, other.steps);
        divisor_steps = most<int>(divisor_steps, other.divisor_steps);
        if (!own.same_task(other) || steps + divisor_steps > DataflowProgram::max_steps) break;
    }
    S.next[i] = j;
    S.begins[i] = i == 0 || !own.same_task(S.shape[i - 1]);
}

/// After k launches those that up to 2^k − 1 tasks separate from the first of their kind are found. A mark of this
/// launch that another thread sees already marks none that would not be marked later.
__global__ void __launch_bounds__(plan_threads) follow_jumps(TaskStarts S)
{
    const auto i = static_cast<std::uint32_t>(thread_of_grid());
    if (i > S.shapes) return;
    const std::uint32_t to = S.next[i];
    if (i < S.shapes && to < S.shapes && S.begins[i]) S.begins[to] = 1;
    S.jump[i] = S.next[to];
}

__global__ void __launch_bounds__(plan_threads) make_tasks(TaskStarts S, FactorTaskView to)
{
    const auto i = static_cast<std::uint32_t>(thread_of_grid());
    if (i > S.shapes) return;
    const Index t = S.begins[i];
    if (i == S.shapes) {
        to.first_shape[t] = i;
        to.row[t] = to.slot[t] = 0;
        return;
    }
    if (S.begins[i + 1] == t) return;  // begins no task
    const Shape   own = S.shape[i];
    Task          task;
    std::uint32_t slots = 0;
    for (std::uint32_t j = i; j < S.shapes && (j == i || S.begins[j + 1] == S.begins[j]); ++j) {
        const Shape shape = S.shape[j];
        task.steps = most(task.steps, shape.steps);
        task.divisor_steps = most(task.divisor_steps, shape.divisor_steps);
        slots += shape.slots();
    }
    task.log2_part = own.log2_part;
    task.log2_group = own.size > 1 ? own.log2_lanes : 0;
    task.divide = own.divide;
    task.entries = static_cast<std::uint8_t>(slots);
    to.task[t] = task;
    to.first_shape[t] = i;
    to.row[t] = task.steps + task.divisor_steps;
    to.slot[t] = slots;
}

__device__ Slot slot_of_task(const FactorTaskView& R, Index t)
{
    return DataflowProgram::first_slot + static_cast<Slot>(R.slot[t]);
}

/// Finds the last task of each level, and places of all units.
__global__ void __launch_bounds__(plan_threads) place_units(FactorTaskView R, const Shape* shapes)
{
    const auto t = static_cast<Index>(thread_of_grid());
    if (t >= R.tasks) return;
    const std::uint32_t first = R.first_shape[t], end = R.first_shape[t + 1];
    const std::int32_t  level = shapes[first].level;
    Slot                slot = slot_of_task(R, t);
    if (t + 1 == R.tasks || shapes[end].level != level) R.pilot[level] = static_cast<std::int32_t>(slot);
    for (std::uint32_t s = first; s < end; ++s) {
        const Shape shape = shapes[s];
        for (int j = 0; j < shape.size; ++j) R.place[shape.first + j] = slot + j;
        slot += shape.slots();
    }
}

__global__ void __launch_bounds__(plan_threads) write_tasks(FactorTaskView R, const Shape* shapes, Task* to)
{
    const auto t = static_cast<Index>(thread_of_grid());
    if (t >= R.tasks) return;
    Task               task = R.task[t];
    const std::int32_t level = shapes[R.first_shape[t]].level;
    task.first = static_cast<std::uint32_t>(R.row[t]);
    task.slot = slot_of_task(R, t);
    if (level >= pilot_distance) task.pilot = R.pilot[level - pilot_distance];
    to[t] = task;
}

/// @param work  of what is returned; of begins, how many tasks begin before a shape
TaskStarts find_starts(Gpu& gpu, const FactorShapes& shapes, DeviceArrays& work)
{
    const Offset count = Offset{shapes.count()} + 1;
    TaskStarts   starts{.shape = shapes.shape(), .shapes = shapes.count()};
    work.room(count, starts.next);
    work.room(count, starts.jump);
    work.room(count, starts.begins);
    work.upload(gpu);
    plan_launch(gpu, "find_next", find_next, count, starts);
    for (int log2 = 0; log2 < std::bit_width(shapes.count()); ++log2) {
        plan_launch(gpu, "follow_jumps", follow_jumps, count, starts);
        std::swap(starts.next, starts.jump);
    }
    add_up(gpu, starts.begins, count);
    return starts;
}

}  // namespace

FactorShapes::FactorShapes(Gpu& gpu, const FactorProgramView& V, Offset saved)
    : count_(static_cast<std::uint32_t>(V.units - saved))
{
    const cuda::Range range("FactorShapes");
    ShapeRoom         made;
    Key*              sorted_key = nullptr;
    DeviceArrays      keys;
    keys.room(count_, made.key);
    keys.room(count_, sorted_key);
    keys.room(count_, made.shape);
    keys.room(1, made.depth);
    keys.upload(gpu);
    arrays_.room(count_, shape_);
    arrays_.upload(gpu);
    plan_launch(gpu, "shape_columns", shape_columns, Offset{32} * V.pattern.n, V, made);
    plan_launch(gpu, "shape_others", shape_others, V.units - V.pattern.nnz, V, made, saved);
    depth_ = value_at(gpu, made.depth);
    const int bits = std::bit_width(static_cast<Key>(depth_) * lane_keys);
    with_cub_memory("cub::DeviceRadixSort", [&](void* memory, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, made.key, sorted_key, made.shape, shape_,
                                               std::int64_t{count_}, 0, bits, cuda::stream(gpu));
    });
}

FactorTasks::FactorTasks(Gpu& gpu, const FactorProgramView& V, Offset saved) : shapes_(gpu, V, saved)
{
    const cuda::Range range("FactorTasks");
    DeviceArrays      work;
    const TaskStarts  starts = find_starts(gpu, shapes_, work);
    view_.tasks = value_at(gpu, starts.begins + starts.shapes);
    const auto tasks = static_cast<std::size_t>(view_.tasks);
    arrays_.room(tasks, view_.task);
    arrays_.room(tasks + 1, view_.first_shape);
    arrays_.room(tasks + 1, view_.row);
    arrays_.room(tasks + 1, view_.slot);
    arrays_.room(shapes_.depth(), view_.pilot);
    arrays_.room(V.units, view_.place);
    arrays_.upload(gpu);
    cuda::check(cudaMemsetAsync(view_.pilot, unset_byte, shapes_.depth() * sizeof(std::int32_t), cuda::stream(gpu)),
                "cudaMemsetAsync");
    plan_launch(gpu, "make_tasks", make_tasks, Offset{starts.shapes} + 1, starts, view_);
    add_up(gpu, view_.row, Offset{view_.tasks} + 1);
    add_up(gpu, view_.slot, Offset{view_.tasks} + 1);
    rows_ = value_at(gpu, view_.row + tasks);
    slots_ = DataflowProgram::first_slot + value_at(gpu, view_.slot + tasks);
    require_positions(rows_, slots_);
    plan_launch(gpu, "place_units", place_units, view_.tasks, view_, shapes_.shape());
}

void FactorTasks::write(Gpu& gpu, Task* to) const
{
    const cuda::Range range("FactorTasks::write");
    plan_launch(gpu, "write_tasks", write_tasks, view_.tasks, view_, shapes_.shape(), to);
}

}  // namespace ilux
