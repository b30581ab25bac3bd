#include "ilux/direct/dataflow/dataflow_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/direct/dataflow/dataflow_units.hpp"

namespace ilux {
namespace {

using Slot = DataflowProgram::Slot;
using Task = DataflowProgram::Task;
using Operand = DataflowProgram::Operand;
using Shape = DataflowUnits::Shape;
constexpr int         pilot_distance = 4;  // levels; of 2, 3, 4, 5, 7, 10 the fastest on an H200
constexpr std::size_t many_tasks = 512;    // tasks
constexpr int         tasks_at_once = 64;  // that a thread takes

/// Fills tasks with shapes, in their order.
class TaskMaker {
public:
    /// @param first_shape  of each task, and the end
    TaskMaker(UnsetVector<Task>& task, UnsetVector<std::uint32_t>& first_shape) : task_(task), first_shape_(first_shape)
    {}

    void add(const Shape& shape)
    {
        if (!has_room(shape)) start_task(shape);
        steps_ = std::max(steps_, shape.steps);
        divisor_steps_ = std::max(divisor_steps_, shape.divisor_steps);
        slot_ += stride_;
        lane_ += 1 << shape.log2_lanes;
        ++shapes_;
    }

    void finish()
    {
        end_task();
        first_shape_.push_back(shapes_);
    }

    Slot   slots() const { return slot_; }
    Offset rows() const { return rows_; }

private:
    bool has_room(const Shape& shape) const
    {
        if (shapes_ == 0 || !shape.same_task(key_) || lane_ + (1 << shape.log2_lanes) > 32) return false;
        return std::max(steps_, shape.steps) + std::max(divisor_steps_, shape.divisor_steps) <=
               DataflowProgram::max_steps;
    }

    void end_task()
    {
        if (task_.empty()) return;
        Task& task = task_.back();
        task.steps = steps_;
        task.divisor_steps = divisor_steps_;
        task.entries = static_cast<std::uint8_t>(slot_ - task.slot);
        rows_ += steps_ + divisor_steps_;
    }

    void start_task(const Shape& shape)
    {
        end_task();
        key_ = shape;
        lane_ = 0;
        steps_ = divisor_steps_ = 0;
        stride_ = members(shape);
        Task task;
        task.first = static_cast<std::uint32_t>(rows_);
        task.slot = slot_;
        task.log2_part = shape.log2_part;
        task.log2_group = shape.size > 1 ? shape.log2_lanes : 0;
        task.divide = shape.divide;
        if (shape.level >= pilot_distance) task.pilot = pilot_[shape.level - pilot_distance];
        pilot_.resize(shape.level + 1, -1);
        pilot_.back() = static_cast<std::int32_t>(slot_);
        task_.push_back(task);
        first_shape_.push_back(shapes_);
    }

public:
    /// Slots of a shape: members of a group that has fewer than a power of two leave lanes idle, and slots with them.
    static Slot members(const Shape& shape) { return 1u << (shape.log2_lanes - shape.log2_part); }

private:
    UnsetVector<Task>&          task_;
    UnsetVector<std::uint32_t>& first_shape_;
    std::vector<std::int32_t>   pilot_;  // by level: a slot of it
    Shape                       key_ = {};
    int                         lane_ = 0;  // of the last task, the next free one
    std::uint8_t                steps_ = 0, divisor_steps_ = 0;
    std::uint32_t               shapes_ = 0;
    Slot                        slot_ = DataflowProgram::first_slot, stride_ = 0;
    Offset                      rows_ = 0;  // of operands, but for the last task's
};

/// Early operands of a unit, or of its divisor's twin, in the order of subtraction along its lanes.
struct EarlyOperands {
    Operand* first;
    int      log2_part;
    Offset   missing;  // so many come first, so that the last of the others is in the last lane of the last step

    Operand& operator[](Offset k) const
    {
        const Offset at = missing + k;
        return first[32 * (at >> log2_part) + (at & ((1 << log2_part) - 1))];
    }
};

class DataflowBuilder {
public:
    DataflowBuilder(Cpu& be, const DataflowEntries& entries, DataflowUnits units)
        : be_(be), e_(entries), units_(std::move(units))
    {}

    DataflowProgram build()
    {
        make_tasks();
        const int  team = be_.team(program_.task.size() >= many_tasks);
        const auto tasks = static_cast<std::ptrdiff_t>(program_.task.size());
        const auto products = static_cast<std::ptrdiff_t>(units_.product.size());
        for (Slot slot = 0; slot < DataflowProgram::first_slot; ++slot) clear_slot(slot);
#pragma omp parallel num_threads(team)
        {
#pragma omp for schedule(static)
            for (std::ptrdiff_t t = 0; t < tasks; ++t) place_units(static_cast<std::size_t>(t));
#pragma omp for schedule(static)
            for (std::ptrdiff_t k = 0; k < products; ++k) to_slots(units_.product[k]);
#pragma omp for schedule(dynamic, tasks_at_once)
            for (std::ptrdiff_t t = 0; t < tasks; ++t) fill_task(static_cast<std::size_t>(t));
        }
        place_.resize(e_.count);
        program_.slot_of = std::move(place_);
        return std::move(program_);
    }

private:
    void make_tasks()
    {
        TaskMaker tasks(program_.task, first_shape_);
        for (const Shape& shape : units_.shapes) tasks.add(shape);
        tasks.finish();
        require(tasks.rows() < Offset{1} << 32 && tasks.slots() < Slot{1} << 31,
                [] { return "too many entries or products for positions of 32 bits; take another method"; });
        program_.depth = units_.depth;
        program_.products = units_.products;
        program_.a_given = e_.a_given();
        program_.operand.resize(32 * tasks.rows());
        program_.late.resize(tasks.slots());
        program_.source.resize(tasks.slots());
        program_.scale.resize(tasks.slots());
        program_.divisor.resize(tasks.slots());
        place_.resize(units_.count());
    }

