#pragma once
// What every factorization of a LuPattern must satisfy, checked the slow way.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/tests/direct/hand_analysis.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

inline LuOptions with_tolerance(double pivot_tol)
{
    LuOptions o = HandAnalysis{}.options;
    o.pivot_tol = pivot_tol;
    return o;
}

inline LuFactors<> factor(const Entries& A, const HandAnalysis& by = {})
{
    return gilbert_peierls(analysed(A, by), A.val);
}
inline LuFactors<> factor(const CsrMatrix<double>& A, const HandAnalysis& by = {}) { return factor(entries_of(A), by); }
inline LuFactors<> factor(const Dense& A, const HandAnalysis& by = {}) { return factor(to_csr(A), by); }

/// R A(row_perm, col_perm) C, dense, duplicates added; the permutations must be such.
inline Dense permuted_dense(const Entries& A, const LuPattern& P)
{
    const auto new_row = inverse_permutation(P.row_perm), new_col = inverse_permutation(P.col_perm);
    Dense      B{A.n, A.n, std::vector<double>(static_cast<std::size_t>(A.n) * A.n)};
    for (Index i = 0; i < A.n; ++i)
        for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
            const Index  j = A.col[p];
            const double r = P.row_scale.empty() ? 1 : P.row_scale[i], c = P.col_scale.empty() ? 1 : P.col_scale[j];
            B(new_row[i], new_col[j]) += A.val[p] * (r * c);
        }
    return B;
}

/// What is broken of the invariants of LuPattern; empty: nothing.
inline std::string broken(const LuFactors<>& F, const Entries& A)
{
    const LuPattern& P = *F.pattern;
    const Index      n = P.n;
    if (n != A.n || std::ssize(P.col_ptr) != n + 1 || std::ssize(P.diag) != n) return "lengths";
    if (std::ssize(F.val) != P.nnz() || std::ssize(P.row) != P.nnz()) return "lengths of L + U";
    if (std::ssize(F.f_val) != P.nnz_F() || std::ssize(P.f_row) != P.nnz_F()) return "lengths of F";
    std::set<std::pair<Index, Index>> stored;
    for (Index b = 0; b < P.blocks(); ++b)
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k) {
            if (P.diag[k] < P.col_ptr[k] || P.diag[k] >= P.col_ptr[k + 1] || P.row[P.diag[k]] != k) return "diagonal";
            for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
                if (P.row[p] < P.block_ptr[b] || P.row[p] >= P.block_ptr[b + 1]) return "a row of another block";
                if (p > P.col_ptr[k] && P.row[p] <= P.row[p - 1]) return "rows do not ascend";
                stored.emplace(P.row[p], k);
            }
            for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) {
                if (P.f_row[p] >= P.block_ptr[b]) return "a row of F inside the block";
                if (p > P.f_col_ptr[k] && P.f_row[p] <= P.f_row[p - 1]) return "rows of F do not ascend";
            }
        }
    // (r, i) in L and (i, k) in U of one block make (r, k) an entry.
    for (Index k = 0; k < n; ++k)
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
            for (Offset q = P.diag[P.row[p]] + 1; q < P.col_ptr[P.row[p] + 1]; ++q)
                if (!stored.contains({P.row[q], k})) return "not closed under fill";
    return "";
}

/// The map of the input leads every value to its place in B once, the block's entries of a column first.
inline std::string broken_map(const LuFactors<>& F, const Entries& A)
{
    const LuPattern&   P = *F.pattern;
    std::vector<int>   met(A.col.size());
    std::vector<Index> row_of(A.col.size());
    for (Index i = 0; i < A.n; ++i) std::fill(row_of.begin() + A.ptr[i], row_of.begin() + A.ptr[i + 1], i);
    for (Index b = 0; b < P.blocks(); ++b)
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k)
            for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e) {
                const Offset p = P.in_source[e];
                const Index  i = row_of[p], j = A.col[p];
                ++met[p];
                if (P.col_perm[k] != j || P.row_perm[P.in_row[e]] != i) return "a value goes elsewhere";
                if ((P.in_row[e] >= P.block_ptr[b]) != (e < P.in_split[k])) return "in_split";
                if (P.in_scale[e] !=
                    (P.row_scale.empty() ? 1 : P.row_scale[i]) * (P.col_scale.empty() ? 1 : P.col_scale[j]))
                    return "in_scale";
            }
    return std::ranges::all_of(met, [](int times) { return times == 1; }) ? "" : "a value not once in the map";
}

/// |B − L U| ≤ γ_n |L||U| entrywise in the diagonal blocks, and B = F outside, whatever the pivots [higham_02,
/// th. 9.3]. Rounding below the normal range adds at most n of the smallest numbers, `tiny`.
inline void expect_factors_of(const LuFactors<>& F, const Entries& A, double tiny = 0)
{
    ASSERT_EQ(F.monitor.bad_column, -1);
    ASSERT_EQ(broken(F, A), "");
    ASSERT_EQ(broken_map(F, A), "");
    const LuPattern& P = *F.pattern;
    const Index      n = P.n;
    const Dense      B = permuted_dense(A, P);
    Dense            L{n, n, std::vector<double>(B.a.size())}, U = L, above = L;
    for (Index k = 0; k < n; ++k) {
        L(k, k) = 1;
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) (p <= P.diag[k] ? U : L)(P.row[p], k) = F.val[p];
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) above(P.f_row[p], k) = F.f_val[p];
    }
    const double gamma = n * (eps / 2) / (1 - n * (eps / 2));
    for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < n; ++k) {
            long double product = 0, size = 0;
            for (Index m = 0; m < n; ++m) {
                product += static_cast<long double>(L(i, m)) * U(m, k);
                size += std::abs(static_cast<long double>(L(i, m)) * U(m, k));
            }
            ASSERT_LE(std::abs(static_cast<double>(B(i, k) - above(i, k) - product)),
                      gamma * static_cast<double>(size) * (1 + 1e-10) + n * tiny)
                << "row " << i << ", column " << k;
        }
}
inline void expect_factors_of(const LuFactors<>& F, const CsrMatrix<double>& A, double tiny = 0)
{
    expect_factors_of(F, entries_of(A), tiny);
}

inline Dense square(Index n, std::vector<double> a) { return {n, n, std::move(a)}; }

}  // namespace ilux::test
