#pragma once
// Delays that tests inject where threads wait for one another. Only .cu files include this.

namespace ilux {

/// In one of four calls sleeps up to `most` nanoseconds, as good as at random by `salt`; 0: never.
__device__ inline void wait_at_random(unsigned most, unsigned salt)
{
    if (most == 0) return;
    unsigned h = salt * 0x9E3779B1u;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    h ^= h >> 15;
    if (h % 4 == 0) __nanosleep(h / 4 % most + 1);
}

}  // namespace ilux
