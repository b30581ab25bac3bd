#include "ilux/direct/lu/gpu_lu.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/cpu.hpp"

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

GpuLuFactors::GpuLuFactors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const LuOptions& options)
    : numbers_(gpu, std::move(pattern), options.refactor, tuning_of(options))
{}

std::string_view GpuLuFactors::method() const { return numbers_.method(); }

void GpuLuFactors::download(Gpu& gpu, LuFactors<>& factors) const { numbers_.download(gpu, factors); }

GpuLuSolve& GpuLuFactors::solve(Gpu& gpu, Transpose transpose, bool filled)
{
    const std::size_t which = transpose != Transpose::no;  // of real numbers Aᴴ is Aᵀ
    auto&             solve = solve_[which];
    if (!solve) solve = std::make_unique<GpuLuSolve>(gpu, numbers_.pattern(), numbers_.slot_of(), transpose);
    if (filled && !filled_[which]) {
        solve->refill(gpu, numbers_.val());
        filled_[which] = true;
    }
    return *solve;
}

std::size_t GpuLuFactors::bytes() const
{
    std::size_t sum = numbers_.bytes();
    for (const auto& one : solve_) sum += one ? one->bytes() : 0;
    return sum;
}

GpuLu::GpuLu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic)
    : gpu_(gpu), copier_(gpu.device()), symbolic_(std::move(symbolic))
{
    const auto n = static_cast<std::size_t>(symbolic_->n), nnz = static_cast<std::size_t>(symbolic_->input_nnz);
    for (Values& one : values_) one = {HostBuffer<double>(nnz), DeviceBuffer<double>(nnz)};
    one_ = Vectors(n);
}

void GpuLu::upload_next()
{
    Values& next = values_[1 - slot_];
    enqueue_upload(copier_, next.host, next.device);
    next.uploaded = true;
}

void GpuLu::copy_next(DeviceSpan<const double> values)
{
    Values& next = values_[1 - slot_];
    copy(gpu_, values, next.device);
    enqueue_download(gpu_, next.device, next.host);
    gpu_.synchronize();
    next.uploaded = true;
}

void GpuLu::use_next()
{
    if (!values_[1 - slot_].uploaded) upload_next();
    copier_.synchronize();
    slot_ = 1 - slot_;
    values_[1 - slot_].uploaded = false;
}

PivotMonitor GpuLu::refactor(GpuLuFactors& factors)
{
    const double* const values = values_[slot_].device.data();
    factors.filled_ = {};
    if (factors.numbers_.makes_graphs()) {
        factors.numbers_.run(gpu_, values);
    } else {
        GpuGraph& graph = factors.refactor_graph_[slot_];
        if (!graph) graph = GpuGraph(gpu_, [&factors, values, this] { factors.numbers_.run(gpu_, values); });
        graph.launch(gpu_);
    }
    return factors.numbers_.monitor(gpu_);
}

GpuResidual& GpuLu::residual(Transpose transpose)
{
    auto& residual = residual_[transpose != Transpose::no];
    if (!residual) residual = std::make_unique<GpuResidual>(gpu_, *symbolic_, transpose);
    return *residual;
}

/// How many of `count` right-hand sides can be worked on together; there is room for them then.
std::size_t GpuLu::make_room(GpuLuSolve& solve, GpuResidual& residual, std::size_t count)
{
    const auto        n = static_cast<std::size_t>(symbolic_->n);
    const auto        together = std::min(count, most_together);
    const std::size_t vectors = several_.x.size() / n;
    const std::size_t now = std::min({vectors, std::size_t(solve.room()), std::size_t(residual.room())});
    if (together <= std::max(now, std::size_t{1})) return together;
    const std::size_t each = 4 * n * sizeof(double) + solve.room_bytes() + residual.room_bytes();
    const std::size_t fits = gpu_memory(gpu_.device()).free / 2 / each;
    const std::size_t room = std::max(now, std::min(together, fits));
    if (room <= 1) return 1;
    gpu_.make_current();
    if (vectors < room) several_ = Vectors(room * n);
    solve.make_room(gpu_, static_cast<Index>(room));
    residual.make_room(gpu_, static_cast<Index>(room));
    return room;
}

