#include "ilux/direct/dataflow/dataflow_filler.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ilux {
namespace {

using Slot = DataflowProgram::Slot;
using Task = DataflowProgram::Task;
using Operand = DataflowProgram::Operand;
using Shape = DataflowUnits::Shape;
constexpr int tasks_at_once = 64;  // that a thread takes

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

class TaskFiller {
public:
    TaskFiller(Cpu& be, DataflowLayout layout) : be_(be), layout_(std::move(layout)) {}

    DataflowProgram fill()
    {
        begin();
        const int  team = be_.team(program_.task.size() >= DataflowLayout::many_tasks);
        const auto tasks = static_cast<std::ptrdiff_t>(program_.task.size());
        const auto products = static_cast<std::ptrdiff_t>(units_.product.size());
        for (Slot slot = 0; slot < DataflowProgram::first_slot; ++slot) clear_slot(slot);
#pragma omp parallel num_threads(team)
        {
#pragma omp for schedule(static)
            for (std::ptrdiff_t k = 0; k < products; ++k) to_slots(units_.product[k]);
#pragma omp for schedule(dynamic, tasks_at_once)
            for (std::ptrdiff_t t = 0; t < tasks; ++t) fill_task(static_cast<std::size_t>(t));
        }
        layout_.place.resize(e_.count);
        program_.slot_of = std::move(layout_.place);
        return std::move(program_);
    }

private:
    void begin()
    {
        program_.task = std::move(layout_.task);
        program_.depth = units_.depth;
        program_.products = units_.products;
        program_.a_given = e_.a_given();
        program_.operand.resize(32 * layout_.rows);
        program_.late.resize(layout_.slots);
        program_.source.resize(layout_.slots);
        program_.scale.resize(layout_.slots);
        program_.divisor.resize(layout_.slots);
    }

    /// visit(shape, its first member's slot, its first lane) for each of a task.
    template <class Visit>
    void for_each_shape(std::size_t t, Visit visit) const
    {
        Slot slot = program_.task[t].slot;
        int  lane = 0;
        for (std::uint32_t s = layout_.first_shape[t]; s < layout_.first_shape[t + 1]; ++s) {
            const Shape& shape = units_.shapes[s];
            visit(shape, slot, lane);
            slot += shape.slots();
            lane += 1 << shape.log2_lanes;
        }
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
        program_.divisor[slot] = e_.a_given() ? e_.given[divisor] : layout_.place[divisor];
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
        else product.a = e_.a_given() ? e_.given[product.a] : layout_.place[product.a];
        product.b = layout_.place[product.b];
    }

    Cpu&                   be_;
    DataflowLayout         layout_;
    DataflowUnits&         units_ = layout_.units;
    const DataflowEntries& e_ = layout_.entries;
    DataflowProgram        program_;
};

}  // namespace

DataflowProgram fill_tasks(Cpu& be, DataflowLayout layout) { return TaskFiller(be, std::move(layout)).fill(); }

}  // namespace ilux
