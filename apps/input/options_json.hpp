#pragma once
// The option tree of the command line as JSON, both ways. Config files and the `options` key of a report are the same
// tree.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "ilux/apps/input/options.hpp"

namespace ilux::app {

/// The options as solver/json/options_json.hpp has them, with `rhs`.
nlohmann::ordered_json to_json(const SolveOptions& options);
/// Reads options as read_options() does. @param file  named in messages
void read_config(SolveOptions& options, std::string_view text, std::string_view file);

/// @throws as read_config; InvalidInput also when the file cannot be read, or is larger than any config can be
void read_config_file(SolveOptions& options, const std::string& file);

}  // namespace ilux::app
