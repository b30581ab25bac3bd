#pragma once
// One number that says what became of a call: the program's exit code, and the status of the C interface.

#include "ilux/base/types.hpp"

namespace ilux {

/// 0 converged · 3 max_steps, stagnated, diverged, not_finite, time_limit · 4 breakdown, singular · 5 out_of_memory ·
/// 130 cancelled. What has no outcome: 1 a bad option, 2 bad input, 6 no such device, 7 a fault of ilux itself.
constexpr int status_code(Outcome outcome)
{
    switch (outcome) {
        case Outcome::converged:
            return 0;
        case Outcome::max_steps:
        case Outcome::stagnated:
        case Outcome::diverged:
        case Outcome::not_finite:
        case Outcome::time_limit:
            return 3;
        case Outcome::breakdown:
        case Outcome::singular:
            return 4;
        case Outcome::out_of_memory:
            return 5;
        case Outcome::cancelled:
            return 130;
    }
    return 7;
}

}  // namespace ilux