    /// visit(shape, its first member's slot, its first lane) for each of a task.
    template <class Visit>
    void for_each_shape(std::size_t t, Visit visit) const
    {
        Slot slot = program_.task[t].slot;
        int  lane = 0;
        for (std::uint32_t s = first_shape_[t]; s < first_shape_[t + 1]; ++s) {
            const Shape& shape = units_.shapes[s];
            visit(shape, slot, lane);
            slot += TaskMaker::members(shape);
            lane += 1 << shape.log2_lanes;
        }
    }

    void place_units(std::size_t t)
    {
        for_each_shape(t, [&](const Shape& shape, Slot slot, int) {
            for (int j = 0; j < shape.size; ++j) place_[shape.first + j] = slot + j;
        });
    }

    void fill_task(std::size_t t)
    {
        const Task&       task = program_.task[t];
        const std::size_t first = 32 * std::size_t{task.first};
        const bool        no_steps = task.steps + task.divisor_steps == 0;  // perhaps there are no operands at all
        std::fill_n(program_.operand.begin() + first, 32 * (task.steps + task.divisor_steps), Operand{});
        for (Slot slot = task.slot; slot < task.slot + task.entries; ++slot) clear_slot(slot);
        for_each_shape(t, [&](const Shape& shape, Slot slot, int lane) {
            for (int j = 0; j < shape.size; ++j, lane += 1 << shape.log2_part)
                fill_unit(task, no_steps ? nullptr : program_.operand.data() + first + lane, shape.first + j, slot + j);
        });
    }

    void clear_slot(Slot slot)
    {
        program_.late[slot] = {};
        program_.source[slot] = -1;
        program_.scale[slot] = 1;
        program_.divisor[slot] = DataflowProgram::zero_slot;
    }

    void fill_unit(const Task& task, Operand* lanes, DataflowEntry unit, Slot slot)
    {
        put_early(unit, lanes, task.log2_part, task.steps);
        const auto*       last = units_.product.data() + units_.first[unit] + units_.early[unit];
        const std::size_t late = units_.late[unit];
        for (std::size_t k = 0; k < late; ++k) program_.late[slot][2 - late + k] = {last[k].a, last[k].b};
        if (unit >= e_.count) return;
        if (e_.source[unit] >= 0) program_.source[slot] = e_.source[unit];
        program_.scale[slot] = e_.scale[unit];
        const std::int32_t divisor = e_.divisor[unit];
        if (divisor < 0) return;
        program_.divisor[slot] = e_.a_given() ? e_.given[divisor] : place_[divisor];
        if (task.divide == DataflowProgram::by_twin)
            put_early(static_cast<DataflowEntry>(divisor), lanes, task.log2_part, task.steps + task.divisor_steps);
    }

    /// @param steps  of the task, those up to the last one of these operands
    void put_early(DataflowEntry unit, Operand* lanes, int log2_part, int steps)
    {
        const Offset        count = units_.early[unit];
        const EarlyOperands early{lanes, log2_part, (Offset{steps} << log2_part) - count};
        const auto* const   product = units_.product.data() + units_.first[unit];
        for (Offset k = 0; k < count; ++k) early[k] = {product[k].a, product[k].b};
    }

    /// Entries become their slots: once here, for tasks read the lists out of order, and those of divisors many times.
    void to_slots(DataflowUnits::Product& product) const
    {
        if (product.a == DataflowUnits::minus_one) product.a = DataflowProgram::minus_one_slot;  // v ← fma(−(−1), p, v)
        else product.a = e_.a_given() ? e_.given[product.a] : place_[product.a];
        product.b = place_[product.b];
    }

    Cpu&                       be_;
    const DataflowEntries&     e_;
    DataflowUnits              units_;
    DataflowProgram            program_;
    UnsetVector<std::uint32_t> first_shape_;  // of each task, and the end
    UnsetVector<Slot>          place_;        // by unit
};

}  // namespace

template <class Walk>
DataflowProgram build_dataflow(Cpu& be, const DataflowEntries& entries, const Walk& walk, std::span<const Index> order)
{
    return DataflowBuilder(be, entries, find_units(be, entries, walk, order)).build();
}
template DataflowProgram build_dataflow(Cpu&, const DataflowEntries&, const FactorWalk&, std::span<const Index>);
template DataflowProgram build_dataflow(Cpu&, const DataflowEntries&, const SolveWalk&, std::span<const Index>);

}  // namespace ilux
