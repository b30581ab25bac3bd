#pragma once
// What Cpu::team() rests on.

namespace ilux::detail {

/// How many of `wanted` threads, at least 2, a parallel region that this thread opens may have.
int granted_threads(int wanted);

}  // namespace ilux::detail
