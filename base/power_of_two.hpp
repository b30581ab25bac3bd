#pragma once
// Scale factors that round nothing.

#include <cmath>
#include <numbers>

#include "ilux/base/host_device.hpp"

namespace ilux {

/// The power of two whose ratio to x is nearest to 1. @param x  positive and finite, as √2 x
ILUX_HOST_DEVICE inline double nearest_power_of_two(double x) { return scalbn(1., ilogb(x * std::numbers::sqrt2)); }

}  // namespace ilux
