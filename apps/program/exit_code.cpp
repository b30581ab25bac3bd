#include "ilux/apps/program/exit_code.hpp"

namespace ilux::app {

ExitCode exit_code(Outcome outcome)
{
    switch (outcome) {
        case Outcome::converged:
            return success;
        case Outcome::max_steps:
        case Outcome::stagnated:
        case Outcome::diverged:
        case Outcome::not_finite:
        case Outcome::time_limit:
            return not_converged;
        case Outcome::breakdown:
        case Outcome::singular:
            return broke_down;
        case Outcome::out_of_memory:
            return no_memory;
        case Outcome::cancelled:
            return interrupted;
    }
    return our_fault;
}

}  // namespace ilux::app
