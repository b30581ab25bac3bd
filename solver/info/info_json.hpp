#pragma once
// What is seen of a matrix, as JSON with the keys that other programs may rely on.

#include <nlohmann/json_fwd.hpp>

#include "ilux/solver/info/matrix_info.hpp"

namespace ilux {

/// Keys as docs/design/apps.md lists them, but those that only the program knows.
nlohmann::ordered_json to_json(const MatrixInfo& info);

/// Powers of ten from the smallest value ≠ 0 to the largest.
double decades(const MatrixInfo& info);

}  // namespace ilux
