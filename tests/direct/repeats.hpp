#pragma once
// How often tests of what may race repeat themselves.

#include <cstdlib>

namespace ilux::test {

/// $ILUX_REPEATS, else `usual`.
inline int repeats(int usual = 100)
{
    const char* given = std::getenv("ILUX_REPEATS");
    return given != nullptr ? std::atoi(given) : usual;
}

}  // namespace ilux::test
