#pragma once
// The options of a LinearSolver as JSON, both ways.

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "ilux/engine/machine/options.hpp"

namespace ilux {

/// Every option with its value; bytes as a number, values that JSON cannot hold (inf) as text.
nlohmann::ordered_json to_json(const SolverOptions& options);

/// Sets what the tree names and leaves the rest; nothing is changed when it throws.
/// @param file  where the text is from, named in messages
/// @throws InvalidOption for an unknown key (with its path and the nearest name), a key given twice or a bad value;
///         InvalidInput with line and column when the text is no JSON object
void read_options(SolverOptions& options, std::string_view text, std::string_view file);

}  // namespace ilux
