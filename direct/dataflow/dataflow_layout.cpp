#include "ilux/direct/dataflow/dataflow_layout.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ilux/direct/dataflow/sum_rules.hpp"

namespace ilux {
namespace {

using Slot = DataflowProgram::Slot;
using Task = DataflowProgram::Task;
using Shape = DataflowUnits::Shape;
using sum_rule::pilot_distance;

/// Fills tasks with shapes, in their order.
class TaskMaker {
public:
    explicit TaskMaker(DataflowLayout& layout) : layout_(layout)
    {
        layout.task.reserve(layout.units.shapes.size());  // what is not used is no memory yet
        layout.first_shape.reserve(layout.units.shapes.size() + 1);
    }

    void add(const Shape& shape)
    {
        if (!has_room(shape)) start_task(shape);
        steps_ = std::max(steps_, shape.steps);
        divisor_steps_ = std::max(divisor_steps_, shape.divisor_steps);
        slot_ += shape.slots();
        lane_ += 1 << shape.log2_lanes;
        ++shapes_;
    }

    void finish()
    {
        end_task();
        layout_.first_shape.push_back(shapes_);
        layout_.rows = rows_;
        layout_.slots = slot_;
    }

private:
    bool has_room(const Shape& shape) const
    {
        if (shapes_ == 0 || !shape.same_task(key_) || lane_ + (1 << shape.log2_lanes) > 32) return false;
        return std::max(steps_, shape.steps) + std::max(divisor_steps_, shape.divisor_steps) <=
               DataflowProgram::max_steps;
    }

    void end_task()
    {
        if (layout_.task.empty()) return;
        Task& task = layout_.task.back();
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
        Task task;
        task.first = static_cast<std::uint32_t>(rows_);
        task.slot = slot_;
        task.log2_part = shape.log2_part;
        task.log2_group = shape.size > 1 ? shape.log2_lanes : 0;
        task.divide = shape.divide;
        if (shape.level >= pilot_distance) task.pilot = pilot_[shape.level - pilot_distance];
        pilot_.resize(shape.level + 1, -1);
        pilot_.back() = static_cast<std::int32_t>(slot_);
        layout_.task.push_back(task);
        layout_.first_shape.push_back(shapes_);
    }

    DataflowLayout&           layout_;
    std::vector<std::int32_t> pilot_;  // by level: a slot of it
    Shape                     key_ = {};
    int                       lane_ = 0;  // of the last task, the next free one
    std::uint8_t              steps_ = 0, divisor_steps_ = 0;
    std::uint32_t             shapes_ = 0;
    Slot                      slot_ = DataflowProgram::first_slot;
    Offset                    rows_ = 0;  // of operands, but for the last task's
};

void place_units(Cpu& be, DataflowLayout& layout)
{
    const auto tasks = static_cast<std::ptrdiff_t>(layout.task.size());
#pragma omp parallel for schedule(static) num_threads(be.team(layout.task.size() >= DataflowLayout::many_tasks))
    for (std::ptrdiff_t t = 0; t < tasks; ++t) {
        Slot slot = layout.task[t].slot;
        for (std::uint32_t s = layout.first_shape[t]; s < layout.first_shape[t + 1]; ++s) {
            const Shape& shape = layout.units.shapes[s];
            for (int j = 0; j < shape.size; ++j) layout.place[shape.first + j] = slot + j;
            slot += shape.slots();
        }
    }
}

}  // namespace

template <class Walk>
DataflowLayout lay_out(Cpu& be, DataflowEntries entries, const Walk& walk, std::span<const Index> order)
{
    DataflowLayout layout;
    layout.units = find_units(be, entries, walk, order);
    layout.entries = std::move(entries);
    TaskMaker tasks(layout);
    for (const Shape& shape : layout.units.shapes) tasks.add(shape);
    tasks.finish();
    require_positions(layout.rows, layout.slots);
    layout.place.resize(layout.units.count());
    place_units(be, layout);
    return layout;
}
template DataflowLayout lay_out(Cpu&, DataflowEntries, const FactorWalk&, std::span<const Index>);
template DataflowLayout lay_out(Cpu&, DataflowEntries, const SolveWalk&, std::span<const Index>);

}  // namespace ilux
