#pragma once
// Matrices of awkward sizes, of one block and of many, for what works with fronts.

#include <random>
#include <vector>

#include "ilux/gallery/pde.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux::test {

/// A diagonal of 4 to 5, and elsewhere numbers within ±0.5.
inline CsrMatrix<> random_matrix(Index n, double density, unsigned seed)
{
    std::mt19937                     random(seed);
    std::uniform_real_distribution<> uniform(0, 1);
    EntryList                        entries;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            if (i == j || uniform(random) < density)
                entries.add(i, j, i == j ? 4 + uniform(random) : uniform(random) - 0.5);
    return entries.matrix(n, n);
}

inline std::vector<CsrMatrix<>> front_systems()
{
    std::vector<CsrMatrix<>> all;
    for (const Index n : {0, 1, 2, 31, 32, 33, 90})
        for (const double density : {0.0, 0.01, 0.05, 0.2}) all.push_back(random_matrix(n, density, 7 * n + 1));
    all.push_back(gallery::convdiff2d({.n = 13}));
    all.push_back(gallery::convdiff3d({.n = 6}));
    return all;
}

}  // namespace ilux::test
