#pragma once
// How often tests of what may race repeat themselves.

#include <cstdlib>

namespace ilux::test {

/// $ILUX_REPEATS, else 100.
inline int repeats()
{
    const char* given = std::getenv("ILUX_REPEATS");
    return given != nullptr ? std::atoi(given) : 100;
}

}  // namespace ilux::test
