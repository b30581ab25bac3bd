#include "ilux/direct/lu/gpu_entry_refactor.hpp"

#include <utility>
#include <vector>

#include "ilux/base/instances.hpp"
#include "ilux/direct/dataflow/gpu_factor_program.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/lu/refactor_choice.hpp"
#include "ilux/direct/solve/gpu_lu_solve.hpp"

namespace ilux {
namespace {

template <Scalar S>
RefactorMethod method_for(const LuPattern& pattern, Gpu& gpu, RefactorMethod asked)
{
    if (asked != RefactorMethod::automatic) return asked;
    return gpu_cost<S>(pattern, double(gpu_memory(gpu.device()).free), gpu.multiprocessors()).method;
}

}  // namespace

/// @return false where such a program would not fit: gpu_cost only knows about how large it is
template <Scalar S>
bool GpuEntryRefactor<S>::make_dot_products(Gpu& gpu, const EntryInputs& inputs)
{
    const LuPattern& P = pattern();
    const LuLevels   levels = lu_levels(P, DependencyRule::left);
    // The tail's block keeps its columns as doubles in registers and shared memory: complex ones are dot products, too.
    const TailColumns tail = is_complex<S> ? TailColumns{} : choose_dense_tail(P, levels);
    const std::size_t free = gpu_memory(gpu.device()).free;
    auto              program = gpu_factor_program(gpu, *pattern_, inputs, tail, levels.column, free);
    if (!program) return false;
    slot_of_ = std::move(program->slot_of);
    dot_products_ = DotProducts{std::move(program->dataflow), GpuDenseTail(gpu, dense_tail(P, tail, slot_of_))};
    val_ = dot_products_->entries.template workspace<S>(gpu);
    return true;
}

template <Scalar S>
GpuEntryRefactor<S>::GpuEntryRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const LuOptions& options,
                                      Cpu host)
    : GpuEntryRefactor(gpu, pattern, entry_inputs(*pattern, host), options)
{}

template <Scalar S>
GpuEntryRefactor<S>::GpuEntryRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const EntryInputs& inputs,
                                      const LuOptions& options)
    : method_(method_for<S>(*pattern, gpu, options.refactor)),
      pattern_(std::make_shared<const GpuLuPattern>(gpu, std::move(pattern), inputs))
{
    if (method_ != RefactorMethod::automatic || !make_dot_products(gpu, inputs)) {
        if (method_ == RefactorMethod::automatic) method_ = RefactorMethod::left;
        published_ = make_published<S>(gpu, pattern_, method_, options);
        val_ = DeviceBuffer<S>(pattern_->entries());
    }
    monitor_.emplace(gpu, pattern_, slot_of_);
}

template <Scalar S>
GpuEntryRefactor<S>::GpuEntryRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern,
                                      std::unique_ptr<PublishedRefactor<S>> published, RefactorMethod method)
    : method_(method), pattern_(std::move(pattern)), published_(std::move(published)), val_(pattern_->entries())
{
    monitor_.emplace(gpu, pattern_, slot_of_);
}

template <Scalar S>
void GpuEntryRefactor<S>::run(Gpu& gpu, const S* values)
{
    if (published_) {
        pattern_->scatter<S>(gpu, values, val_);
        published_->run(gpu, val_);
    } else {
        dot_products_->entries.run(gpu, values, nullptr, val_, nullptr);
        if constexpr (!is_complex<S>) dot_products_->tail.run(gpu, val_.data());
    }
    monitor_->watch(gpu, values, val_.data());
}

template <Scalar S>
void GpuEntryRefactor<S>::download(Gpu& gpu, LuFactors<S>& factors) const
{
    std::vector<S> val(val_.size());
    ilux::download<S>(gpu, val_, val);
    const auto at = [&](std::size_t entry) { return val[slot_of_.empty() ? entry : slot_of_[entry]]; };
    for (std::size_t e = 0; e < factors.val.size(); ++e) factors.val[e] = at(e);
    for (std::size_t e = 0; e < factors.f_val.size(); ++e) factors.f_val[e] = at(factors.val.size() + e);
}

template <Scalar S>
std::unique_ptr<GpuSubstitution<S>> GpuEntryRefactor<S>::substitution(Gpu& gpu, bool transpose) const
{
    return std::make_unique<GpuLuSolve<S>>(gpu, pattern(), val_.data(), slot_of_,
                                           transpose ? Transpose::yes : Transpose::no);
}

template <Scalar S>
std::string_view GpuEntryRefactor<S>::method() const
{
    return method_ == RefactorMethod::automatic ? "dataflow" : name(method_);
}

template <Scalar S>
std::size_t GpuEntryRefactor<S>::bytes() const
{
    const std::size_t engine =
        published_ ? published_->bytes() : dot_products_->entries.bytes() + dot_products_->tail.bytes();
    return engine + pattern_->bytes() + monitor_->bytes() + val_.size() * sizeof(S);
}

#define ILUX_INSTANTIATE(S) template class GpuEntryRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
