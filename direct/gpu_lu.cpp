#include "ilux/direct/gpu_lu.hpp"

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

GpuLuSolve& GpuLuFactors::solve(Gpu& gpu, Transpose transpose, bool filled)
{
    const std::size_t which = transpose == Transpose::yes;
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
    for (auto* host : {&host_b_, &host_x_}) *host = HostBuffer<double>(n);
    for (auto* device : {&b_, &x_, &r_, &d_}) *device = DeviceBuffer<double>(n);
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
    auto& residual = residual_[transpose == Transpose::yes];
    if (!residual) residual = std::make_unique<GpuResidual>(gpu_, *symbolic_, transpose);
    return *residual;
}

/// x_ is a solution for b_. @param measured  its residual is r_, and known
RefineReport GpuLu::refine(GpuLuFactors& factors, Transpose transpose, bool measured)
{
    GpuLuSolve& solve = factors.solve(gpu_, transpose);
    return gpu_refine(gpu_, residual(transpose), values_[slot_].device.data(), b_, x_, r_, d_, measured,
                      symbolic_->options, [&](const double* r, double* d) { solve.run(gpu_, r, d); });
}

void GpuLu::take_x(std::span<double> x)
{
    enqueue_download(gpu_, x_, host_x_);
    gpu_.synchronize();
    std::ranges::copy(host_x_.span(), x.begin());
}

GpuLu::Step GpuLu::refactor_and_solve(GpuLuFactors& factors, std::span<const double> b, std::span<double> x)
{
    std::ranges::copy(b, host_b_.data());
    enqueue_upload(gpu_, host_b_, b_);
    GpuLuSolve&         solve = factors.solve(gpu_, Transpose::no, false);
    GpuResidual&        measure = residual(Transpose::no);
    const double* const values = values_[slot_].device.data();
    factors.filled_ = {};
    const auto enqueue = [&factors, &solve, &measure, values, this] {
        factors.numbers_.run(gpu_, values);
        solve.refill(gpu_, factors.numbers_.val());
        solve.run(gpu_, b_.data(), x_.data());
        measure.run(gpu_, values, x_.data(), b_.data(), r_.data());
        enqueue_download(gpu_, x_, host_x_);
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
    step.refine = refine(factors, Transpose::no, true);
    if (step.refine.steps == 0) std::ranges::copy(host_x_.span(), x.begin());
    else take_x(x);
    return step;
}

RefineReport GpuLu::solve(GpuLuFactors& factors, std::span<const double> b, std::span<double> x, Transpose transpose)
{
    std::ranges::copy(b, host_b_.data());
    enqueue_upload(gpu_, host_b_, b_);
    factors.solve(gpu_, transpose).run(gpu_, b_.data(), x_.data());
    const RefineReport report = refine(factors, transpose, false);
    take_x(x);
    return report;
}

std::size_t GpuLu::bytes() const
{
    std::size_t sum = b_.size() + x_.size() + r_.size() + d_.size();
    for (const Values& one : values_) sum += one.device.size();
    sum *= sizeof(double);
    for (const auto& one : residual_) sum += one ? one->bytes() : 0;
    return sum;
}

}  // namespace ilux
