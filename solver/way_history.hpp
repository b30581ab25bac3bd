#pragma once
// What either way has cost in this very series, and when that is a reason to change.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "ilux/solver/forecast.hpp"

namespace ilux {

/// After failures in a row of something that need not be tried: none for 1, 2, 4, … systems.
class Pause {
public:
    /// Counts a system. @return whether it is to be tried for that one
    bool try_next() { return left_ == 0 || left_-- == 0; }
    void after_success() { left_ = 0, next_ = 1; }
    void after_failure()
    {
        if (left_ > 0) return;  // it was tried for want of anything else
        left_ = next_;
        next_ *= 2;
    }

private:
    std::int64_t left_ = 0, next_ = 1;  // systems
};

/// One way through the systems so far.
struct WayRecord {
    double seconds =
        std::numeric_limits<double>::quiet_NaN();  ///< a system; later ones count more; the first, with its setup, not
    bool  set_up = false;                          ///< it has factors of an earlier system
    Pause pause;                                   ///< since the other way had to solve what this one could not

    bool measured() const { return !std::isnan(seconds); }
    void add(double seconds_of_one)
    {
        if (!std::exchange(set_up, true)) return;
        seconds = measured() ? (seconds + seconds_of_one) / 2 : seconds_of_one;
        pause.after_success();
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
