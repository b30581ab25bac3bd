#pragma once
// Rules of the roots that threads of a CPU and of a GPU follow alike.

#include <cstdint>
#include <cstring>

#include "ilux/precond/rounds/round_rules.hpp"

namespace ilux::roots {

using Key = std::uint64_t;
constexpr Key root = 0, covered = ~Key{0};  // decided; others wait

ILUX_HOST_DEVICE inline bool waits(Key key) { return key != root && key != covered; }
/// The size of a tie, to 24 bits: a CPU and a GPU may round |z| of a complex z differently.
ILUX_HOST_DEVICE inline double rounded_tie(double size)
{
    constexpr std::uint64_t dropped = 1ULL << 29;
    std::uint64_t           bits = 0;
    std::memcpy(&bits, &size, sizeof bits);
    bits = (bits + dropped / 2) & ~(dropped - 1);
    std::memcpy(&size, &bits, sizeof bits);
    return size;
}

/// No two nodes have the same.
ILUX_HOST_DEVICE inline Key key_of(Index node)
{
    return (Key{rounds::shuffled(static_cast<std::uint32_t>(node))} << 1) + 1;
}

/// The ties of a node as rows of two matrices: pointers to either's arrays.
struct TieRows {
    const Offset* ptr;
    const Index*  col;
    const double* val;
};

/// f(node, tie) for the ties of node i, in a fixed order.
template <class Do>
ILUX_HOST_DEVICE void for_ties(const TieRows& there, const TieRows& back, Index i, Do&& f)
{
    for (Offset p = there.ptr[i]; p < there.ptr[i + 1]; ++p) f(there.col[p], there.val[p]);
    for (Offset p = back.ptr[i]; p < back.ptr[i + 1]; ++p) f(back.col[p], back.val[p]);
}

/// The least key of node i and those tied to it.
ILUX_HOST_DEVICE inline Key least_near(const TieRows& there, const TieRows& back, const Key* key, Index i)
{
    Key least = key[i];
    for_ties(there, back, i, [&](Index j, double) { least = key[j] < least ? key[j] : least; });
    return least;
}

/// What becomes of a node with this key, where `least` is the least one near it.
ILUX_HOST_DEVICE inline Key decided(Key key, Key least)
{
    if (!waits(key)) return key;
    return least == key ? root : least == root ? covered : key;
}

/// The group of the strongest tie of node i to a node that is in one, or −1; the first of equal ones.
ILUX_HOST_DEVICE inline Index strongest(const TieRows& there, const TieRows& back, const Index* of, Index i)
{
    double most = 0;
    Index  best = -1;
    for_ties(there, back, i, [&](Index j, double tie) {
        if (of[j] >= 0 && tie > most) most = tie, best = of[j];
    });
    return best;
}

}  // namespace ilux::roots
