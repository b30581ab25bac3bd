#pragma once
// Ctrl-C.

#include "ilux/base/stop_token.hpp"

namespace ilux::app {

/// From now on Ctrl-C (SIGINT) and SIGTERM stop what asks this token; a second signal of the kind ends the program at
/// once. A signal that is ignored, as of a job in the background, stays so.
StopToken stop_on_signals();
/// The token that signals stop, whether or not anybody asks it: where not, they end the program.
StopToken signal_token();

}  // namespace ilux::app
