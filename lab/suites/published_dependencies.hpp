#pragma once
// The detection of double-U dependencies that GLU 2.0 used, as a rival.

#include <utility>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux::app {

struct PublishedDependencies {
    std::vector<std::pair<Index, Index>> edges;        ///< (t, i): column t waits for column i; ascending by i, then t
    Index                                columns = 0;  ///< i of them were looked at
    bool                                 complete = true;
    double                               seconds = 0;
};

/// Algorithm 3 of [peng_tan_20]: for every i, every t with L(t,i) ≠ 0 and every j ≥ t with As(j,t) ≠ 0, rows i and j
/// are searched for a common column k > t, As = L + U; one is enough to let t wait for i. O(n³) at worst. As printed, t
/// starts at i, which would let every column wait for itself: here it starts behind i. As printed, a search goes on
/// over all j. j = t counts, so that t waits also where L(:,t) is empty; else the edges are the exact ones.
/// @param limit  seconds after which it is given up; 0: never
PublishedDependencies published_dependencies(const LuPattern& pattern, double limit);

}  // namespace ilux::app
