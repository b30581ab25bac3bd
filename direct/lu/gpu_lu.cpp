#include "ilux/direct/lu/gpu_lu.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/gpu_entry_refactor.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_refactor.hpp"

namespace ilux {
namespace {

/// Vectors of A⁻ᴴ b = conj(A⁻ᵀ conj(b)) are conjugated on their way to and from the device.
template <Scalar S>
void copy_numbers(std::span<const S> from, S* to, Transpose transpose)
{
    if (!is_complex<S> || transpose != Transpose::adjoint) std::ranges::copy(from, to);
    else std::ranges::transform(from, to, [](S z) { return conj(z); });
}

template <Scalar S>
std::unique_ptr<GpuRefactor<S>> renewal(Gpu& gpu, const LuFactors<S>& chosen, const Cpu& host)
{
    if (chosen.fronts) return std::make_unique<GpuFrontRefactor<S>>(gpu, chosen.fronts, chosen.pattern);
    return std::make_unique<GpuEntryRefactor<S>>(gpu, chosen.pattern, chosen.symbolic->options, host);
}

}  // namespace

template <Scalar S>
GpuLuWorkspace<S>::GpuLuWorkspace(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic)
    : gpu_(gpu), symbolic_(std::move(symbolic)), one_(static_cast<std::size_t>(symbolic_->n))
{}

template <Scalar S>
std::unique_ptr<LuFactored<S>> GpuLuWorkspace<S>::hold(LuFactors<S>& chosen, const Cpu& host)
{
    return std::make_unique<GpuLu<S>>(*this, chosen, host);
}

template <Scalar S>
std::size_t GpuLuWorkspace<S>::bytes() const
{
    std::size_t sum = 4 * (one_.x.size() + several_.x.size()) * sizeof(S);
    for (const auto& one : residual_) sum += one ? one->bytes() : 0;
    return sum;
}

template <Scalar S>
GpuResidual<S>& GpuLuWorkspace<S>::residual(Transpose transpose)
{
    auto& residual = residual_[transpose != Transpose::no];
    if (!residual) residual = std::make_unique<GpuResidual<S>>(gpu_, *symbolic_, transpose);
    return *residual;
}

template <Scalar S>
std::size_t GpuLuWorkspace<S>::make_room(GpuSubstitution<S>& solve, GpuResidual<S>& residual, std::size_t count)
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
    if (vectors < room) several_ = GpuLuVectors<S>(room * n);
    solve.make_room(gpu_, static_cast<Index>(room));
    residual.make_room(gpu_, static_cast<Index>(room));
    return room;
}

template <Scalar S>
template <class Finish>
void GpuLuWorkspace<S>::refine(GpuSubstitution<S>& solve, GpuResidual<S>& residual, const S* values, bool measured,
                               std::size_t count, Finish&& finish)
{
    const auto                n = static_cast<std::size_t>(symbolic_->n);
    GpuLuVectors<S>&          v = vectors(count);
    const auto                used = [&](DeviceBuffer<S>& of) { return DeviceSpan<S>(of).first(count * n); };
    const GpuRefineSystems<S> all{used(v.b), used(v.x), used(v.r), used(v.d), n, static_cast<Index>(count)};
    const auto                correct = [&](const S* r, S* d, Index together) { solve.run(gpu_, r, d, together); };
    gpu_refine(gpu_, residual, values, all, measured, symbolic_->options, going_, correct, finish);
}

template <Scalar S>
void GpuLuWorkspace<S>::refine_for_host(GpuSubstitution<S>& solve, GpuResidual<S>& residual, const S* values,
                                        bool measured, std::span<RefineReport> reports)
{
    const auto       n = static_cast<std::size_t>(symbolic_->n);
    GpuLuVectors<S>& v = vectors(reports.size());
    refine(solve, residual, values, measured, reports.size(),
           [&](Index k, DeviceSpan<const S> x, const RefineReport& report) {
               const auto at = static_cast<std::size_t>(k);
               reports[at] = report;
               if (!measured || report.steps > 0) enqueue_download<S>(gpu_, x, v.host_x.span().subspan(at * n, n));
           });
    gpu_.synchronize();
}

