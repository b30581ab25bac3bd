#include "ilux/direct/factor/pivot_monitor.hpp"

#include <array>

namespace ilux {
namespace {

// l = fl(x / u) where |u| ≥ fl(tol |x|): two roundings carry it past 1 / tol by at most 2 ε.
constexpr double rounding = 1 + 4 * std::numeric_limits<double>::epsilon();

}  // namespace

PivotState judge(const PivotMonitor& monitor, const LuOptions& options)
{
    if (monitor.bad_column >= 0) return monitor.not_finite ? PivotState::not_finite : PivotState::zero_pivot;
    if (!(monitor.rgrowth * options.growth_limit >= 1)) return PivotState::large_growth;
    if (!(monitor.max_multiplier * options.pivot_tol <= rounding)) return PivotState::large_multiplier;
    return PivotState::good;
}

}  // namespace ilux
