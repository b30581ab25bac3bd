#pragma once
// Rates of the machine at hand, measured.

#include <functional>
#include <string_view>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/engine/machine/rates.hpp"

namespace ilux {

/// Runs `work`, perhaps several times, and says how many seconds it takes. @param probe  its name
using ProbeClock = std::function<double(std::string_view probe, const std::function<void()>& work)>;

/// The fastest of three runs.
ProbeClock wall_clock_of_three();

/// The built-in rates, those of each engine times what a problem of the gallery takes over what they expect of it: an
/// LU by entries and by fronts, its order, Crout's sweep, rounds, and steps with their M, on one thread; fronts and
/// rounds on a GPU. A few seconds.
/// @param gpu  null: its rates stay as they are
Rates calibrated(const ProbeClock& seconds_of, Gpu* gpu = nullptr);

}  // namespace ilux
