#pragma once
// The parameters of the performance model as JSON, both ways.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "ilux/lab/model/perf_model.hpp"

namespace ilux::app {

/// Every number by its name; tables as arrays in the order of DeviceParameters::transactions, miss by working sets.
nlohmann::ordered_json to_json(const DeviceParameters& parameters);

/// Reads that back: the object itself, or any with the key `parameters`, as reports have it; the first line that has
/// one.
/// @param name  of the file, in messages
/// @throws InvalidInput for what is no such object, an unknown or missing number, a table of another length, and as
///         require_sensible
DeviceParameters parse_device_parameters(std::string_view text, std::string_view name);

}  // namespace ilux::app