template <Scalar S>
GpuLu<S>::GpuLu(GpuLuWorkspace<S>& ws, LuFactors<S>& chosen, const Cpu& host)
    : LuFactored<S>({}), ws_(ws), numbers_(renewal<S>(ws.gpu(), chosen, host))
{
    this->host_ = std::move(chosen);
}

template <Scalar S>
std::size_t GpuLu<S>::device_bytes() const
{
    std::size_t sum = numbers_->bytes();
    for (const auto& one : solve_) sum += one ? one->bytes() : 0;
    return sum;
}

/// @param graph  of that, made when it is first needed
template <Scalar S>
template <class Enqueue>
void GpuLu<S>::launch(GpuGraph& graph, const Enqueue& enqueue)
{
    filled_ = {};
    if (numbers_->makes_graphs()) return enqueue();
    if (!graph) graph = GpuGraph(ws_.gpu(), enqueue);
    graph.launch(ws_.gpu());
}

template <Scalar S>
PivotMonitor GpuLu<S>::run(const SystemValues<S>& values)
{
    Gpu&           gpu = ws_.gpu();
    const S* const there = values.there().data();
    launch(refactor_graph_[values.slot()], [&gpu, there, this] { numbers_->run(gpu, there); });
    return numbers_->monitor(gpu);
}

template <Scalar S>
void GpuLu<S>::refactor(const SystemValues<S>& values, const StopToken&)
{
    on_gpu_ = true;
    on_host_ = false;
    this->host_.monitor = run(values);
}

template <Scalar S>
void GpuLu<S>::settle(const SystemValues<S>& values)
{
    on_gpu_ = run(values).bad_column < 0;
}

template <Scalar S>
GpuSubstitution<S>& GpuLu<S>::substitution(Transpose transpose, bool filled)
{
    const std::size_t which = transpose != Transpose::no;  // conjugating is the caller's
    auto&             solve = solve_[which];
    if (!solve) solve = numbers_->substitution(ws_.gpu(), which == 1);
    if (filled && !filled_[which]) solve->refill(ws_.gpu());
    filled_[which] |= filled;
    return *solve;
}

template <Scalar S>
std::optional<RefineReport> GpuLu<S>::refactor_and_solve(const SystemValues<S>& values, std::span<const S> b,
                                                         std::span<S> x, const StopToken&)
{
    on_gpu_ = true;
    on_host_ = false;
    Gpu&             gpu = ws_.gpu();
    GpuLuVectors<S>& v = ws_.vectors(1);
    std::ranges::copy(b, v.host_b.data());
    enqueue_upload(gpu, v.host_b, v.b);
    GpuSubstitution<S>& solve = substitution(Transpose::no, false);
    GpuResidual<S>&     measure = ws_.residual(Transpose::no);
    const S* const      there = values.there().data();
    launch(step_graph_[values.slot()], [&gpu, &solve, &measure, &v, there, this] {
        numbers_->run(gpu, there);
        solve.refill(gpu);
        solve.run(gpu, v.b.data(), v.x.data());
        measure.run(gpu, there, v.x.data(), v.b.data(), v.r.data());
        enqueue_download(gpu, v.x, v.host_x);
    });
    filled_ = {true, false};
    this->host_.monitor = numbers_->monitor(gpu);
    if (this->host_.monitor.bad_column >= 0) return std::nullopt;
    RefineReport reached;
    ws_.refine_for_host(solve, measure, there, true, std::span(&reached, 1));
    std::ranges::copy(v.host_x.span(), x.begin());
    return reached;
}

