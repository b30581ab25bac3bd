#include "ilux/direct/lu/gpu_refactor.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/dataflow/gpu_factor_program.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/lu/refactor_choice.hpp"

namespace ilux {
namespace {

template <Scalar S>
using Engine = typename GpuRefactor<S>::Engine;

/// Nothing where such a program would not fit: gpu_cost only knows about how large it is.
template <Scalar S>
std::optional<Engine<S>> dot_products(Gpu& gpu, const GpuLuPattern& pattern, const EntryInputs& inputs,
                                      UnsetVector<DataflowProgram::Slot>& slot_of)
{
    const LuPattern& P = pattern.host();
    const LuLevels   levels = lu_levels(P, DependencyRule::left);
    // The tail's block keeps its columns as doubles in registers and shared memory: complex ones are dot products, too.
    const TailColumns tail = is_complex<S> ? TailColumns{} : choose_dense_tail(P, levels);
    const std::size_t free = gpu_memory(gpu.device()).free;
    auto              program = gpu_factor_program(gpu, pattern, inputs, tail, levels.column, free);
    if (!program) return std::nullopt;
    slot_of = std::move(program->slot_of);
    return DataflowRefactor{std::move(program->dataflow), GpuDenseTail(gpu, dense_tail(P, tail, slot_of))};
}

/// @param method  becomes left where dot products were to be taken and would not fit
template <Scalar S>
Engine<S> make_engine(Gpu& gpu, const std::shared_ptr<const GpuLuPattern>& pattern, const EntryInputs& inputs,
                      RefactorMethod& method, const GpuRefactorTuning& tuning,
                      UnsetVector<DataflowProgram::Slot>& slot_of)
{
    if (method == RefactorMethod::automatic) {
        if (auto made = dot_products<S>(gpu, *pattern, inputs, slot_of)) return std::move(*made);
        method = RefactorMethod::left;
    }
    RightTuning right = tuning.right;
    switch (method) {
        case RefactorMethod::left:
            return LeftRefactor<S>(gpu, pattern, tuning.left);
        case RefactorMethod::glu1:
        case RefactorMethod::glu3:
            right.method = method == RefactorMethod::glu1 ? RightMethod::glu1 : RightMethod::glu3;
            return RightRefactor<S>(gpu, pattern, right);
        case RefactorMethod::islu:
            return UnionRefactor<S>(gpu, pattern, tuning.joined);
        case RefactorMethod::automatic:
        case RefactorMethod::cpu:
            break;
    }
    throw InvalidOption("refactor cpu: not a method of a GPU");
}

template <Scalar S>
DeviceBuffer<S> room(Gpu& gpu, const Engine<S>& engine, std::size_t entries)
{
    const auto* dataflow = std::get_if<DataflowRefactor>(&engine);
    return dataflow == nullptr ? DeviceBuffer<S>(entries) : dataflow->entries.template workspace<S>(gpu);
}

template <Scalar S>
RefactorMethod method_for(const LuPattern& pattern, Gpu& gpu, RefactorMethod asked)
{
    if (asked != RefactorMethod::automatic) return asked;
    return gpu_cost<S>(pattern, double(gpu_memory(gpu.device()).free), gpu.multiprocessors()).method;
}

}  // namespace

template <Scalar S>
GpuRefactor<S>::GpuRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, RefactorMethod method,
                            const GpuRefactorTuning& tuning, Cpu host)
    : GpuRefactor(gpu, pattern, entry_inputs(*pattern, host), method, tuning)
{}

template <Scalar S>
GpuRefactor<S>::GpuRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const EntryInputs& inputs,
                            RefactorMethod method, const GpuRefactorTuning& tuning)
    : method_(method_for<S>(*pattern, gpu, method)),
      pattern_(std::make_shared<const GpuLuPattern>(gpu, std::move(pattern), inputs)),
      engine_(make_engine<S>(gpu, pattern_, inputs, method_, tuning, slot_of_)),
      val_(room<S>(gpu, engine_, pattern_->entries())),
      monitor_(gpu, pattern_, slot_of_)
{}

template <Scalar S>
void GpuRefactor<S>::run(Gpu& gpu, const S* values)
{
    if (const auto* dataflow = std::get_if<DataflowRefactor>(&engine_)) {
        dataflow->entries.run(gpu, values, nullptr, val_, nullptr);
        if constexpr (!is_complex<S>) dataflow->tail.run(gpu, val_.data());
    } else {
        pattern_->scatter<S>(gpu, values, val_);
        if (auto* left = std::get_if<LeftRefactor<S>>(&engine_)) left->run(gpu, val_);
        if (auto* right = std::get_if<RightRefactor<S>>(&engine_)) right->run(gpu, val_);
        if (auto* joined = std::get_if<UnionRefactor<S>>(&engine_)) joined->run(gpu, val_);
    }
    monitor_.watch(gpu, values, val_.data());
}

template <Scalar S>
void GpuRefactor<S>::download(Gpu& gpu, LuFactors<S>& factors) const
{
    std::vector<S> val(val_.size());
    ilux::download<S>(gpu, val_, val);
    const auto at = [&](std::size_t entry) { return val[slot_of_.empty() ? entry : slot_of_[entry]]; };
    for (std::size_t e = 0; e < factors.val.size(); ++e) factors.val[e] = at(e);
    for (std::size_t e = 0; e < factors.f_val.size(); ++e) factors.f_val[e] = at(factors.val.size() + e);
}

template <Scalar S>
std::string_view GpuRefactor<S>::method() const
{
    return method_ == RefactorMethod::automatic ? "dataflow" : name(method_);
}

template <Scalar S>
std::size_t GpuRefactor<S>::bytes() const
{
    const std::size_t engine = std::visit([](const auto& one) { return one.bytes(); }, engine_);
    return engine + pattern_->bytes() + monitor_.bytes() + val_.size() * sizeof(S);
}

#define ILUX_INSTANTIATE(S) template class GpuRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
