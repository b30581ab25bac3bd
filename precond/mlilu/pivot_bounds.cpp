#include "ilux/precond/mlilu/pivot_bounds.hpp"

#include <limits>

#include "ilux/precond/mlilu/dense_level.hpp"

namespace ilux {

PivotBounds::Relief PivotBounds::relax(const SweepCounts& sweep)
{
    const bool stalled = static_cast<double>(sweep.postponed) > stalled_share * sweep.n;
    if (stalled && 2 * sweep.too_deep > sweep.postponed) {
        depth_ *= 2;
        return Relief::depth;
    }
    if (stalled && !lifted_ && doublings_ < most_doublings) {
        double_pivots();
        return Relief::pivots;
    }
    if (stalled && !lifted_ && sweep.accepted == 0 && sweep.n > DenseLevel<>::largest) {
        lift_pivots();
        return Relief::all;
    }
    end_level();
    return Relief::none;
}

void PivotBounds::double_pivots()
{
    if (doublings_++ == 0) {
        kappa_before_ = kappa_;
        gamma_before_ = gamma_;
    }
    kappa_ *= 2;
    gamma_ *= 2;
}

void PivotBounds::lift_pivots()
{
    lifted_ = true;
    kappa_ = std::numeric_limits<double>::max();
    gamma_ = 0;  // off
}

void PivotBounds::end_level()
{
    if (lifted_) {
        kappa_ = kappa_before_;
        gamma_ = gamma_before_;
    }
    lifted_ = false;
    doublings_ = 0;
}

}  // namespace ilux
