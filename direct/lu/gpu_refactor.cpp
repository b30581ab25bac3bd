#include "ilux/direct/lu/gpu_refactor.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/direct/model/refactor_choice.hpp"

namespace ilux {
namespace {

using Engine = std::variant<DataflowRefactor, LeftRefactor, RightRefactor, UnionRefactor>;

Engine make_engine(Gpu& gpu, const std::shared_ptr<const GpuLuPattern>& pattern, RefactorMethod method,
                   const GpuRefactorTuning& tuning, std::vector<DataflowProgram::Slot>& slot_of)
{
    RightTuning right = tuning.right;
    switch (method) {
        case RefactorMethod::automatic: {
            const TailColumns tail = choose_dense_tail(pattern->host());
            DataflowProgram   program = factor_dataflow(pattern->host(), tail);
            slot_of = std::move(program.slot_of);
            slot_of.resize(pattern->entries());  // without those of repeated inputs
            return DataflowRefactor{GpuDataflow(gpu, program),
                                    GpuDenseTail(gpu, dense_tail(pattern->host(), tail, slot_of))};
        }
        case RefactorMethod::left:
            return LeftRefactor(gpu, pattern, tuning.left);
        case RefactorMethod::glu1:
        case RefactorMethod::glu3:
            right.method = method == RefactorMethod::glu1 ? RightMethod::glu1 : RightMethod::glu3;
            return RightRefactor(gpu, pattern, right);
        case RefactorMethod::islu:
            return UnionRefactor(gpu, pattern, tuning.joined);
        case RefactorMethod::cpu:
            break;
    }
    throw InvalidOption("refactor cpu: not a method of a GPU");
}

DeviceBuffer<double> room(Gpu& gpu, const Engine& engine, std::size_t entries)
{
    const auto* dataflow = std::get_if<DataflowRefactor>(&engine);
    return dataflow == nullptr ? DeviceBuffer<double>(entries) : dataflow->entries.workspace(gpu);
}

RefactorMethod method_for(const LuPattern& pattern, Gpu& gpu, RefactorMethod asked)
{
    if (asked != RefactorMethod::automatic) return asked;
    return gpu_cost(pattern, double(gpu_memory(gpu.device()).free), gpu.multiprocessors()).method;
}

}  // namespace

GpuRefactor::GpuRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, RefactorMethod method,
                         const GpuRefactorTuning& tuning)
    : method_(method_for(*pattern, gpu, method)),
      pattern_(std::make_shared<const GpuLuPattern>(gpu, std::move(pattern))),
      engine_(make_engine(gpu, pattern_, method_, tuning, slot_of_)),
      val_(room(gpu, engine_, pattern_->entries())),
      monitor_(gpu, pattern_, slot_of_)
{}

void GpuRefactor::run(Gpu& gpu, const double* values)
{
    if (const auto* dataflow = std::get_if<DataflowRefactor>(&engine_)) {
        dataflow->entries.run(gpu, values, nullptr, val_, nullptr);
        dataflow->tail.run(gpu, val_.data());
    } else {
        pattern_->scatter(gpu, values, val_);
        if (auto* left = std::get_if<LeftRefactor>(&engine_)) left->run(gpu, val_);
        if (auto* right = std::get_if<RightRefactor>(&engine_)) right->run(gpu, val_);
        if (auto* joined = std::get_if<UnionRefactor>(&engine_)) joined->run(gpu, val_);
    }
    monitor_.watch(gpu, values, val_.data());
}

void GpuRefactor::download(Gpu& gpu, LuFactors& factors) const
{
    std::vector<double> val(val_.size());
    ilux::download<double>(gpu, val_, val);
    const auto at = [&](std::size_t entry) { return val[slot_of_.empty() ? entry : slot_of_[entry]]; };
    for (std::size_t e = 0; e < factors.val.size(); ++e) factors.val[e] = at(e);
    for (std::size_t e = 0; e < factors.f_val.size(); ++e) factors.f_val[e] = at(factors.val.size() + e);
}

std::string_view GpuRefactor::method() const
{
    return method_ == RefactorMethod::automatic ? "dataflow" : name(method_);
}

std::size_t GpuRefactor::bytes() const
{
    const std::size_t engine = std::visit([](const auto& one) { return one.bytes(); }, engine_);
    return engine + pattern_->bytes() + monitor_.bytes() + val_.size() * sizeof(double);
}

}  // namespace ilux
