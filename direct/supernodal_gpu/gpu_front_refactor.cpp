#include "ilux/direct/supernodal_gpu/gpu_front_refactor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/direct/supernodal_gpu/front_inputs.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_kernels.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_solve.hpp"

namespace ilux {
namespace {

template <Scalar S>
FrontClasses classes_of()
{
    FrontClasses classes;
    if (is_complex<S>) classes = {.limits = {16, 24, 32, 64, 96}, .panel = 16};
    return classes;
}

}  // namespace

template <Scalar S>
GpuFrontRefactor<S>::GpuFrontRefactor(Gpu& gpu, std::shared_ptr<const FrontPlan> plan,
                                      std::shared_ptr<const LuPattern> pattern)
    : plan_(std::move(plan)),
      pattern_(std::move(pattern)),
      classes_(classes_of<S>()),
      schedule_(gpu_front_schedule(*plan_, classes_))
{
    gpu.make_current();
    found_ = HostBuffer<FrontExtremes>(1);
    branches_ = front_branches(gpu);
    const FrontInputArrays inputs = front_inputs(*plan_, schedule_, pattern_->in_scale);
    describe(inputs);
    upload(gpu, inputs);
    inverses_.count = static_cast<Index>(inverses_.items.size());
    inverses_.items = {};
    schedule_.assembly = {};  // the device has them
    schedule_.beside = {};
    schedule_.update = {};
}

template <Scalar S>
void GpuFrontRefactor<S>::describe(const FrontInputArrays& inputs)
{
    const FrontTree& tree = plan_->tree;
    fronts_.resize(tree.fronts());
    for (Index f = 0; f < tree.fronts(); ++f) {
        DeviceFront& d = fronts_[f];
        d.val = plan_->val_ptr[f];
        d.rest = schedule_.rest_ptr[f];
        d.row = tree.row_ptr[f];
        d.input = inputs.begin[f];
        d.inputs = static_cast<Index>(inputs.begin[f + 1] - inputs.begin[f]);
        d.first = tree.pivot_ptr[f];
        d.k = tree.pivots(f);
        d.m = tree.size(f);
        d.child_begin = schedule_.child_ptr[f];
        d.child_end = schedule_.child_ptr[f + 1];
        if (solved_by_warp(d.k, d.m)) continue;
        d.inverse = inverses_.numbers;
        inverses_.largest = std::max(inverses_.largest, std::min(solve_block, d.k));
        inverses_.numbers += inverse_numbers(d.k);
        for (Index part = 0; part * solve_tile < d.k; ++part)
            inverses_.items.push_back({f, static_cast<std::uint16_t>(part), 0});
    }
    for (std::size_t i = 0; i < schedule_.large.size(); ++i) fronts_[schedule_.large[i]].slot = static_cast<Index>(i);
}

template <Scalar S>
void GpuFrontRefactor<S>::upload(Gpu& gpu, const FrontInputArrays& inputs)
{
    const auto n = static_cast<std::size_t>(plan_->n);
    Magnitude* magnitudes = nullptr;
    arrays_.add(fronts_, view_.front);
    arrays_.add(schedule_.child, view_.child);
    arrays_.add(plan_->place, view_.place);
    arrays_.add(plan_->tree.row, view_.row);
    arrays_.add(inputs.at, view_.input_at);
    arrays_.add(inputs.ptr, inputs_.ptr);
    arrays_.add(inputs.source, inputs_.source);
    arrays_.add(inputs.scale, inputs_.scale);
    arrays_.add(inputs.col, inputs_.col);
    arrays_.add(inputs.items, assembly_);
    arrays_.add(schedule_.beside, beside_);
    arrays_.add(schedule_.update, update_);
    arrays_.add(inverses_.items, inverses_.there);
    arrays_.add(schedule_.small, small_);
    arrays_.add(schedule_.large, large_);
    arrays_.room(static_cast<std::size_t>(inputs.entries()), inputs_.value);
    arrays_.room(plan_->f_source.size(), inputs_.f_value);
    arrays_.room(static_cast<std::size_t>(plan_->numbers()), view_.val);
    arrays_.room(static_cast<std::size_t>(schedule_.rests), view_.rest);
    arrays_.room(n, view_.swap);
    arrays_.room(n, view_.perm);
    arrays_.room(n, view_.pivot);
    arrays_.room(3 * n, magnitudes);
    arrays_.room(schedule_.large.size(), view_.moves);
    arrays_.room(monitor_blocks + 1, extremes_);
    arrays_.room(static_cast<std::size_t>(inverses_.numbers), view_.inverse);
    arrays_.upload(gpu);
    view_.input = inputs_.value;
    view_.bmax = inputs_.bmax = inputs_.cleared = magnitudes;
    view_.umax = magnitudes + n;
    view_.lmax = magnitudes + 2 * n;
    inputs_.magnitudes = 3 * n;
    inputs_.entries = inputs.entries();
    inputs_.f_entries = static_cast<Offset>(plan_->f_source.size());
}

template <Scalar S>
void GpuFrontRefactor<S>::run(Gpu& gpu, const S* values)
{
    launch_inputs(gpu, inputs_, reinterpret_cast<const V*>(values));
    for (const FrontLevel& level : schedule_.levels) {
        launch_small_fronts(gpu, view_, level, classes_, small_, *branches_);
        launch_assembly(gpu, view_, level.assembly, assembly_);
        for (const PanelStep& step : level.steps) {
            launch_panel(gpu, view_, step, large_);
            launch_beside(gpu, view_, step, beside_);
            launch_update(gpu, view_, step, update_);
        }
        join_small_fronts(gpu, level, classes_, *branches_);
    }
    launch_inverses(gpu, view_, inverses_.count, inverses_.there, inverses_.largest);
    launch_monitor(gpu, view_, plan_->n, extremes_);
    enqueue_download<FrontExtremes>(gpu, {extremes_, 1}, found_);
}

template <Scalar S>
PivotMonitor GpuFrontRefactor<S>::monitor(Gpu& gpu) const
{
    gpu.synchronize();
    const FrontExtremes& e = found_[0];
    PivotMonitor         monitor;
    if (e.bad != ~0ull) {
        monitor.bad_column = static_cast<Index>(e.bad / 2);
        monitor.not_finite = e.bad % 2 != 0;
        return monitor;
    }
    monitor.min_pivot = e.min_pivot;
    monitor.max_pivot = e.max_pivot;
    monitor.rgrowth = e.rgrowth;
    monitor.growth_column = e.growth_column;
    monitor.max_multiplier = e.max_multiplier;
    monitor.multiplier_column = e.multiplier_column;
    monitor.replaced = e.replaced;
    return monitor;
}

template <Scalar S>
void GpuFrontRefactor<S>::download(Gpu& gpu, LuFactors<S>& factors) const
{
    const auto count = static_cast<std::size_t>(plan_->numbers()), f_count = plan_->f_source.size();
    factors.val.resize(count);
    factors.f_val.resize(f_count);
    factors.swap.resize(static_cast<std::size_t>(plan_->n));
    ilux::download<S>(gpu, {reinterpret_cast<const S*>(view_.val), count}, factors.val);
    ilux::download<S>(gpu, {reinterpret_cast<const S*>(inputs_.f_value), f_count}, factors.f_val);
    ilux::download<Index>(gpu, {view_.swap, factors.swap.size()}, factors.swap);
}

template <Scalar S>
std::unique_ptr<GpuSubstitution<S>> GpuFrontRefactor<S>::substitution(Gpu& gpu, bool transpose) const
{
    return std::make_unique<GpuFrontSolve<S>>(gpu, *this, transpose ? Transpose::yes : Transpose::no);
}

#define ILUX_INSTANTIATE(S) template class GpuFrontRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
