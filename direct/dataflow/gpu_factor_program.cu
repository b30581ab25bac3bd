#include "ilux/direct/dataflow/gpu_factor_program.hpp"

#include "ilux/direct/dataflow/factor_program_steps.hpp"

namespace ilux {
namespace {

/// What is known before anything is counted, and room for what is found by entries and columns.
FactorProgramView begin(Gpu& gpu, const GpuLuPattern& pattern, const EntryInputs& inputs, TailColumns tail,
                        std::span<const Index> order, DeviceArrays& arrays)
{
    FactorProgramView V{.pattern = pattern.view(), .tail_first = tail.first, .tail_last = tail.first + tail.size};
    const auto        own = pattern.entries(), n = static_cast<std::size_t>(V.pattern.n);
    V.own = static_cast<Offset>(own);
    V.entries = static_cast<Offset>(own + inputs.extra_of.size());
    arrays.add(order, V.order);
    arrays.add(inputs.extra_of, V.extra_of);
    arrays.add(inputs.extra_source, V.extra_source);
    arrays.add(inputs.extra_scale, V.extra_scale);
    arrays.room(own, V.count);
    arrays.room(own, V.listed);
    arrays.room(own, V.long_entry);
    arrays.room(1, V.long_entries);
    arrays.room(own, V.divisor);
    arrays.room(own + 1, V.list);
    arrays.room(own + 1, V.sum);
    arrays.room(n, V.group);
    arrays.room(n + 1, V.saved);
    arrays.room(n + 1, V.start);
    arrays.room(static_cast<std::size_t>(V.pattern.nnz), V.ordered);
    arrays.room(own, V.alone);
    arrays.room(1, V.ticket);
    arrays.upload(gpu);
    const auto stream = cuda::stream(gpu);
    cuda::check(cudaMemsetAsync(V.divisor, unset_byte, own * sizeof(std::int32_t), stream), "cudaMemsetAsync");
    cuda::check(cudaMemsetAsync(V.alone, unset_byte, own * sizeof(std::int32_t), stream), "cudaMemsetAsync");
    cuda::check(cudaMemsetAsync(V.ticket, unset_byte, sizeof(int), stream), "cudaMemsetAsync");
    return V;
}

/// Room for what is found by units.
void make_room(Gpu& gpu, const FactorProgramSize& size, FactorProgramView& V, DeviceArrays& arrays)
{
    require_positions(0, size.units);
    V.units = size.units;
    const auto units = static_cast<std::size_t>(size.units);
    arrays.room(static_cast<std::size_t>(size.list), V.product);
    arrays.room(units, V.level);
    arrays.room(units, V.first);
    arrays.room(units, V.early);
    arrays.room(units, V.late);
    arrays.upload(gpu);
    cuda::check(cudaMemsetAsync(V.level, unset_byte, units * sizeof(std::int32_t), cuda::stream(gpu)),
                "cudaMemsetAsync");
}

UnsetVector<DataflowProgram::Slot> slots_of_entries(Gpu& gpu, const FactorProgramView& V, const FactorTasks& tasks)
{
    UnsetVector<DataflowProgram::Slot> slot_of(static_cast<std::size_t>(V.own));
    detail::download_bytes(gpu, tasks.view().place, slot_of.data(), slot_of.size() * sizeof(DataflowProgram::Slot));
    return slot_of;
}

}  // namespace

GpuFactorProgram gpu_factor_program(Gpu& gpu, const GpuLuPattern& pattern, const EntryInputs& inputs, TailColumns tail,
                                    std::span<const Index> order)
{
    require_tail(pattern.host(), tail);
    const cuda::Range       range("factor program");
    DeviceArrays            by_entry, by_unit;
    FactorProgramView       V = begin(gpu, pattern, inputs, tail, order, by_entry);
    const FactorProgramSize size = count_factor_products(gpu, V);
    make_room(gpu, size, V, by_unit);
    list_factor_products(gpu, V, size);
    find_factor_levels(gpu, V);
    sort_factor_products(gpu, V);
    const FactorTasks tasks(gpu, V, size.saved);
    GpuDataflow       dataflow(gpu, {tasks.view().tasks, tasks.rows(), tasks.slots()},
                               [&](const DataflowRoom& room) { fill_factor_tasks(gpu, V, tasks, room); });
    return {std::move(dataflow), slots_of_entries(gpu, V, tasks)};
}

}  // namespace ilux
