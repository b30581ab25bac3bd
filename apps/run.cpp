#include "ilux/apps/run.hpp"

namespace ilux::app {

Outcome Run::outcome() const
{
    const Attempt& tried = result();
    const auto     n = static_cast<Index>(tried.x.size());
    const bool lost_rank = tried.mlilu && (tried.mlilu->deficiency > 0 || tried.mlilu->structural_rank.value_or(n) < n);
    const Outcome outcome = tried.report.outcome;
    const bool    failed =
        outcome != Outcome::converged && outcome != Outcome::out_of_memory && outcome != Outcome::time_limit;
    return failed && lost_rank ? Outcome::singular : outcome;
}

}  // namespace ilux::app
