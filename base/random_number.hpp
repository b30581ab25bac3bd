#pragma once
// Numbers that look random and depend on an index alone: the same on any machine, host or device, in any order.

#include <cstdint>

#include "ilux/base/host_device.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// 64 bits that i is hashed to (splitmix64).
ILUX_HOST_DEVICE constexpr std::uint64_t random_bits(Index i)
{
    std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/// 1 or −1.
ILUX_HOST_DEVICE constexpr double random_sign(Index i) { return (random_bits(i) >> 63) != 0 ? 1 : -1; }
/// A number of [0, 1).
ILUX_HOST_DEVICE constexpr double random_share(Index i)
{
    return static_cast<double>(random_bits(i) << 1 >> 12) * 0x1p-52;
}

/// A number of ±[1, 2): with such factors no sum of equal terms vanishes by chance.
ILUX_HOST_DEVICE constexpr double random_factor(Index i) { return random_sign(i) * (1 + random_share(i)); }

}  // namespace ilux
