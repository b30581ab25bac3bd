#include "ilux/direct/lu/gpu_lu.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// Vectors of A⁻ᴴ b = conj(A⁻ᵀ conj(b)) are conjugated on their way to and from the device.
template <Scalar S>
void copy_numbers(std::span<const S> from, S* to, Transpose transpose)
{
    if (!is_complex<S> || transpose != Transpose::adjoint) std::ranges::copy(from, to);
    else std::ranges::transform(from, to, [](S z) { return conj(z); });
}

}  // namespace

template <Scalar S>
GpuLu<S>::GpuLu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic)
    : gpu_(gpu), copier_(gpu.device()), symbolic_(std::move(symbolic))
{
    const auto n = static_cast<std::size_t>(symbolic_->n), nnz = static_cast<std::size_t>(symbolic_->input_nnz);
    for (Values& one : values_) one = {HostBuffer<S>(nnz), DeviceBuffer<S>(nnz)};
    one_ = Vectors(n);
}

template <Scalar S>
void GpuLu<S>::upload_next()
{
    Values& next = values_[1 - slot_];
    enqueue_upload(copier_, next.host, next.device);
    next.uploaded = true;
}

/// As bytes: a caller's complex numbers may stand on multiples of 8 bytes only.
template <Scalar S>
void GpuLu<S>::bring_next(DeviceSpan<const S> values)
{
    Values& next = values_[1 - slot_];
    detail::require_same_size(values.size(), next.device.size());
    detail::enqueue_copy(gpu_, values.data(), next.device.data(), values.size() * sizeof(S));
    next.uploaded = true;
}

template <Scalar S>
void GpuLu<S>::copy_next(DeviceSpan<const S> values)
{
    bring_next(values);
    Values& next = values_[1 - slot_];
    enqueue_download(gpu_, next.device, next.host);
    gpu_.synchronize();
}

template <Scalar S>
void GpuLu<S>::use_next()
{
    if (!values_[1 - slot_].uploaded) upload_next();
    copier_.synchronize();
    slot_ = 1 - slot_;
    values_[1 - slot_].uploaded = false;
}

template <Scalar S>
PivotMonitor GpuLu<S>::refactor(GpuLuFactors<S>& factors)
{
    const S* const values = values_[slot_].device.data();
    factors.filled_ = {};
    if (factors.makes_graphs()) {
        factors.run(gpu_, values);
    } else {
        GpuGraph& graph = factors.refactor_graph_[slot_];
        if (!graph) graph = GpuGraph(gpu_, [&factors, values, this] { factors.run(gpu_, values); });
        graph.launch(gpu_);
    }
    return factors.monitor(gpu_);
}

template <Scalar S>
GpuResidual<S>& GpuLu<S>::residual(Transpose transpose)
{
    auto& residual = residual_[transpose != Transpose::no];
    if (!residual) residual = std::make_unique<GpuResidual<S>>(gpu_, *symbolic_, transpose);
    return *residual;
}

/// How many of `count` right-hand sides can be worked on together; there is room for them then.
template <Scalar S>
std::size_t GpuLu<S>::make_room(GpuLuSubstitution<S>& solve, GpuResidual<S>& residual, std::size_t count)
{
    const auto        n = static_cast<std::size_t>(symbolic_->n);
    const auto        together = std::min(count, most_together);
    const std::size_t vectors = several_.x.size() / n;
    const std::size_t now = std::min({vectors, std::size_t(solve.room()), std::size_t(residual.room())});
    if (together <= std::max(now, std::size_t{1})) return together;
    const std::size_t each = 4 * n * sizeof(S) + solve.room_bytes() + residual.room_bytes();
    const std::size_t fits = gpu_memory(gpu_.device()).free / 2 / each;
    const std::size_t room = std::max(now, std::min(together, fits));
    if (room <= 1) return 1;
    gpu_.make_current();
    if (vectors < room) several_ = Vectors(room * n);
    solve.make_room(gpu_, static_cast<Index>(room));
    residual.make_room(gpu_, static_cast<Index>(room));
    return room;
}

/// v.x are solutions for v.b. @param measured  their residuals are v.r, and known
template <Scalar S>
template <class Finish>
void GpuLu<S>::refine(GpuLuSubstitution<S>& solve, GpuResidual<S>& residual, Vectors& v, bool measured,
                      std::size_t count, Finish&& finish)
{
    const auto                n = static_cast<std::size_t>(symbolic_->n);
    const auto                used = [&](DeviceBuffer<S>& of) { return DeviceSpan<S>(of).first(count * n); };
    const GpuRefineSystems<S> all{used(v.b), used(v.x), used(v.r), used(v.d), n, static_cast<Index>(count)};
    gpu_refine(
        gpu_, residual, std::as_const(values_[slot_].device).data(), all, measured, symbolic_->options, going_,
        [&](const S* r, S* d, Index together) { solve.run(gpu_, r, d, together); }, finish);
}

