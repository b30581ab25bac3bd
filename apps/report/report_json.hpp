#pragma once
// A finished solve as one JSON object, with the keys that other programs may rely on.

#include <string>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

/// Keys as docs/design/apps.md lists them. Numbers that are not finite become null; times and sizes are those of the
/// attempt whose x is handed out, except seconds.read and seconds.total.
std::string json_report(const Run& run, const ProblemFacts& problem);

}  // namespace ilux::app
