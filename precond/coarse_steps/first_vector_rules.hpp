#pragma once
// What numbers the vectors have, on a Gpu as on a Cpu.

#include "ilux/base/random_number.hpp"

namespace ilux {

/// Number i of a random vector, in (−1, 1).
ILUX_HOST_DEVICE inline double random_number(Index i, Index which)
{
    return 2 * random_share(static_cast<Index>(random_bits(i) >> 34) + which) - 1;
}

}  // namespace ilux
