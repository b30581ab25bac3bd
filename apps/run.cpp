#include "ilux/apps/run.hpp"

namespace ilux::app {

Outcome Run::outcome() const
{
    const Attempt& tried = result();
    const bool     lost_rank = tried.mlilu && (tried.mlilu->deficiency > 0 ||
                                           tried.mlilu->structural_rank < static_cast<Index>(tried.x.size()));
    const bool failed = tried.report.outcome != Outcome::converged && tried.report.outcome != Outcome::out_of_memory;
    return failed && lost_rank ? Outcome::singular : tried.report.outcome;
}

}  // namespace ilux::app
