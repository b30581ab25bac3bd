#include "ilux/direct/batch/gpu_lu_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"

namespace ilux {

template <class T>
GpuLuBatch<T>::GpuLuBatch(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, Index members, const BatchTuning& tuning,
                          const BatchMemory& memory)
    : pattern_(std::move(pattern)), tuning_(tuning)
{
    const TailColumns tail = choose_dense_tail(*pattern_);
    DataflowProgram   program = factor_dataflow(*pattern_, tail);
    if (const double least = program.products * sizeof(BatchDataflow::Product); least > double(memory.bytes))
        throw OutOfMemory(fmt::format("a batch's program takes {} of the device or more, and {} may be used",
                                      bytes_text(least), bytes_text(double(memory.bytes))));
    factor_ = GpuDataflowBatch(gpu, program, members, pattern_->in_source.size(), {}, {}, tuning_);
    slot_of_ = std::move(program.slot_of);
    tail_ = GpuDenseTail(gpu, dense_tail(*pattern_, tail, slot_of_));
    if (memory.bytes < BatchMemory{}.bytes) fit(gpu, memory);
    space_ = factor_.template space<T>(gpu);
    monitor_ = GpuBatchMonitor(gpu, *pattern_, slot_of_, this->members());
}

/// Takes as many members as fit, and what solves A x = b with them.
template <class T>
void GpuLuBatch<T>::fit(Gpu& gpu, const BatchMemory& memory)
{
    Substitution made = substitution(gpu, Transpose::no);
    const auto   need = [&](Index members) {
        factor_.set_members(members);
        made.dataflow.set_members(members);
        return factor_.bytes() + factor_.template space_bytes<T>() + tail_.bytes() + made.dataflow.bytes() +
               made.dataflow.template space_bytes<double>() + GpuBatchMonitor::bytes_for(*pattern_, slot_of_, members) +
               memory.beside * static_cast<std::size_t>(members);
    };
    Index       members = this->members();
    std::size_t needed = need(members);
    while (needed > memory.bytes) {
        if (members <= 32)
            throw OutOfMemory(fmt::format("a batch of {} members takes {} of the device, and {} may be used", members,
                                          bytes_text(double(needed)), bytes_text(double(memory.bytes))));
        // Part of the need is the same for all members, so that this share of them is never too few.
        const double share = double(memory.bytes) / double(needed);
        members = std::clamp(static_cast<Index>(share * members) / 32 * 32, 32, (members - 1) / 32 * 32);
        needed = need(members);
    }
    made.space = made.dataflow.template space<double>(gpu);
    plain_ = std::move(made);
}

template <class T>
void GpuLuBatch<T>::refactor(Gpu& gpu, const double* values)
{
    factor_.run(gpu, values, space_);
    tail_.run(gpu, space_.v.data(), members(), stride());
    monitor_.watch(gpu, space_.input.data(), space_.v.data());
}

template <class T>
void GpuLuBatch<T>::prepare(Gpu& gpu, Transpose transpose)
{
    auto& substitution = transpose == Transpose::no ? plain_ : transposed_;
    if (substitution) return;
    Substitution made = this->substitution(gpu, transpose);
    made.space = made.dataflow.template space<double>(gpu);
    substitution = std::move(made);
}

/// Without a space.
template <class T>
auto GpuLuBatch<T>::substitution(Gpu& gpu, Transpose transpose) const -> Substitution
{
    const SolveDataflow solve = solve_dataflow(*pattern_, slot_of_, transpose);
    Substitution        made;
    made.dataflow = GpuDataflowBatch(gpu, solve.dataflow, members(), static_cast<std::size_t>(pattern_->n),
                                     solve.out_index, solve.out_scale, tuning_);
    return made;
}

template <class T>
void GpuLuBatch<T>::solve(Gpu& gpu, const double* b, double* x, Transpose transpose)
{
    prepare(gpu, transpose);
    auto& substitution = transpose == Transpose::no ? plain_ : transposed_;
    substitution->dataflow.run(gpu, b, GivenFactors<T>{val(), stride()}, substitution->space, x);
}

template <class T>
std::size_t GpuLuBatch<T>::bytes() const
{
    std::size_t all = factor_.bytes() + factor_.space_bytes<T>() + tail_.bytes() + monitor_.bytes();
    for (const auto* substitution : {&plain_, &transposed_})
        if (*substitution)
            all += (*substitution)->dataflow.bytes() + (*substitution)->dataflow.template space_bytes<double>();
    return all;
}

template class GpuLuBatch<double>;
template class GpuLuBatch<float>;

}  // namespace ilux
