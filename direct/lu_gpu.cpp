// What Lu does where it has a GPU.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/direct/lu.hpp"

namespace ilux {

void Lu::use_gpu(Gpu& gpu)
{
    if (symbolic_->options.refactor == RefactorMethod::cpu) throw InvalidOption("refactor cpu: not a method of a GPU");
    auto on_device = std::make_unique<GpuLu>(gpu, symbolic_);
    detail::copy_in_parallel(on_device->next().data(), values_.data(), values_.size_bytes());
    on_device->use_next();
    values_ = on_device->current();
    gpu_ = std::move(on_device);
    own_values_ = {};
    for (Pivots& one : pivots_) one.refactor.reset();
}

std::string_view Lu::refactor_method() const
{
    if (!gpu_) return "cpu";
    return pivots_.empty() || !pivots_.front().gpu ? "none" : pivots_.front().gpu->numbers().method();
}

std::span<double> Lu::next_values() { return gpu_ ? gpu_->next() : std::span<double>(own_values_); }

void Lu::upload_next()
{
    if (gpu_) gpu_->upload_next();
}

/// Makes them values_.
void Lu::take(std::span<const double> values)
{
    const std::span<double> next = next_values();
    if (values.data() != next.data()) {
        if (gpu_) detail::copy_in_parallel(next.data(), values.data(), values.size_bytes());
        else std::ranges::copy(values, next.begin());
    }
    if (!gpu_) return;
    gpu_->use_next();
    values_ = gpu_->current();
}

LuReport Lu::refactor_or_factor(DeviceSpan<const double> values)
{
    require(gpu_ != nullptr, [] { return "refactor_or_factor: values of a GPU, and none is in use"; });
    require(values.size() == values_.size(), [&] {
        return std::to_string(values.size()) + " values for a pattern of " + std::to_string(values_.size()) +
               " entries";
    });
    gpu_->copy_next(values);
    return run(Call::refactor_or_factor, gpu_->next());
}

void Lu::refactor_on_gpu(Pivots& pivots)
{
    pivots.on_gpu = true;
    pivots.on_host = false;
    if (!passenger_) {
        pivots.factors.monitor = gpu_->refactor(*pivots.gpu);
        return;
    }
    const GpuLu::Step step = gpu_->refactor_and_solve(*pivots.gpu, passenger_->b, passenger_->x);
    pivots.factors.monitor = step.monitor;
    passenger_->arrived.reset();
    if (step.monitor.bad_column < 0) passenger_->arrived = step.refine;
}

/// The numbers of pivots just chosen on the host. Those stay in use where rounding in another order makes a pivot 0.
void Lu::move_to_gpu(Pivots& pivots)
{
    if (passenger_) passenger_->arrived.reset();
    pivots.on_gpu = gpu_->refactor(*pivots.gpu).bad_column < 0;
}

void Lu::bring_to_host() const
{
    const Pivots& now = pivots_.front();
    if (now.on_host) return;
    now.gpu->numbers().download(gpu_->gpu(), now.factors);
    now.on_host = true;
}

const PivotMonitor& Lu::monitor() const
{
    require(outcome_ == Outcome::converged, [] { return "monitor: the last values could not be factored"; });
    return pivots_.front().factors.monitor;
}

/// Where the device's measure is not good enough, the host has the last word.
LuSolveReport Lu::solve_on_gpu(std::span<const double> b, std::span<double> x, Transpose transpose, double tolerance)
{
    LuSolveReport report = begin_solve(b, x);
    const auto    n = static_cast<std::size_t>(symbolic_->n);
    for (std::size_t at = 0; at < b.size(); at += n) {
        const RefineReport one = gpu_->solve(*pivots_.front().gpu, b.subspan(at, n), x.subspan(at, n), transpose);
        if (at == 0 || worse(one, report.refine)) report.refine = one;
    }
    conclude(report, tolerance);
    if (report.outcome == Outcome::converged) return report;
    return std::as_const(*this).solve(be_, b, x, ws_, transpose, tolerance);
}

LuStepReport Lu::refactor_and_solve(std::span<const double> values, std::span<const double> b, std::span<double> x,
                                    double tolerance)
{
    require_vectors(b, x);
    const auto start = std::chrono::steady_clock::now();
    Passenger  passenger{b, x};
    struct Ride {
        Passenger*& seat;
        ~Ride() { seat = nullptr; }
    };
    LuStepReport step;
    {
        const Ride ride{passenger_};
        if (gpu_ && b.size() == static_cast<std::size_t>(symbolic_->n)) passenger_ = &passenger;
        step.factors = run(Call::refactor_or_factor, values);
    }
    step.solution = begin_solve(b, x);
    if (step.solution.outcome == Outcome::converged) {
        if (passenger.arrived) {
            step.solution.refine = *passenger.arrived;
            conclude(step.solution, tolerance);
        }
        if (!passenger.arrived || step.solution.outcome != Outcome::converged)
            step.solution = solve(b, x, Transpose::no, tolerance);
    }
    step.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return step;
}

std::size_t Lu::device_bytes() const
{
    std::size_t sum = gpu_ ? gpu_->bytes() : 0;
    for (const Pivots& one : pivots_) sum += one.gpu ? one.gpu->bytes() : 0;
    return sum;
}

}  // namespace ilux
