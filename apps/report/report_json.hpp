#pragma once
// A finished solve as one JSON object, with the keys that other programs may rely on.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

/// The key `lu`, of a solve and of a whole sequence.
nlohmann::ordered_json lu_json(const LuFacts& lu);
/// What is estimated of the error of x; null where nothing is.
nlohmann::ordered_json error_json(const Accuracy& accuracy);

/// Keys as docs/design/apps.md lists them. Numbers that are not finite become null; times and sizes are those of the
/// attempt whose x is handed out, except seconds.read and seconds.total.
std::string json_report(const Run& run, const Problem& problem);

}  // namespace ilux::app
