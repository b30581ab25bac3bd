// What Lu does where it has a GPU.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/lu/lu.hpp"

namespace ilux {
namespace {

constexpr const char* now_double = "; factors by these pivots are double from here on";

/// @param seen  of factors in single precision
std::string why_bad(const PivotMonitor& seen, const LuPattern& pattern)
{
    return fmt::format("row {}, column {} (counted from 1): {} in it{}", pattern.row_perm[seen.bad_column] + 1,
                       pattern.col_perm[seen.bad_column] + 1,
                       seen.not_finite ? "the numbers overflowed" : "the pivot is 0", now_double);
}

}  // namespace

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

LuPrecision Lu::precision() const
{
    const bool single = !pivots_.empty() && pivots_.front().on_gpu && in_single(pivots_.front());
    return single ? LuPrecision::in_single : LuPrecision::in_double;
}

bool Lu::in_single(const Pivots& pivots)
{
    return pivots.gpu && pivots.gpu->numbers().precision() == LuPrecision::in_single;
}

void Lu::note_double(std::string why)
{
    ++returns_to_double_;
    why_double_ = "lu.precision=single: " + std::move(why);
}

/// @param before  returns_to_double_ when the call that reports began
void Lu::tell_of_double(Index before, std::string& reason) const
{
    if (returns_to_double_ > before) reason = reason.empty() ? why_double_ : why_double_ + "; " + reason;
}

void Lu::plan_on_gpu(Pivots& pivots)
{
    const LuPrecision wanted = pivots.in_double ? LuPrecision::in_double : symbolic_->options.precision;
    pivots.gpu = std::make_unique<GpuLuFactors>(gpu_->gpu(), pivots.factors.pattern, symbolic_->options, wanted);
    if (pivots.gpu->numbers().precision() == wanted) return;
    pivots.in_double = true;
    note_double(fmt::format("auto takes method {} for these pivots, which stores factors in double",
                            pivots.gpu->numbers().method()));
}

/// What overflows or vanishes in single precision need not in double. @param seen  of factors in single
void Lu::plan_in_double(Pivots& pivots, const PivotMonitor& seen)
{
    pivots.in_double = true;
    pivots.gpu.reset();
    try {
        plan_on_gpu(pivots);
    } catch (const OutOfMemory&) {
        pivots.in_double = false;  // single may serve the next system
        throw;
    }
    note_double(why_bad(seen, *pivots.factors.pattern));
}

void Lu::refactor_on_gpu(Pivots& pivots)
{
    renew_on_gpu(pivots);
    if (pivots.factors.monitor.bad_column < 0 || !in_single(pivots) || !all_finite(values_)) return;
    plan_in_double(pivots, pivots.factors.monitor);
    renew_on_gpu(pivots);
}

void Lu::renew_on_gpu(Pivots& pivots)
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
    const PivotMonitor seen = gpu_->refactor(*pivots.gpu);
    pivots.on_gpu = seen.bad_column < 0;
    if (pivots.on_gpu || !in_single(pivots)) return;
    plan_in_double(pivots, seen);
    pivots.on_gpu = gpu_->refactor(*pivots.gpu).bad_column < 0;
}

/// Refactors the values at hand in double. What the device has now is brought to the host first, which solves with it where the
/// device cannot. @return whether the device has factors in double
bool Lu::return_to_double(Pivots& now, const RefineReport& reached, double tolerance)
{
    std::string why = reached.finite
                          ? fmt::format("componentwise backward error {:.1e} > {:.1e} after {} steps of refinement",
                                        reached.backward_error, tolerance, reached.steps)
                          : std::string("x or its residual was not finite");
    bring_to_host();
    now.on_gpu = false;
    now.in_double = true;
    now.gpu.reset();
    try {
        plan_on_gpu(now);
        const PivotMonitor monitor = gpu_->refactor(*now.gpu);
        now.on_gpu = monitor.bad_column < 0;
        if (now.on_gpu) {
            now.factors.monitor = monitor;
            now.on_host = false;
        }
        note_double(why + (now.on_gpu ? now_double : "; the host solves, as a pivot became 0 on the GPU"));
    } catch (const OutOfMemory& error) {
        now.in_double = false;  // single may serve the next system
        note_double(why + "; the host solves, as factors in double need more memory: " + error.what());
    }
    return now.on_gpu;
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

/// Where the device's measure is not good enough, factors in double are asked where those were single, and the host has the last
/// word.
LuSolveReport Lu::solve_on_gpu(std::span<const double> b, std::span<double> x, Transpose transpose, double tolerance)
{
    LuSolveReport report = begin_solve(b, x);
    const auto    n = static_cast<std::size_t>(symbolic_->n);
    const Index   before = returns_to_double_;
    Pivots&       now = pivots_.front();
    const bool    single = in_single(now);
    const auto    good = [&](const RefineReport& one) { return one.finite && one.backward_error <= tolerance; };
    reached_.resize(n == 0 ? 0 : b.size() / n);
    gpu_->solve(*now.gpu, b, x, transpose, reached_);
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        RefineReport& one = reached_[k];
        const auto    b_k = b.subspan(k * n, n);
        const auto    x_k = x.subspan(k * n, n);
        if (!good(one) && single && all_finite(b_k) && (!in_single(now) || return_to_double(now, one, tolerance)) &&
            now.on_gpu)
            gpu_->solve(*now.gpu, b_k, x_k, transpose, std::span(&one, 1));
        if (!good(one)) one = std::as_const(*this).solve(be_, b_k, x_k, ws_, transpose, tolerance).refine;
        if (k == 0 || worse(one, report.refine)) report.refine = one;
    }
    conclude(report, tolerance);
    tell_of_double(before, report.reason);
    return report;
}

LuStepReport Lu::refactor_and_solve(std::span<const double> values, std::span<const double> b, std::span<double> x,
                                    double tolerance)
{
    require_vectors(b, x);
    const WallClock clock;
    Passenger       passenger{b, x};
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
    step.seconds = clock.seconds();
    return step;
}

std::size_t Lu::device_bytes() const
{
    std::size_t sum = gpu_ ? gpu_->bytes() : 0;
    for (const Pivots& one : pivots_) sum += one.gpu ? one.gpu->bytes() : 0;
    return sum;
}

}  // namespace ilux
