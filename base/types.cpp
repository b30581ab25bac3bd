#include "ilux/base/types.hpp"

namespace ilux {

std::string_view name(Outcome outcome)
{
    switch (outcome) {
        case Outcome::converged:
            return "converged";
        case Outcome::max_steps:
            return "max_steps";
        case Outcome::stagnated:
            return "stagnated";
        case Outcome::breakdown:
            return "breakdown";
        case Outcome::diverged:
            return "diverged";
        case Outcome::singular:
            return "singular";
        case Outcome::not_finite:
            return "not_finite";
        case Outcome::out_of_memory:
            return "out_of_memory";
        case Outcome::time_limit:
            return "time_limit";
    }
    return "unknown";
}

}  // namespace ilux