/// They reach v.host_x, for which this waits. @param measured  v.x are there, too
template <Scalar S>
void GpuLu<S>::refine(GpuLuSubstitution<S>& solve, GpuResidual<S>& residual, Vectors& v, bool measured,
                      std::span<RefineReport> reports)
{
    const auto n = static_cast<std::size_t>(symbolic_->n);
    refine(solve, residual, v, measured, reports.size(),
           [&](Index k, DeviceSpan<const S> x, const RefineReport& report) {
               const auto at = static_cast<std::size_t>(k);
               reports[at] = report;
               if (!measured || report.steps > 0) enqueue_download<S>(gpu_, x, v.host_x.span().subspan(at * n, n));
           });
    gpu_.synchronize();
}

template <Scalar S>
typename GpuLu<S>::Step GpuLu<S>::refactor_and_solve(GpuLuFactors<S>& factors, std::span<const S> b, std::span<S> x)
{
    Vectors& v = one_;
    std::ranges::copy(b, v.host_b.data());
    enqueue_upload(gpu_, v.host_b, v.b);
    GpuLuSubstitution<S>& solve = factors.solve(gpu_, Transpose::no, false);
    GpuResidual<S>&       measure = residual(Transpose::no);
    const S* const        values = values_[slot_].device.data();
    factors.filled_ = {};
    const auto enqueue = [&factors, &solve, &measure, &v, values, this] {
        factors.run(gpu_, values);
        solve.refill(gpu_);
        solve.run(gpu_, v.b.data(), v.x.data());
        measure.run(gpu_, values, v.x.data(), v.b.data(), v.r.data());
        enqueue_download(gpu_, v.x, v.host_x);
    };
    if (factors.makes_graphs()) {
        enqueue();
    } else {
        GpuGraph& graph = factors.step_graph_[slot_];
        if (!graph) graph = GpuGraph(gpu_, enqueue);
        graph.launch(gpu_);
    }
    factors.filled_ = {true, false};
    Step step;
    step.monitor = factors.monitor(gpu_);
    if (step.monitor.bad_column >= 0) return step;
    refine(solve, measure, v, true, std::span(&step.refine, 1));
    std::ranges::copy(v.host_x.span(), x.begin());
    return step;
}

template <Scalar S>
void GpuLu<S>::solve(GpuLuFactors<S>& factors, std::span<const S> b, std::span<S> x, Transpose transpose,
                     std::span<RefineReport> reports)
{
    if (reports.empty()) return;
    const auto            n = static_cast<std::size_t>(symbolic_->n);
    GpuLuSubstitution<S>& solve = factors.solve(gpu_, transpose);
    GpuResidual<S>&       measure = residual(transpose);
    const std::size_t     together = make_room(solve, measure, reports.size());
    for (std::size_t k = 0; k < reports.size(); k += together) {
        const std::size_t count = std::min(together, reports.size() - k), size = count * n;
        Vectors&          v = count == 1 ? one_ : several_;
        copy_numbers(b.subspan(k * n, size), v.host_b.data(), transpose);
        enqueue_upload(gpu_, v.host_b.span().first(size), DeviceSpan<S>(v.b).first(size));
        solve.run(gpu_, v.b.data(), v.x.data(), static_cast<Index>(count));
        refine(solve, measure, v, false, reports.subspan(k, count));
        copy_numbers<S>(v.host_x.span().first(size), x.data() + k * n, transpose);
    }
}

template <Scalar S>
RefineReport GpuLu<S>::solve(GpuLuFactors<S>& factors, DeviceSpan<const S> b, DeviceSpan<S> x, Transpose transpose)
{
    const bool            conjugated = transpose == Transpose::adjoint;
    Vectors&              v = one_;
    GpuLuSubstitution<S>& solve = factors.solve(gpu_, transpose);
    GpuResidual<S>&       measure = residual(transpose);
    RefineReport          reached;
    copy<S>(gpu_, b, v.b);
    if (conjugated) conjugate<S>(gpu_, v.b);
    solve.run(gpu_, v.b.data(), v.x.data());
    refine(solve, measure, v, false, 1, [&](Index, DeviceSpan<const S> best, const RefineReport& report) {
        reached = report;
        copy<S>(gpu_, best, x);
        if (conjugated) conjugate<S>(gpu_, x);
    });
    return reached;
}

template <Scalar S>
std::size_t GpuLu<S>::bytes() const
{
    std::size_t sum = 4 * (one_.x.size() + several_.x.size());
    for (const Values& one : values_) sum += one.device.size();
    sum *= sizeof(S);
    for (const auto& one : residual_) sum += one ? one->bytes() : 0;
    return sum;
}

template <Scalar S>
void GpuLuDeleter::operator()(GpuLu<S>* lu) const noexcept
{
    delete lu;
}

template <Scalar S>
void GpuLuDeleter::operator()(GpuLuFactors<S>* factors) const noexcept
{
    delete factors;
}

template <Scalar S>
GpuLuPtr<S> make_gpu_lu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic)
{
    return GpuLuPtr<S>(new GpuLu<S>(gpu, std::move(symbolic)));
}

template <Scalar S>
GpuLuFactorsPtr<S> make_gpu_lu_factors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern,
                                       std::shared_ptr<const FrontPlan> fronts, const LuOptions& options, Cpu host)
{
    return GpuLuFactorsPtr<S>(new GpuLuFactors<S>(gpu, std::move(pattern), std::move(fronts), options, host));
}

#define ILUX_INSTANTIATE(S)  \
    template class GpuLu<S>; \
    ILUX_GPU_LU_FUNCTIONS(S)
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
