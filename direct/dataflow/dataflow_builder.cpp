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
constexpr int pilot_distance = 4;  // levels; of 2, 3, 4, 5, 7, 10 the fastest on an H200

/// Where a unit is computed.
struct TaskPlace {
    std::uint32_t task = 0;
    Slot          slot = DataflowProgram::zero_slot;
    std::uint8_t  lane = 0;
};

/// Fills tasks with shapes, in their order.
class TaskMaker {
public:
    TaskMaker(std::vector<Task>& task, std::vector<TaskPlace>& place) : task_(task), place_(place) {}

    void add(const Shape& shape)
    {
        if (!has_room(shape)) start_task(shape);
        Task& task = task_.back();
        task.steps = std::max(task.steps, shape.steps);
        task.divisor_steps = std::max(task.divisor_steps, shape.divisor_steps);
        for (int j = 0; j < shape.size; ++j)
            place_[shape.first + j] = {static_cast<std::uint32_t>(task_.size() - 1), slot_ + j,
                                       static_cast<std::uint8_t>(lane_ + (j << shape.log2_part))};
        // members of a group that has fewer than a power of two leave lanes idle, and slots with them
        slot_ += 1u << (shape.log2_lanes - shape.log2_part);
        lane_ += 1 << shape.log2_lanes;
        task.entries = static_cast<std::uint8_t>(slot_ - task.slot);
    }

    Slot   slots() const { return slot_; }
    Offset rows() const { return task_.empty() ? 0 : rows_ + task_.back().steps + task_.back().divisor_steps; }

private:
    bool has_room(const Shape& shape) const
    {
        if (shape.key() != key_ || lane_ + (1 << shape.log2_lanes) > 32) return false;
        const Task& task = task_.back();
        return std::max(task.steps, shape.steps) + std::max(task.divisor_steps, shape.divisor_steps) <=
               DataflowProgram::max_steps;
    }

    void start_task(const Shape& shape)
    {
        rows_ = rows();
        key_ = shape.key();
        lane_ = 0;
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
    }

    std::vector<Task>&        task_;
    std::vector<TaskPlace>&   place_;
    std::vector<std::int32_t> pilot_;  // by level: a slot of it
    std::uint64_t             key_ = ~std::uint64_t{0};
    int                       lane_ = 32;  // of the last task, the next free one
    Slot                      slot_ = DataflowProgram::first_slot;
    Offset                    rows_ = 0;  // of operands, but for the last task's
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
    DataflowBuilder(const DataflowEntries& entries, DataflowUnits units) : e_(entries), units_(std::move(units)) {}

    DataflowProgram build(const DataflowWalk& walk)
    {
        make_tasks();
        fill_slots();
        fill_products(walk);
        fill_sums();
        sort_operands();
        copy_divisors();
        return std::move(program_);
    }

private:
    void make_tasks()
    {
        place_.assign(units_.count(), {});
        TaskMaker tasks(program_.task, place_);
        for (const Shape& shape : units_.shapes) tasks.add(shape);
        require(tasks.rows() < Offset{1} << 32 && tasks.slots() < Slot{1} << 31,
                [] { return "too many entries or products for positions of 32 bits; take another method"; });
        program_.depth = units_.shapes.empty() ? 0 : units_.shapes.back().level + 1;
        program_.products = units_.products;
        program_.a_given = e_.a_given();
        program_.operand.assign(32 * tasks.rows(), {});
        program_.late.assign(tasks.slots(), {});
        program_.source.assign(tasks.slots(), -1);
        program_.scale.assign(tasks.slots(), 1);
        program_.divisor.assign(tasks.slots(), DataflowProgram::zero_slot);
    }

    void fill_slots()
    {
        DataflowProgram& p = program_;
        p.slot_of.resize(e_.count);
        for (Offset t = 0; t < e_.count; ++t) p.slot_of[t] = place_[t].slot;
        const std::span<const Slot> divisors = e_.a_given() ? e_.given : p.slot_of;
        for (Offset t = 0; t < e_.count; ++t) {
            const Slot slot = p.slot_of[t];
            if (e_.source[t] >= 0) p.source[slot] = static_cast<std::int32_t>(e_.source[t]);
            p.scale[slot] = e_.scale[t];
            if (e_.divisor[t] >= 0) p.divisor[slot] = divisors[e_.divisor[t]];
        }
    }

