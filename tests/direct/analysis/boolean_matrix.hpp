#pragma once
// Gaussian elimination on a dense matrix of bits: the slow and obvious symbolic factorization.

#include <algorithm>
#include <span>
#include <vector>

#include "ilux/direct/analysis/symbolic_cost.hpp"

namespace ilux::test {

struct Bits {
    Index             n = 0;
    std::vector<char> bit;
    explicit Bits(Index order) : n(order), bit(static_cast<std::size_t>(order) * order, 0) {}
    char& operator()(Index i, Index j) { return bit[static_cast<std::size_t>(i) * n + j]; }
    char  operator()(Index i, Index j) const { return bit[static_cast<std::size_t>(i) * n + j]; }
};

inline Bits to_bits(const PatternView& C)
{
    Bits B(C.n);
    for (Index i = 0; i < C.n; ++i)
        for (Offset p = C.row_ptr[i]; p < C.row_ptr[i + 1]; ++p) B(i, C.col[p]) = 1;
    return B;
}

/// B after pivot k, which stays: every row of column k takes the entries of row k; both among the rows that are left.
inline void eliminate(Bits& B, Index k, const std::vector<char>& done)
{
    for (Index i = 0; i < B.n; ++i)
        if (!done[i] && i != k && B(i, k))
            for (Index j = 0; j < B.n; ++j)
                if (!done[j] && B(k, j)) B(i, j) = 1;
}

/// Counts of LU of C(order, order), the diagonal taken for nonzero.
inline SymbolicCost slow_cost(const PatternView& C, std::span<const Index> order)
{
    Bits               B = to_bits(C);
    std::vector<char>  done(C.n, 0);
    std::vector<Index> level(C.n, 1);
    SymbolicCost       cost;
    for (Index i = 0; i < C.n; ++i) B(i, i) = 1;
    for (const Index k : order) {
        eliminate(B, k, done);
        done[k] = 1;
        double lower = 0, upper = 0;
        for (Index i = 0; i < C.n; ++i) {
            lower += !done[i] && B(i, k);
            upper += !done[i] && B(k, i);
            if (!done[i] && B(i, k)) level[i] = std::max(level[i], level[k] + 1);
        }
        cost.levels = std::max(cost.levels, level[k]);
        cost.nnz += 1 + lower + upper;
        cost.multiply_adds += lower * upper;
    }
    return cost;
}

}  // namespace ilux::test
