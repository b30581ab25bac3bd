#include "ilux/apps/program/machine.hpp"

namespace ilux::app {

std::string compiler_name()
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

}  // namespace ilux::app