    /// @param steps  of the task, those up to the last one of these operands
    EarlyOperands early(const TaskPlace& place, int steps, Offset count)
    {
        const Task& task = program_.task[place.task];
        return {program_.operand.data() + 32 * std::size_t{task.first} + place.lane, task.log2_part,
                (Offset{steps} << task.log2_part) - count};
    }
    EarlyOperands early(Offset unit)
    {
        return early(place_[unit], program_.task[place_[unit].task].steps, units_.operands[unit]);
    }

    void put(Offset unit, Offset number, Operand operand)
    {
        const auto& late = units_.latest[unit];
        if (late.has(number)) program_.late[place_[unit].slot][number == late.number[1] ? 1 : 0] = operand;
        else early(unit)[number - late.before(number)] = operand;
    }

    void put_sum(Offset unit, Offset number, Offset partial)  // v ← fma(−(−1), p, v)
    {
        put(unit, number, {DataflowProgram::minus_one_slot, place_[partial].slot});
    }

    void fill_products(const DataflowWalk& walk)
    {
        const std::span<const Slot> given = e_.a_given() ? e_.given : program_.slot_of;
        std::vector<std::uint32_t>  seen(e_.count, 0);
        DataflowVisitor             visitor([&](std::span<const DotProduct> products) {
            for (const auto [t, a, b] : products) {
                const auto at = units_.position(t, seen[t]++);
                put(at.unit, at.number, {a < 0 ? DataflowProgram::minus_one_slot : given[a], program_.slot_of[b]});
            }
        });
        walk(visitor);
        visitor.flush();
    }

    void fill_sums()
    {
        for (Offset t = 0; t < e_.count; ++t) {
            if (units_.split_of[t] < 0) continue;
            const auto& split = units_.splits[units_.split_of[t]];
            for (Offset p = 0; p < split.parts; ++p)
                if (split.sums > 0) put_sum(split.sum_of(p), p % DataflowUnits::chunk, split.first + p);
                else put_sum(t, p, split.first + p);
            for (Offset j = 0; j < split.sums; ++j) put_sum(t, j, split.first + split.parts + j);
        }
    }

    /// By the level at which they are known: who polls them in that order waits for the last ones only.
    void sort_operands()
    {
        std::vector<std::int32_t> level(program_.slots(), -1);
        for (Offset unit = 0; unit < units_.count(); ++unit) level[place_[unit].slot] = units_.level[unit];
        const auto known = [&](const Operand& o) {
            return e_.a_given() ? level[o.b] : std::max(level[o.a], level[o.b]);
        };
        std::vector<Operand> sorted;
        for (Offset unit = 0; unit < units_.count(); ++unit) {
            const auto operands = early(unit);
            const auto count = static_cast<Offset>(units_.operands[unit]);
            sorted.clear();
            for (Offset k = 0; k < count; ++k) sorted.push_back(operands[k]);
            std::ranges::stable_sort(sorted, {}, known);
            for (Offset k = 0; k < count; ++k) operands[k] = sorted[k];
            auto& late = program_.late[place_[unit].slot];
            if (known(late[0]) > known(late[1])) std::swap(late[0], late[1]);
        }
    }

    /// The operands of an entry's divisor behind its own, where it is computed once more.
    void copy_divisors()
    {
        for (Offset t = 0; t < e_.count; ++t) {
            const Task& task = program_.task[place_[t].task];
            if (task.divide != DataflowProgram::by_twin) continue;
            const auto count = static_cast<Offset>(units_.operands[e_.divisor[t]]);
            const auto from = early(e_.divisor[t]), to = early(place_[t], task.steps + task.divisor_steps, count);
            for (Offset k = 0; k < count; ++k) to[k] = from[k];
        }
    }

    const DataflowEntries& e_;
    DataflowUnits          units_;
    DataflowProgram        program_;
    std::vector<TaskPlace> place_;  // by unit
};

}  // namespace

DataflowProgram build_dataflow(const DataflowEntries& entries, const DataflowWalk& walk)
{
    return DataflowBuilder(entries, find_units(entries, walk)).build(walk);
}

}  // namespace ilux
