#pragma once
// Several strategies of ours on one system, one after another in this process.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "ilux/solver/compare/measure_strategy.hpp"

namespace ilux {

/// A row for each strategy, on the CPU and, unless options.device is cpu, on a GPU where there is one; gpu: there
/// alone. options.time_limit holds for each. What fails is a row, too, with its reason in "detail".
/// @param names  of "direct", "iterative" and "auto", which is what `ilux solve` would choose on that device
/// @return an array of rows as strategy_row and measure_strategy have them
/// @throws InvalidOption for another name, and for options that contradict one another or the comparison; InvalidInput
/// for
///         sizes that do not fit; DeviceError where a GPU is asked for and there is none; Cancelled
template <Scalar S>
nlohmann::ordered_json compare(const SystemToMeasure<S>& system, std::span<const std::string> names);

}  // namespace ilux
