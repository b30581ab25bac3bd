// Lu for values and vectors that are in the memory of the GPU in use.

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/lu.hpp"

namespace ilux {

template <Scalar S>
LuReport Lu<S>::refactor_or_factor(DeviceSpan<const S> values)
{
    numbers_.copy_next(values);
    return run(Call::refactor_or_factor, numbers_.next_values()).report;
}

template <Scalar S>
LuReport Lu<S>::refactor_or_factor(std::span<const S> values, DeviceSpan<const S> there)
{
    require(on_gpu() && there.size() == values.size(), [&] {
        return fmt::format("refactor_or_factor: {} values, and {} on the GPU in use", values.size(), there.size());
    });
    return run(Call::refactor_or_factor, values, nullptr, there).report;
}

template <Scalar S>
std::optional<LuSolveReport> Lu<S>::solve_on_gpu(DeviceSpan<const S> b, DeviceSpan<S> x, Transpose transpose,
                                                 double tolerance)
{
    const auto n = static_cast<std::size_t>(symbolic_->n);
    require(b.size() == n && x.size() == n,
            [&] { return fmt::format("solve: b has {} and x {} entries; expected n = {}", b.size(), x.size(), n); });
    if (outcome_ != Outcome::converged || n == 0) return std::nullopt;
    const auto refined = numbers_.solve_on_gpu(pivots_.front().factors, b, x, transpose);
    if (!refined) return std::nullopt;
    LuSolveReport report{.outcome = Outcome::converged, .refine = *refined};
    conclude(report, tolerance);
    return report.outcome == Outcome::converged ? std::optional(report) : std::nullopt;
}

#define ILUX_INSTANTIATE(S)                                                                                   \
    template LuReport                     Lu<S>::refactor_or_factor(DeviceSpan<const S>);                     \
    template LuReport                     Lu<S>::refactor_or_factor(std::span<const S>, DeviceSpan<const S>); \
    template std::optional<LuSolveReport> Lu<S>::solve_on_gpu(DeviceSpan<const S>, DeviceSpan<S>, Transpose, double);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
