#pragma once
// The option tree as JSON, both ways. Config files and the `options` key of a report are the same tree.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "ilux/apps/input/options.hpp"

namespace ilux::app {

/// Every option with its value; bytes as a number, values that JSON cannot hold (inf) as text.
nlohmann::ordered_json to_json(const SolveOptions& options);

/// Sets what the tree names and leaves the rest; nothing is changed when it throws.
/// @param file  named in messages
/// @throws InvalidOption for an unknown key (with its path and the nearest name), a key given twice or a bad value;
///         InvalidInput with line and column when the text is no JSON object
void read_config(SolveOptions& options, std::string_view text, std::string_view file);

/// @throws InvalidInput when the file cannot be read, or is larger than any config can be
void read_config_file(SolveOptions& options, const std::string& file);

}  // namespace ilux::app