/// What each reached is in reached_.
template <Scalar S>
void GpuLu<S>::solve_there(const SystemValues<S>& values, std::span<const S> b, std::span<S> x, Transpose transpose)
{
    Gpu&                gpu = ws_.gpu();
    const std::size_t   n = static_cast<std::size_t>(this->pattern().n), all = reached_.size();
    GpuSubstitution<S>& solve = substitution(transpose);
    GpuResidual<S>&     measure = ws_.residual(transpose);
    const std::size_t   together = ws_.make_room(solve, measure, all);
    for (std::size_t k = 0; k < all; k += together) {
        const std::size_t count = std::min(together, all - k), size = count * n;
        GpuLuVectors<S>&  v = ws_.vectors(count);
        copy_numbers(b.subspan(k * n, size), v.host_b.data(), transpose);
        enqueue_upload(gpu, v.host_b.span().first(size), DeviceSpan<S>(v.b).first(size));
        solve.run(gpu, v.b.data(), v.x.data(), static_cast<Index>(count));
        ws_.refine_for_host(solve, measure, values.there().data(), false, std::span(reached_).subspan(k, count));
        copy_numbers<S>(v.host_x.span().first(size), x.data() + k * n, transpose);
    }
}

template <Scalar S>
RefineReport GpuLu<S>::solve(const LuHost<S>& host, const SystemValues<S>& values, std::span<const S> b, std::span<S> x,
                             Transpose transpose, double tolerance)
{
    const auto by_the_host = [&](std::span<const S> of, std::span<S> to) {
        return lu_solve_refined<S>(host.be, on_host(), matrix_of(*this->host_.symbolic, values), of, to, host.ws,
                                   transpose);
    };
    if (!on_gpu_) return by_the_host(b, x);
    const auto n = static_cast<std::size_t>(this->pattern().n);
    reached_.resize(n == 0 ? 0 : b.size() / n);
    if (!reached_.empty()) solve_there(values, b, x, transpose);
    RefineReport worst;
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        RefineReport& one = reached_[k];
        if (!one.finite || !(one.backward_error <= tolerance))
            one = by_the_host(b.subspan(k * n, n), x.subspan(k * n, n));
        if (k == 0 || worse(one, worst)) worst = one;
    }
    return worst;
}

template <Scalar S>
std::optional<RefineReport> GpuLu<S>::solve(const SystemValues<S>& values, DeviceSpan<const S> b, DeviceSpan<S> x,
                                            Transpose transpose)
{
    if (!on_gpu_) return std::nullopt;
    const bool          conjugated = transpose == Transpose::adjoint;
    Gpu&                gpu = ws_.gpu();
    GpuLuVectors<S>&    v = ws_.vectors(1);
    GpuSubstitution<S>& solve = substitution(transpose);
    RefineReport        reached;
    copy<S>(gpu, b, v.b);
    if (conjugated) conjugate<S>(gpu, v.b);
    solve.run(gpu, v.b.data(), v.x.data());
    ws_.refine(solve, ws_.residual(transpose), values.there().data(), false, 1,
               [&](Index, DeviceSpan<const S> best, const RefineReport& report) {
                   reached = report;
                   copy<S>(gpu, best, x);
                   if (conjugated) conjugate<S>(gpu, x);
               });
    return reached;
}

template <Scalar S>
const LuFactors<S>& GpuLu<S>::on_host() const
{
    if (on_host_) return this->host_;  // writes nothing: several threads may be here
    numbers_->download(ws_.gpu(), this->host_);
    on_host_ = true;
    return this->host_;
}

template <Scalar S>
std::unique_ptr<LuDevice<S>> make_lu_device(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic)
{
    return std::make_unique<GpuLuWorkspace<S>>(gpu, std::move(symbolic));
}

#define ILUX_INSTANTIATE(S)           \
    template class GpuLuWorkspace<S>; \
    template class GpuLu<S>;          \
    template std::unique_ptr<LuDevice<S>> make_lu_device(Gpu&, std::shared_ptr<const LuSymbolic>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
