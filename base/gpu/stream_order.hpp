#pragma once
// How the streams of two Gpus follow one another.

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// What is asked of `later` from now on begins after all that was asked of `earlier` until now. The host waits for
/// neither.
void run_after(Gpu& later, Gpu& earlier);

}  // namespace ilux
