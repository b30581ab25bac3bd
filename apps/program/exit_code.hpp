#pragma once
// What the program's exit code says.

#include "ilux/engine/report/status_code.hpp"

namespace ilux::app {

enum ExitCode {
    success = 0,        ///< for solve: converged, and the true residual was verified
    usage = 1,          ///< an option or a command that does not exist or makes no sense
    bad_input = 2,      ///< a file or its contents
    not_converged = 3,  ///< max_steps, stagnated, diverged, not_finite, time_limit
    broke_down = 4,     ///< breakdown, singular
    no_memory = 5,
    no_device = 6,
    our_fault = 7,
    interrupted = 130,  ///< by Ctrl-C or SIGTERM; the best x so far is handed out
};

constexpr ExitCode exit_code(Outcome outcome) { return static_cast<ExitCode>(status_code(outcome)); }

}  // namespace ilux::app
