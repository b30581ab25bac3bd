#pragma once
// Undirected graphs whose vertices stand for several: what multilevel methods work on.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::detail {

struct Arc {
    Index to, weight;
};

/// Every edge is there as two arcs of equal weight; no loops.
struct WeightedGraph {
    std::vector<Offset> start;      ///< n + 1
    std::vector<Arc>    arc;        ///< of each vertex, in any order
    std::vector<Index>  weight;     ///< n; of the vertices, at least 1
    Offset              total = 0;  ///< Σ weight

    Index                n() const { return static_cast<Index>(weight.size()); }
    std::span<const Arc> of(Index v) const { return std::span(arc).subspan(start[v], start[v + 1] - start[v]); }
};

/// 64 bits that look random and depend on x alone [steele_et_al_14].
constexpr std::uint64_t mixed_bits(std::uint64_t x)
{
    x += 0x9e37'79b9'7f4a'7c15;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
}

}  // namespace ilux::detail
