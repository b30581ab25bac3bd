#include "ilux/engine/report/batch_report.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ilux {
namespace {

std::string_view reason(Alone alone)
{
    switch (alone) {
        case Alone::none:
            break;
        case Alone::stale:
            return "as the former pivots are stale";
        case Alone::failed:
            return "as the former pivots fail";
        case Alone::near_singular:
            return "as its factors do not find a known solution";
        case Alone::inaccurate:
            return "as x was not yet good enough";
    }
    return "";
}

}  // namespace

void BatchCounts::note(Alone alone, Index member, const std::string& why)
{
    const auto kind = std::ranges::find(kinds, alone, &Kind::alone);
    if (kind == kinds.end()) kinds.push_back({alone, 1, member, why});
    else ++kind->count;
}

void BatchCounts::add(const BatchCounts& other, std::span<const Index> number)
{
    members += other.members;
    at_once += other.at_once;
    together = std::max(together, other.together);
    for (const Kind& one : other.kinds) {
        note(one.alone, number[static_cast<std::size_t>(one.first)], one.why);
        std::ranges::find(kinds, one.alone, &Kind::alone)->count += one.count - 1;
    }
}

std::vector<std::string> BatchCounts::decisions(std::string_view what) const
{
    std::vector<std::string> all;
    if (members == 0) return all;
    all.push_back(
        at_once == 0 ? fmt::format("batch: {} {}s one after another", members, what)
                     : fmt::format("batch: {} of {} {}s at once, up to {} together", at_once, members, what, together));
    for (const Kind& one : kinds)
        all.push_back(fmt::format("batch: {} {}{} solved alone, {}; {} {} {} (counted from 0): {}", one.count, what,
                                  one.count == 1 ? "" : "s", reason(one.alone),
                                  one.count == 1 ? "it is" : "the first is", what, one.first, one.why));
    return all;
}

std::vector<std::string> all_decisions(const BatchReport& report)
{
    std::vector<std::string> all = report.decisions;
    for (std::string& decision : report.counts.decisions("member")) all.push_back(std::move(decision));
    return all;
}

Outcome BatchReport::outcome() const
{
    const auto failed = std::ranges::find_if(members, [](const SolverReport& one) { return !one.converged(); });
    return failed == members.end() ? Outcome::converged : failed->outcome();
}

}  // namespace ilux
