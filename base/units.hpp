#pragma once
// Numbers as people read them.

#include <fmt/core.h>

#include <cmath>
#include <string>

namespace ilux {

/// 1.5 MB and the like; a kilobyte is 1024 bytes.
inline std::string bytes_text(double bytes)
{
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int                   unit = 0;
    for (; bytes >= 999.5 && unit < 5; ++unit) bytes /= 1024;
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

/// 1.23e-08, or that it is none.
inline std::string error_text(double value)
{
    return std::isfinite(value) ? fmt::format("{:.2e}", value) : "not finite";
}

/// Seconds with three digits: 0.00123 s, 12.3 s, 456 s.
inline std::string seconds_text(double seconds)
{
    return seconds < 0.0005   ? "<1 ms"
           : seconds < 0.9995 ? fmt::format("{:.0f} ms", 1000 * seconds)
                              : fmt::format("{:.3g} s", seconds);
}

/// Seconds of short phases: 12 µs, 3.45 ms, 12.3 s.
inline std::string time_text(double seconds)
{
    return seconds < 1e-3 ? fmt::format("{:.0f} µs", 1e6 * seconds)
           : seconds < 1  ? fmt::format("{:.3g} ms", 1e3 * seconds)
                          : fmt::format("{:.3g} s", seconds);
}

}  // namespace ilux
