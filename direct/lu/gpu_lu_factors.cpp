#include "ilux/direct/lu/gpu_lu_factors.hpp"

#include <limits>
#include <utility>

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

GpuRefactorTuning tuning_of(const LuOptions& options)
{
    GpuRefactorTuning tuning;
    tuning.right.dependencies = options.dependencies;
    tuning.joined.memory_limit = options.memory_limit.value;
    if (options.index == UnionChoice::lookup) tuning.joined.forced = UnionIndex::lookup;
    return tuning;
}

}  // namespace

template <Scalar S>
GpuLuSubstitution<S>::GpuLuSubstitution(Gpu& gpu, const GpuRefactor<S>& numbers, Transpose transpose)
    : val_(numbers.val())
{
    entries_.emplace(gpu, numbers.pattern(), numbers.slot_of(), transpose);
}

template <Scalar S>
GpuLuSubstitution<S>::GpuLuSubstitution(Gpu& gpu, const GpuFrontRefactor<S>& numbers, Transpose transpose)
{
    fronts_.emplace(gpu, numbers, transpose);
}

template <Scalar S>
void GpuLuSubstitution<S>::run(Gpu& gpu, const S* b, S* x, Index rhs)
{
    if (entries_) entries_->run(gpu, b, x, rhs);
    else fronts_->run(gpu, b, x, rhs);
}

template <Scalar S>
void GpuLuSubstitution<S>::refill(Gpu& gpu)
{
    if (entries_) entries_->refill(gpu, val_);
}

template <Scalar S>
Index GpuLuSubstitution<S>::room() const
{
    return entries_ ? entries_->room() : std::numeric_limits<Index>::max();
}

template <Scalar S>
void GpuLuSubstitution<S>::make_room(Gpu& gpu, Index rhs)
{
    if (entries_) entries_->make_room(gpu, rhs);
}

template <Scalar S>
std::size_t GpuLuSubstitution<S>::room_bytes() const
{
    return entries_ ? entries_->room_bytes() : 0;
}

template <Scalar S>
std::size_t GpuLuSubstitution<S>::bytes() const
{
    return entries_ ? entries_->bytes() : fronts_->bytes();
}

template <Scalar S>
GpuLuFactors<S>::GpuLuFactors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern,
                              std::shared_ptr<const FrontPlan> fronts, const LuOptions& options, Cpu host)
{
    if (fronts) fronts_.emplace(gpu, std::move(fronts), std::move(pattern));
    else entries_.emplace(gpu, std::move(pattern), options.refactor, tuning_of(options), host);
}

template <Scalar S>
std::string_view GpuLuFactors<S>::method() const
{
    return entries_ ? entries_->method() : "supernodes";
}

template <Scalar S>
void GpuLuFactors<S>::download(Gpu& gpu, LuFactors<S>& factors) const
{
    if (entries_) entries_->download(gpu, factors);
    else fronts_->download(gpu, factors);
}

template <Scalar S>
void GpuLuFactors<S>::run(Gpu& gpu, const S* values)
{
    if (entries_) entries_->run(gpu, values);
    else fronts_->run(gpu, values);
}

template <Scalar S>
PivotMonitor GpuLuFactors<S>::monitor(Gpu& gpu) const
{
    return entries_ ? entries_->monitor(gpu) : fronts_->monitor(gpu);
}

template <Scalar S>
GpuLuSubstitution<S>& GpuLuFactors<S>::solve(Gpu& gpu, Transpose transpose, bool filled)
{
    const std::size_t which = transpose != Transpose::no;  // conjugating is the caller's
    const Transpose   way = which == 0 ? Transpose::no : Transpose::yes;
    auto&             solve = solve_[which];
    if (!solve && entries_) solve = std::make_unique<GpuLuSubstitution<S>>(gpu, *entries_, way);
    if (!solve) solve = std::make_unique<GpuLuSubstitution<S>>(gpu, *fronts_, way);
    if (filled && !filled_[which]) {
        solve->refill(gpu);
        filled_[which] = true;
    }
    return *solve;
}

template <Scalar S>
std::size_t GpuLuFactors<S>::bytes() const
{
    std::size_t sum = entries_ ? entries_->bytes() : fronts_->bytes();
    for (const auto& one : solve_) sum += one ? one->bytes() : 0;
    return sum;
}

#define ILUX_INSTANTIATE(S)              \
    template class GpuLuSubstitution<S>; \
    template class GpuLuFactors<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
