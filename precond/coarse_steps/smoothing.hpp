#pragma once
// What a row of A is smoothed by, on a Gpu as on a Cpu.

#include "ilux/base/host_device.hpp"

namespace ilux {

constexpr double smoothing = 0.66;  ///< ω

/// |ω / d̂_i| where d̂ is d_i, but at least half of the row's sum; 0 for an empty row.
ILUX_HOST_DEVICE inline double smoothing_step(double diagonal, double row_sum)
{
    const double least = diagonal > row_sum / 2 ? diagonal : row_sum / 2;
    return least > 0 ? smoothing / least : 0;
}

}  // namespace ilux