/// v.x are solutions for v.b; they reach v.host_x, for which this waits. @param measured  their residuals are v.r, and known; v.x
/// are in v.host_x
void GpuLu::refine(GpuLuSolve& solve, GpuResidual& residual, Vectors& v, bool measured, std::span<RefineReport> reports)
{
    const auto             n = static_cast<std::size_t>(symbolic_->n);
    const std::size_t      size = reports.size() * n;
    const auto             used = [&](DeviceBuffer<double>& of) { return DeviceSpan<double>(of).first(size); };
    const GpuRefineSystems all{used(v.b), used(v.x), used(v.r), used(v.d), n, static_cast<Index>(reports.size())};
    gpu_refine(
        gpu_, residual, values_[slot_].device.data(), all, measured, symbolic_->options, going_,
        [&](const double* r, double* d, Index count) { solve.run(gpu_, r, d, count); },
        [&](Index k, DeviceSpan<const double> x, const RefineReport& report) {
            const auto at = static_cast<std::size_t>(k);
            reports[at] = report;
            if (!measured || report.steps > 0) enqueue_download<double>(gpu_, x, v.host_x.span().subspan(at * n, n));
        });
    gpu_.synchronize();
}

GpuLu::Step GpuLu::refactor_and_solve(GpuLuFactors& factors, std::span<const double> b, std::span<double> x)
{
    Vectors& v = one_;
    std::ranges::copy(b, v.host_b.data());
    enqueue_upload(gpu_, v.host_b, v.b);
    GpuLuSolve&         solve = factors.solve(gpu_, Transpose::no, false);
    GpuResidual&        measure = residual(Transpose::no);
    const double* const values = values_[slot_].device.data();
    factors.filled_ = {};
    const auto enqueue = [&factors, &solve, &measure, &v, values, this] {
        factors.numbers_.run(gpu_, values);
        solve.refill(gpu_, factors.numbers_.val());
        solve.run(gpu_, v.b.data(), v.x.data());
        measure.run(gpu_, values, v.x.data(), v.b.data(), v.r.data());
        enqueue_download(gpu_, v.x, v.host_x);
    };
    if (factors.numbers_.makes_graphs()) {
        enqueue();
    } else {
        GpuGraph& graph = factors.step_graph_[slot_];
        if (!graph) graph = GpuGraph(gpu_, enqueue);
        graph.launch(gpu_);
    }
    factors.filled_ = {true, false};
    Step step;
    step.monitor = factors.numbers_.monitor(gpu_);
    if (step.monitor.bad_column >= 0) return step;
    refine(solve, measure, v, true, std::span(&step.refine, 1));
    std::ranges::copy(v.host_x.span(), x.begin());
    return step;
}

void GpuLu::solve(GpuLuFactors& factors, std::span<const double> b, std::span<double> x, Transpose transpose,
                  std::span<RefineReport> reports)
{
    if (reports.empty()) return;
    const auto        n = static_cast<std::size_t>(symbolic_->n);
    GpuLuSolve&       solve = factors.solve(gpu_, transpose);
    GpuResidual&      measure = residual(transpose);
    const std::size_t together = make_room(solve, measure, reports.size());
    for (std::size_t k = 0; k < reports.size(); k += together) {
        const std::size_t count = std::min(together, reports.size() - k), size = count * n;
        Vectors&          v = count == 1 ? one_ : several_;
        std::ranges::copy(b.subspan(k * n, size), v.host_b.data());
        enqueue_upload(gpu_, v.host_b.span().first(size), DeviceSpan<double>(v.b).first(size));
        solve.run(gpu_, v.b.data(), v.x.data(), static_cast<Index>(count));
        refine(solve, measure, v, false, reports.subspan(k, count));
        std::ranges::copy(v.host_x.span().first(size), x.subspan(k * n).begin());
    }
}

std::size_t GpuLu::bytes() const
{
    std::size_t sum = 4 * (one_.x.size() + several_.x.size());
    for (const Values& one : values_) sum += one.device.size();
    sum *= sizeof(double);
    for (const auto& one : residual_) sum += one ? one->bytes() : 0;
    return sum;
}

void GpuLuDeleter::operator()(GpuLu* lu) const noexcept { delete lu; }
void GpuLuDeleter::operator()(GpuLuFactors* factors) const noexcept { delete factors; }

GpuLuPtr make_gpu_lu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic)
{
    return GpuLuPtr(new GpuLu(gpu, std::move(symbolic)));
}

GpuLuFactorsPtr make_gpu_lu_factors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const LuOptions& options)
{
    return GpuLuFactorsPtr(new GpuLuFactors(gpu, std::move(pattern), options));
}

}  // namespace ilux
