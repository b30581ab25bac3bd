#pragma once
// Numbers as people read them.

#include <fmt/core.h>

#include <string>

namespace ilux::app {

/// 1.5 MB and the like; a kilobyte is 1024 bytes.
inline std::string bytes_text(double bytes)
{
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int                   unit = 0;
    for (; bytes >= 999.5 && unit < 5; ++unit) bytes /= 1024;
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

/// Seconds with three digits: 0.00123 s, 12.3 s, 456 s.
inline std::string seconds_text(double seconds)
{
    return seconds < 0.0005   ? "<1 ms"
           : seconds < 0.9995 ? fmt::format("{:.0f} ms", 1000 * seconds)
                              : fmt::format("{:.3g} s", seconds);
}

}  // namespace ilux::app
