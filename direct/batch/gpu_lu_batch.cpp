#include "ilux/direct/batch/gpu_lu_batch.hpp"

#include <utility>

#include "ilux/direct/dataflow/lu_dataflow.hpp"

namespace ilux {

template <class T>
GpuLuBatch<T>::GpuLuBatch(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, Index members, const BatchTuning& tuning)
    : pattern_(std::move(pattern)), tuning_(tuning)
{
    const TailColumns tail = choose_dense_tail(*pattern_);
    DataflowProgram   program = factor_dataflow(*pattern_, tail);
    factor_ = GpuDataflowBatch(gpu, program, members, pattern_->in_source.size(), {}, {}, tuning_);
    space_ = factor_.template space<T>(gpu);
    slot_of_ = std::move(program.slot_of);
    tail_ = GpuDenseTail(gpu, dense_tail(*pattern_, tail, slot_of_));
    monitor_ = GpuBatchMonitor(gpu, *pattern_, slot_of_, members);
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
    const SolveDataflow solve = solve_dataflow(*pattern_, slot_of_, transpose);
    Substitution        made;
    made.dataflow = GpuDataflowBatch(gpu, solve.dataflow, members(), static_cast<std::size_t>(pattern_->n),
                                     solve.out_index, solve.out_scale, tuning_);
    made.space = made.dataflow.template space<double>(gpu);
    substitution = std::move(made);
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
