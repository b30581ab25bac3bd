#pragma once
// Numbers in JSON.

#include <cmath>
#include <nlohmann/json.hpp>

namespace ilux {

/// null where it is not finite, which JSON cannot hold.
inline nlohmann::ordered_json json_number(double value)
{
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace ilux
