#include "ilux/solver/way_history.hpp"

#include <fmt/core.h>

#include "ilux/base/units.hpp"

namespace ilux {

std::string reason_to_change(const WayRecord& now, std::string_view name, const OtherWay& other, double left)
{
    constexpr double by_forecast = 0.5, by_measurement = 0.8;
    constexpr double least = 1e-3;  // s; below, measurements are noise, and there is nothing to gain
    const bool       measured = other.record->measured();
    if (!now.measured() || now.seconds < least || (!measured && !other.forecast)) return "";
    const double each = measured ? other.record->seconds : other.forecast->each();
    const double setup = other.forecast ? other.forecast->analyse + other.forecast->factor : 0;
    const double stay = left * now.seconds, change = left * each + setup;
    if (change >= (measured ? by_measurement : by_forecast) * stay) return "";
    return fmt::format(
        "{}: the {} way took {} a system as measured, this one {} {}{}, and about {:g} systems are to come", other.name,
        name, time_text(now.seconds), measured ? "took" : "is expected to take", time_text(each),
        setup > 0 ? fmt::format(" after {} of setup", time_text(setup)) : "", left);
}

}  // namespace ilux
