#include "ilux/solver/policy/series_record.hpp"

#include <algorithm>

namespace ilux {

void SeriesRecord::remember(std::span<const Attempt> tried, bool of_direct, double seconds)
{
    if (tried.empty() || !tried.back().converged()) return;
    if (!last) of(of_direct).add(seconds);
    const auto by_other = [&](const Attempt& one) { return one.plan.direct() != of_direct; };
    if (std::ranges::any_of(tried, by_other)) of(!of_direct).pause.after_failure();
}

std::string SeriesRecord::reason_to_switch(bool from_direct, const std::optional<Forecast>& forecast)
{
    if (!of(!from_direct).pause.try_next()) return "";
    const OtherStrategy other{.name = from_direct ? "iterative" : "direct",
                              .record = &of(!from_direct),
                              .forecast = forecast};
    return ilux::reason_to_switch(of(from_direct), from_direct ? "direct" : "iterative", other,
                                  systems_left(promised, begun));
}

void SeriesRecord::note_steps(const Attempt& tried, bool lacks_rank, const RefreshLimits& limits)
{
    const Index steps = tried.report.steps;
    const bool  former = tried.action == SolverAction::lagged || replayed(tried);
    if (!former || first_steps == 0) first_steps = steps;  // of the first b with that M, whatever it was made of
    why_refresh = reason_to_refresh({tried.report.outcome, steps, first_steps, lacks_rank}, limits);
}

bool replayed(const Attempt& tried)
{
    return tried.action == SolverAction::refresh && tried.mlilu && tried.mlilu->replayed;
}

std::string renewal(const std::string& why, const Attempt& renewed)
{
    return why.empty() || !replayed(renewed) ? why : why + "; its rounds serve again";
}

}  // namespace ilux
