#include "ilux/direct/lu/lu_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace ilux::detail {

double growth(const PivotMonitor& monitor) { return std::max(1.0, monitor.max_multiplier) / monitor.rgrowth; }

void blame(LuReport& report, Index row, Index column, const std::string& what)
{
    report.row = row;
    report.column = column;
    const std::string place = row < 0 ? "" : fmt::format("row {}, ", row + 1);
    report.reason = fmt::format("{}column {} (counted from 1): {}", place, column + 1, what);
}

std::string joined(const std::string& before, const std::string& after)
{
    return before.empty() ? after : before + "; with new pivots: " + after;
}

void out_of_memory(LuReport& report, const char* why)
{
    report.outcome = Outcome::out_of_memory;
    try {
        report.reason = joined(report.reason, why);
    } catch (const std::bad_alloc&) {
        report.reason = "out of memory";  // so short that a string holds it in itself
    }
}

void stopped(LuReport& report, StopReason why, Index columns, Index n)
{
    report.outcome = outcome_of(why);
    report.reason = joined(report.reason, fmt::format("told to stop after {} of {} columns", columns, n));
}

}  // namespace ilux::detail
