#pragma once
// Factors made the slow way, from dense matrices and without pivoting, so that tests of what uses factors rest on
// nothing else of direct/.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

using Stored = std::vector<std::vector<char>>;  ///< Stored[i][j]: whether (i, j) is in the pattern

/// Adds the diagonal and, with pivots on it, all fill: (r, i) and (i, k) below and right of (i, i) bring (r, k).
inline void close_under_fill(Stored& S)
{
    const std::size_t n = S.size();
    for (std::size_t i = 0; i < n; ++i) {
        S[i][i] = 1;
        for (std::size_t r = i + 1; r < n; ++r)
            for (std::size_t k = i + 1; k < n; ++k) S[r][k] |= S[r][i] & S[i][k];
    }
}

inline Stored random_pattern(Index n, double density, Random& random)
{
    Stored S(n, std::vector<char>(n));
    for (auto& row : S)
        for (char& stored : row) stored = random.uniform(0, 1) < density;
    return S;
}

/// One block; S must be closed.
inline LuPattern pattern_of(const Stored& S)
{
    LuPattern P;
    P.n = static_cast<Index>(S.size());
    P.col_ptr.push_back(0);
    for (Index k = 0; k < P.n; ++k) {
        for (Index i = 0; i < P.n; ++i) {
            if (i == k) P.diag.push_back(static_cast<Offset>(P.row.size()));
            if (S[i][k]) P.row.push_back(i);
        }
        P.col_ptr.push_back(static_cast<Offset>(P.row.size()));
    }
    P.f_col_ptr.assign(P.n + 1, 0);
    P.block_ptr = P.n == 0 ? std::vector<Index>{0} : std::vector<Index>{0, P.n};
    for (Index k = 0; k < P.n; ++k) P.row_perm.push_back(k);
    P.col_perm = P.row_perm;
    return P;
}

/// A = R⁻¹ Pᵀ B Qᵀ C⁻¹ and the factors of B.
struct DenseFactors {
    Dense       A;
    LuFactors<> factors;
};

/// What is to be factored: B, block upper triangular for the blocks given, and where its rows and columns come from.
struct Given {
    Dense               B;
    std::vector<Index>  block_ptr = {};                ///< empty: one block
    std::vector<Index>  row_perm = {}, col_perm = {};  ///< perm[new] = old; empty: the identity
    std::vector<double> row_scale = {}, col_scale = {};
};

inline Index block_of(const std::vector<Index>& block_ptr, Index k)
{
    Index block = 0;
    while (block_ptr[block + 1] <= k) ++block;
    return block;
}

/// Gaussian elimination inside the diagonal blocks, the diagonal as pivots; zeros of B are not stored.
inline DenseFactors factored(const Given& given)
{
    const Index n = given.B.rows;
    auto        P = std::make_shared<LuPattern>(pattern_of(Stored(n, std::vector<char>(n))));
    if (!given.block_ptr.empty()) P->block_ptr = given.block_ptr;
    if (!given.row_perm.empty()) P->row_perm = given.row_perm;
    if (!given.col_perm.empty()) P->col_perm = given.col_perm;
    P->row_scale = given.row_scale;
    P->col_scale = given.col_scale;
    const auto same_block = [&](Index i, Index j) { return block_of(P->block_ptr, i) == block_of(P->block_ptr, j); };

    Dense  LU = given.B;
    Stored S(n, std::vector<char>(n));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) S[i][j] = LU(i, j) != 0 && same_block(i, j);
    close_under_fill(S);
    for (Index i = 0; i < n; ++i)
        for (Index r = i + 1; r < n; ++r) {
            if (!S[r][i]) continue;
            LU(r, i) /= LU(i, i);
            for (Index k = i + 1; k < n; ++k)
                if (S[i][k]) LU(r, k) -= LU(r, i) * LU(i, k);
        }

    DenseFactors    result{Dense{n, n, std::vector<double>(LU.a.size())}, {}};
    const LuPattern closed = pattern_of(S);
    P->col_ptr = closed.col_ptr;
    P->row = closed.row;
    P->diag = closed.diag;
    for (Index k = 0; k < n; ++k) {
        for (Offset p = P->col_ptr[k]; p < P->col_ptr[k + 1]; ++p) result.factors.val.push_back(LU(P->row[p], k));
        for (Index i = 0; i < n; ++i) {
            const Index  from = P->row_perm[i], to = P->col_perm[k];
            const double r = P->row_scale.empty() ? 1 : P->row_scale[from],
                         c = P->col_scale.empty() ? 1 : P->col_scale[to];
            result.A(from, to) = given.B(i, k) / (r * c);
            if (given.B(i, k) == 0 || same_block(i, k)) continue;
            P->f_row.push_back(i);
            result.factors.f_val.push_back(given.B(i, k));
        }
        P->f_col_ptr[k + 1] = static_cast<Offset>(P->f_row.size());
    }
    result.factors.pattern = P;
    return result;
}

inline Dense dense(Index n, std::vector<double> a) { return {n, n, std::move(a)}; }

/// A matrix by rows or by columns, its entries backwards.
struct Held {
    Held(const Dense& A, MatrixLayout layout) : n(A.rows), layout(layout)
    {
        for (Index k = 0; k < n; ++k) {
            for (Index other = n; other-- > 0;) {
                const double a = layout == MatrixLayout::rows ? A(k, other) : A(other, k);
                if (a != 0) idx.push_back(other), val.push_back(a);
            }
            ptr.push_back(static_cast<Offset>(idx.size()));
        }
    }
    MatrixView<> view() const { return {n, ptr, idx, val, layout}; }

    Index               n;
    MatrixLayout        layout;
    std::vector<Offset> ptr{0};
    std::vector<Index>  idx;
    std::vector<double> val;
};

/// Powers of two between 2⁻³ and 2³.
inline std::vector<double> random_scales(Index n, Random& random)
{
    std::vector<double> scale(n);
    for (double& s : scale) s = std::ldexp(1.0, random.below(7) - 3);
    return scale;
}

/// Blocks of the sizes given, random inside and above, the diagonal dominant by rows; permuted and scaled at random.
inline DenseFactors random_factors(const std::vector<Index>& block_sizes, double density, std::uint64_t seed)
{
    Random random(seed);
    Given  given;
    given.block_ptr = {0};
    for (const Index size : block_sizes) given.block_ptr.push_back(given.block_ptr.back() + size);
    const Index n = given.block_ptr.back();
    given.B = Dense{n, n, std::vector<double>(static_cast<std::size_t>(n) * n)};
    for (Index i = 0; i < n; ++i) {
        double sum = 1;
        for (Index j = given.block_ptr[block_of(given.block_ptr, i)]; j < n; ++j)
            if (j != i && random.uniform(0, 1) < density) sum += std::abs(given.B(i, j) = random.uniform());
        given.B(i, i) = random.below(2) == 0 ? sum : -sum;
    }
    given.row_perm = random_permutation(n, random.bits());
    given.col_perm = random_permutation(n, random.bits());
    given.row_scale = random_scales(n, random);
    given.col_scale = random_scales(n, random);
    return factored(given);
}

}  // namespace ilux::test
