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
    require_positions(0, V.entries);
    arrays.add(order, V.order);
    if (!inputs.extra_of.empty()) {
        arrays.add(inputs.extra_ptr, V.extra_ptr);
        arrays.add(pattern.host().f_col_ptr, V.f_col_ptr);
    }
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

/// Room for what is found by units; not made yet.
void ask_for_room(const FactorProgramSize& size, FactorProgramView& V, DeviceArrays& arrays)
{
    require_positions(0, size.units);
    V.units = size.units;
    const auto units = static_cast<std::size_t>(size.units);
    arrays.room(static_cast<std::size_t>(size.list), V.product);
    arrays.room(units, V.level);
    arrays.room(units, V.first);
    arrays.room(units, V.early);
    arrays.room(units, V.late);
}

void make_room(Gpu& gpu, const FactorProgramView& V, DeviceArrays& arrays)
{
    arrays.upload(gpu);
    const auto bytes = static_cast<std::size_t>(V.units) * sizeof(std::int32_t);
    cuda::check(cudaMemsetAsync(V.level, unset_byte, bytes, cuda::stream(gpu)), "cudaMemsetAsync");
}

std::size_t program_bytes(const DataflowSize& size)
{
    using P = DataflowProgram;
    constexpr std::size_t of_slot = sizeof(P::Late) + sizeof(std::int32_t) + sizeof(double) + sizeof(P::Slot);
    return static_cast<std::size_t>(size.rows) * 32 * sizeof(P::Operand) +
           static_cast<std::size_t>(size.slots) * of_slot + static_cast<std::size_t>(size.tasks) * sizeof(P::Task);
}

UnsetVector<DataflowProgram::Slot> slots_of_entries(Gpu& gpu, const FactorProgramView& V, const FactorTasks& tasks)
{
    UnsetVector<DataflowProgram::Slot> slot_of(static_cast<std::size_t>(V.own));
    detail::download_bytes(gpu, tasks.view().place, slot_of.data(), slot_of.size() * sizeof(DataflowProgram::Slot));
    return slot_of;
}

}  // namespace

std::optional<GpuFactorProgram> gpu_factor_program(Gpu& gpu, const GpuLuPattern& pattern, const EntryInputs& inputs,
                                                   TailColumns tail, std::span<const Index> order,
                                                   std::size_t most_bytes)
{
    require_tail(pattern.host(), tail);
    const cuda::Range range("gpu_factor_program");
    DeviceArrays      by_entry, by_unit;
    FactorProgramView V = begin(gpu, pattern, inputs, tail, order, by_entry);
    const auto        size = count_factor_products(gpu, V);
    if (!size) return std::nullopt;
    ask_for_room(*size, V, by_unit);
    if (by_entry.bytes() + by_unit.bytes_asked_for() > most_bytes) return std::nullopt;
    make_room(gpu, V, by_unit);
    list_factor_products(gpu, V, *size);
    find_factor_levels(gpu, V);
    sort_factor_products(gpu, V);
    const FactorTasks  tasks(gpu, V, size->saved);
    const DataflowSize program{tasks.view().tasks, tasks.rows(), tasks.slots()};
    if (by_entry.bytes() + by_unit.bytes() + tasks.bytes() + program_bytes(program) > most_bytes) return std::nullopt;
    GpuDataflow dataflow(gpu, program, [&](const DataflowRoom& room) { fill_factor_tasks(gpu, V, tasks, room); });
    return GpuFactorProgram{std::move(dataflow), slots_of_entries(gpu, V, tasks)};
}

}  // namespace ilux
