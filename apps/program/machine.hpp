#pragma once
// What this machine and this build are, beyond ilux/engine/machine/host.hpp.

#include <string>

#include "ilux/engine/machine/host.hpp"

namespace ilux::app {

std::string compiler_name();
std::string build_commit();  ///< of the sources, "-dirty" when they differ from it; "" when unknown
                             ///< (cmake/commit.cmake)

}  // namespace ilux::app
