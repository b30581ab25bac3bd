#include "ilux/solver/frequency_sweep.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/solver/frequencies.hpp"

namespace ilux {
namespace {

void add(const SolverReport& one, Index index, SweepReport& all)
{
    const Attempt& result = one.result();
    ++all.frequencies;
    ++all.actions[static_cast<std::size_t>(result.action)];
    if (one.converged()) {
        ++all.converged;
        all.worst_residual = std::max(all.worst_residual, result.report.relative_residual);
    } else if (all.first_failed < 0) {
        all.outcome = one.outcome();
        all.first_failed = index;
        all.detail = one.why();
    }
    for (const Attempt& tried : one.attempts) {
        all.steps += tried.report.steps;
        all.seconds_analyse += tried.seconds_analyse;
        all.seconds_factor += tried.seconds_factor;
        all.seconds_solve += tried.report.seconds.solve;
    }
}

}  // namespace

FrequencySweep::FrequencySweep(const CsrView<double>& G, const CsrView<double>& C, const SolverOptions& options)
    : options_(options), matrix_(G, C), solver_(options)
{}

void FrequencySweep::require_all(std::span<const double> frequencies, std::span<const Complex> b)
{
    const auto n = static_cast<std::size_t>(matrix_.A().rows());
    require(n > 0, [] { return std::string("G has no rows; there is nothing to solve"); });
    require_frequencies(frequencies);
    require(b.size() == n, [&] { return fmt::format("b has {} values, but G has {} rows", b.size(), n); });
    const auto bad = std::ranges::find_if(b, [](Complex value) { return !is_finite(value); });
    require(bad == b.end(), [&] { return fmt::format("b is not finite in row {} (counted from 0)", bad - b.begin()); });
    matrix_.set_frequency(*std::ranges::max_element(frequencies));  // what overflows does so there
}

SweepReport FrequencySweep::run(std::span<const double> frequencies, std::span<const Complex> b,
                                const SweepListener& each)
{
    require_all(frequencies, b);
    const WallClock clock;
    SweepReport     all;
    matrix_.set_frequency(frequencies.front());
    if (solver_.state() == SolverState::empty) {
        solver_.analyse(matrix_.A(), static_cast<double>(frequencies.size()));
        ++all.analyses;
    }
    std::vector<Complex> x(b.size());
    bool                 guess = false;  // whether x is one for the next frequency
    for (std::size_t k = 0; k < frequencies.size() && !(k > 0 && stop_.stopped()); ++k) {
        matrix_.set_frequency(frequencies[k]);
        if (!guess) std::ranges::fill(x, Complex(0));
        const SolverReport report = solver_.refactor_and_solve(matrix_.A().val(), b, x);
        const auto         index = static_cast<Index>(k);
        guess = options_.sequence.reuse_x && report.converged();
        add(report, index, all);
        if (each) each({.index = index, .frequency = frequencies[k], .x = x, .report = report});
    }
    all.seconds = clock.seconds();
    return all;
}

SweepReport FrequencySweep::run(std::span<const double> frequencies, std::span<const double> b,
                                const SweepListener& each)
{
    return run(frequencies, std::vector<Complex>(b.begin(), b.end()), each);
}

void FrequencySweep::stop_by(StopToken stop)
{
    stop_ = stop;
    solver_.stop_by(std::move(stop));
}

}  // namespace ilux
