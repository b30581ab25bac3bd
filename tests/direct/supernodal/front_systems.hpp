#pragma once
// Matrices of awkward sizes, of one block and of many, for what works with fronts.

#include <cmath>
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

/// Forty unknowns with this diagonal, each with three neighbours in a dense block of 60: more than its front takes in.
/// Where the diagonal is 0, pivots within most fronts are.
inline CsrMatrix<> leaves_of_a_dense_block(double diagonal)
{
    const Index leaves = 40, n = 60;
    EntryList   entries;
    for (Index i = 0; i < leaves; ++i) {
        entries.add(i, i, diagonal);
        for (const Index j : {i, (i + 7) % n, (i + 20) % n}) {
            entries.add(i, leaves + j, j == i ? 2 : 0.5);
            entries.add(leaves + j, i, j == i ? -2 : 0.25);
        }
    }
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            entries.add(leaves + i, leaves + j, i == j ? 4 : std::sin(1.0 + i + 60.0 * j) / 30);
    return entries.matrix(leaves + n, leaves + n);
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
