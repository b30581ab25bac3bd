#pragma once
// What tests ask of kernels whose warps wait for one another. No tuning holds it, and nothing but tests passes it.

namespace ilux::detail {

/// Makes warps late, at random. Changes no bit.
struct KernelTrial {
    unsigned delay = 0;  ///< nanoseconds that a warp sleeps at most, in one of four calls of wait_at_random; 0: never
};

}  // namespace ilux::detail
