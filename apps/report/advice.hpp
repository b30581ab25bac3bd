#pragma once
// After a failure: what was measured, and what it suggests to try.

#include <string>
#include <vector>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

/// Most promising first, each with the option to give, and none that any of the tries has used; empty after a success.
std::vector<std::string> advice(const Run& run, const ProblemFacts& problem);

}  // namespace ilux::app
