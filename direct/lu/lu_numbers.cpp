#include "ilux/direct/lu/lu_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"

namespace ilux {

template <Scalar S>
LuNumbers<S>::LuNumbers(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic)
    : be_(be), symbolic_(std::move(symbolic)), own_values_(symbolic_->input_nnz), values_(own_values_)
{}

template <Scalar S>
std::size_t LuNumbers<S>::Factors::bytes() const
{
    return host_.bytes() + host_.pattern->bytes() + (refactor_ ? refactor_->bytes() : 0) +
           (host_.fronts ? host_.fronts->bytes() : 0) + (front_refactor_ ? front_refactor_->bytes() : 0);
}

template <Scalar S>
void LuNumbers<S>::use_gpu(Gpu& gpu)
{
    if (symbolic_->options.refactor == RefactorMethod::cpu) throw InvalidOption("refactor cpu: not a method of a GPU");
    auto on_device = make_gpu_lu<S>(gpu, symbolic_);
    detail::copy_in_parallel(on_device->next().data(), values_.data(), values_.size_bytes());
    on_device->use_next();
    values_ = on_device->current();
    gpu_ = std::move(on_device);
    own_values_ = {};
}

template <Scalar S>
void LuNumbers<S>::leave_gpu()
{
    own_values_.assign(values_.begin(), values_.end());
    values_ = own_values_;
    gpu_.reset();
}

template <Scalar S>
std::string_view LuNumbers<S>::method(const Factors* factors) const
{
    if (!gpu_) return factors != nullptr && factors->by_fronts() ? "supernodes" : "cpu";
    return factors == nullptr || !factors->gpu_ ? "none" : factors->gpu_->method();
}

template <Scalar S>
std::span<S> LuNumbers<S>::next_values()
{
    return gpu_ ? gpu_->next() : std::span<S>(own_values_);
}

template <Scalar S>
void LuNumbers<S>::upload_next()
{
    if (gpu_) gpu_->upload_next();
}

template <Scalar S>
void LuNumbers<S>::take(std::span<const S> values, DeviceSpan<const S> there)
{
    const std::span<S> next = next_values();
    if (values.data() != next.data()) {
        if (gpu_) detail::copy_in_parallel(next.data(), values.data(), values.size_bytes());
        else std::ranges::copy(values, next.begin());
    }
    if (!gpu_) return;
    if (!there.empty()) gpu_->bring_next(there);
    gpu_->use_next();
    values_ = gpu_->current();
}

template <Scalar S>
void LuNumbers<S>::copy_next(DeviceSpan<const S> values)
{
    require(gpu_ != nullptr, [] { return "refactor_or_factor: values of a GPU, and none is in use"; });
    require(values.size() == values_.size(),
            [&] { return fmt::format("{} values for a pattern of {} entries", values.size(), values_.size()); });
    gpu_->copy_next(values);
}

template <Scalar S>
MatrixView<S> LuNumbers<S>::matrix() const
{
    return {symbolic_->n, symbolic_->input_ptr, symbolic_->input_idx, values_, symbolic_->layout};
}

template <Scalar S>
void LuNumbers<S>::prepare(Factors& factors)
{
    const LuFactors<S>& host = factors.host_;
    if (gpu_) {
        if (!factors.gpu_)
            factors.gpu_ = make_gpu_lu_factors<S>(gpu_->gpu(), host.pattern, host.fronts, symbolic_->options, be_);
        factors.refactor_.reset();
        factors.front_refactor_.reset();
    } else if (factors.by_fronts()) {
        if (!factors.front_refactor_) factors.front_refactor_.emplace(host.fronts);
    } else if (!factors.refactor_) {
        factors.refactor_.emplace(be_, host.pattern);
    }
}

template <Scalar S>
void LuNumbers<S>::settle(Factors& factors)
{
    if (gpu_) factors.on_gpu_ = gpu_->refactor(*factors.gpu_).bad_column < 0;
}

template <Scalar S>
std::optional<RefineReport> LuNumbers<S>::refactor(Factors& factors, const SystemToSolve<S>* system,
                                                   const StopToken& stop)
{
    prepare(factors);
    if (!gpu_) {
        if (factors.by_fronts()) factors.front_refactor_->run(be_, values_, factors.host_, stop);
        else factors.refactor_->run(be_, values_, factors.host_);
        return std::nullopt;
    }
    factors.on_gpu_ = true;
    factors.on_host_ = false;
    if (system == nullptr) {
        factors.host_.monitor = gpu_->refactor(*factors.gpu_);
        return std::nullopt;
    }
    const auto step = gpu_->refactor_and_solve(*factors.gpu_, system->b, system->x);
    factors.host_.monitor = step.monitor;
    return step.monitor.bad_column < 0 ? std::optional(step.refine) : std::nullopt;
}

/// Of the host; a GPU says itself what it has no memory for.
template <Scalar S>
void LuNumbers<S>::require_room(const FrontRefactor<S>& refactoring)
{
    const double need = refactoring.schedule().run_bytes(refactoring.threads(be_), sizeof(S));
    if (const auto limit = symbolic_->options.memory_limit.value; limit > 0 && need > static_cast<double>(limit))
        throw OutOfMemory(fmt::format("supernodes would take about {}, and memory_limit is {}", bytes_text(need),
                                      bytes_text(static_cast<double>(limit))));
}

template <Scalar S>
typename LuNumbers<S>::Factors LuNumbers<S>::by_fronts(std::shared_ptr<const FrontPlan> plan, const LuOptions& options,
                                                       const StopToken& stop)
{
    std::optional<FrontRefactor<S>> on_host;
    if (!gpu_) {
        on_host.emplace(plan);
        require_room(*on_host);
    }
    LuFactors<S> fresh{.symbolic = symbolic_, .pattern = front_pattern<S>(be_, *symbolic_, *plan, options, values_)};
    fresh.fronts = std::move(plan);
    fresh.monitor.stopped = stop.reason();
    Factors factors(std::move(fresh));
    factors.front_refactor_ = std::move(on_host);
    if (factors.monitor().stopped == StopReason::none) (void)refactor(factors, nullptr, stop);
    return factors;
}

template <Scalar S>
const LuFactors<S>& LuNumbers<S>::on_host(const Factors& factors) const
{
    if (factors.on_host_) return factors.host_;  // writes nothing: several threads may be here
    factors.gpu_->download(gpu_->gpu(), factors.host_);
    factors.on_host_ = true;
    return factors.host_;
}

template <Scalar S>
RefineReport LuNumbers<S>::solve_on_host(Cpu& be, const Factors& factors, std::span<const S> b, std::span<S> x,
                                         LuWorkspace<S>& ws, Transpose transpose) const
{
    const auto          n = static_cast<std::size_t>(symbolic_->n);
    const LuFactors<S>& host = on_host(factors);
    RefineReport        worst;
    lu_solve<S>(be, host, b, x, ws, transpose);
    for (std::size_t at = 0; at < b.size(); at += n) {
        const RefineReport one = lu_refine<S>(be, host, matrix(), b.subspan(at, n), x.subspan(at, n), ws, transpose);
        if (at == 0 || worse(one, worst)) worst = one;
    }
    return worst;
}

template <Scalar S>
RefineReport LuNumbers<S>::solve(Factors& factors, std::span<const S> b, std::span<S> x, LuWorkspace<S>& ws,
                                 Transpose transpose, double tolerance)
{
    if (!factors.on_gpu_) return solve_on_host(be_, factors, b, x, ws, transpose);
    const auto n = static_cast<std::size_t>(symbolic_->n);
    reached_.resize(n == 0 ? 0 : b.size() / n);
    gpu_->solve(*factors.gpu_, b, x, transpose, reached_);
    RefineReport worst;
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        RefineReport& one = reached_[k];
        if (!one.finite || !(one.backward_error <= tolerance))
            one = solve_on_host(be_, factors, b.subspan(k * n, n), x.subspan(k * n, n), ws, transpose);
        if (k == 0 || worse(one, worst)) worst = one;
    }
    return worst;
}

template <Scalar S>
std::optional<RefineReport> LuNumbers<S>::solve_on_gpu(Factors& factors, DeviceSpan<const S> b, DeviceSpan<S> x,
                                                       Transpose transpose)
{
    if (!factors.on_gpu_) return std::nullopt;
    return gpu_->solve(*factors.gpu_, b, x, transpose);
}

#define ILUX_INSTANTIATE(S) template class LuNumbers<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
