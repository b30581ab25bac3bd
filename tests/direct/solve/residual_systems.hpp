#pragma once
// Matrices for residuals: any pattern, held by rows or by columns.

#include <memory>
#include <utility>
#include <vector>

#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/tests/direct/hand_analysis.hpp"
#include "ilux/tests/direct/klu/both_ways.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

constexpr MatrixLayout both_layouts[] = {MatrixLayout::rows, MatrixLayout::columns};

/// No more of an analysis than the caller's pattern.
inline std::shared_ptr<LuSymbolic> only_pattern(const Entries& A, MatrixLayout layout)
{
    auto s = std::make_shared<LuSymbolic>();
    s->n = A.n;
    s->input_nnz = static_cast<Offset>(A.col.size());
    s->layout = layout;
    s->input_ptr = A.ptr;
    s->input_idx.assign(A.col.begin(), A.col.end());
    return s;
}

/// Vectors of the lengths given, at random places in any order, duplicates included; the order n is at least their
/// number.
inline Entries vectors_of(const std::vector<Offset>& lengths, Index n, std::uint64_t seed)
{
    Random  random(seed);
    Entries A{n, {0}, {}, {}};
    for (Index k = 0; k < n; ++k) {
        for (Offset m = k < lengths.size() ? lengths[k] : 0; m > 0; --m) {
            A.col.push_back(random.below(n));
            A.val.push_back(random.uniform());
        }
        A.ptr.push_back(static_cast<Offset>(A.col.size()));
    }
    return A;
}

/// Empty, single and many entries; lengths around those at which rows are cut, and one beyond every bound.
inline std::vector<Entries> residual_systems()
{
    std::vector<Entries> all;
    for (const Index n : {0, 1, 2, 31, 32, 33}) all.push_back(entries_of(random_matrix(n, n, 3, 7 + n)));
    all.push_back(vectors_of({}, 5, 1));
    const std::vector<Offset> lengths{0,  1,  7,   8,   9,   15,  16,  17,  31,   32,   33,   0,
                                      63, 64, 255, 256, 257, 511, 512, 513, 8191, 8192, 8193, 8449};
    all.push_back(vectors_of(lengths, 30, 2));      // 32 lanes a row
    all.push_back(vectors_of(lengths, 20'000, 2));  // one
    all.push_back(vectors_of({3, 100'000, 0, 2}, 3000, 3));
    all.push_back(vectors_of(std::vector<Offset>(500, 9), 500, 4));  // 8
    all.push_back(vectors_of(std::vector<Offset>(60, 300), 60, 5));  // nothing but long rows
    all.push_back(entries_of(random_dominant(5000, 5, 6)));
    return all;
}

}  // namespace ilux::test
