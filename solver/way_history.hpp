#pragma once
// What either way has cost in this very series, and when that is a reason to change.

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "ilux/solver/forecast.hpp"

namespace ilux {

/// One way through the systems so far.
struct WayRecord {
    double seconds =
        std::numeric_limits<double>::quiet_NaN();  ///< a system; later ones count more; the first, with its setup, not
    bool set_up = false;                           ///< it has factors of an earlier system

    bool measured() const { return !std::isnan(seconds); }
    void add(double seconds_of_one)
    {
        if (std::exchange(set_up, true)) seconds = measured() ? (seconds + seconds_of_one) / 2 : seconds_of_one;
    }
};

/// The way not taken at present, which would have to be set up.
struct OtherWay {
    std::string_view        name;  ///< direct or iterative
    const WayRecord*        record = nullptr;
    std::optional<Forecast> forecast;  ///< nothing: unknown
};

/// Why the rest of the series should go the other way, with the figures; or "". Measured seconds beat forecasts, and a
/// forecast must promise half the seconds, a measurement a fifth less.
/// @param left  systems to come
std::string reason_to_change(const WayRecord& now, std::string_view name, const OtherWay& other, double left);

}  // namespace ilux
