#pragma once
// What every matching promises, and brute force over all permutations to compare with.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "ilux/reorder/matching.hpp"

namespace ilux {

using Csr = CsrMatrix<double>;

inline Csr dense(Index n, std::vector<double> a)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
            if (a[i * n + j] == 0) continue;
            row.push_back(i);
            col.push_back(j);
            val.push_back(a[i * n + j]);
        }
    }
    return Csr::from_triplets(n, n, row, col, val);
}

inline Csr random_matrix(Index n, Index nnz, double log10_spread, unsigned seed)
{
    std::mt19937                           random(seed);
    std::uniform_int_distribution<Index>   index(0, n - 1);
    std::uniform_real_distribution<double> exponent(-log10_spread, log10_spread);
    std::vector<Index>                     row, col;
    std::vector<double>                    val;
    for (Index p = 0; p < nnz; ++p) {
        row.push_back(index(random));
        col.push_back(index(random));
        val.push_back((random() % 2 ? 1 : -1) * std::pow(10.0, exponent(random)));
    }
    return Csr::from_triplets(n, n, row, col, val);
}

/// Largest number of entries on a diagonal over all permutations, and the largest Σ log₂|a| among those.
struct Best {
    Index  rank = 0;
    double log_product = 0;
};
inline Best brute_force(const Csr& A)
{
    std::vector<Index> sigma(A.rows());
    std::iota(sigma.begin(), sigma.end(), Index{0});
    Best best;
    do {
        Best candidate;
        for (Index i = 0; i < A.rows(); ++i)
            if (const double a = A.at(i, sigma[i]); a != 0) {
                ++candidate.rank;
                candidate.log_product += std::log2(std::abs(a));
            }
        if (std::tuple(candidate.rank, candidate.log_product) > std::tuple(best.rank, best.log_product) ||
            best.rank == 0)
            best = candidate;
    } while (std::ranges::next_permutation(sigma).found);
    return best;
}

inline double log_product(const Csr& A, const Matching& m)
{
    double sum = 0;
    for (Index i = 0; i < A.rows(); ++i)
        if (!std::ranges::binary_search(m.unmatched_rows, i)) sum += std::log2(std::abs(A.at(i, m.col_of_row[i])));
    return sum;
}

inline double log_scaled(const Csr& A, const Matching& m, Index i, Offset p)
{
    return std::log2(std::abs(A.val()[p])) + std::log2(m.row_scale[i]) + std::log2(m.col_scale[A.col()[p]]);
}

/// The largest scaled entry of every row and column is 1, unless there is none.
inline void expect_every_line_to_reach_one(const Csr& A, const Matching& m)
{
    constexpr double    nothing = -std::numeric_limits<double>::infinity();
    std::vector<double> row(A.rows(), nothing), col(A.rows(), nothing);
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.val()[p] == 0) continue;
            row[i] = std::max(row[i], log_scaled(A, m, i, p));
            col[A.col()[p]] = std::max(col[A.col()[p]], log_scaled(A, m, i, p));
        }
    }
    for (Index k = 0; k < A.rows(); ++k) {
        EXPECT_TRUE(row[k] == nothing || row[k] > -1e-10) << "row " << k << " has 2^" << row[k];
        EXPECT_TRUE(col[k] == nothing || col[k] > -1e-10) << "column " << k << " has 2^" << col[k];
    }
}

/// What every result promises, optimal or not: a permutation, the unmatched ones listed and paired in order, usable
/// scalings, no scaled entry above 1, and 1 on matched entries where it says so.
inline void expect_sound(const Csr& A, const Matching& m)
{
    const Index n = A.rows();
    ASSERT_EQ(m.col_of_row.size(), n);
    ASSERT_NO_THROW(inverse_permutation(m.col_of_row));
    ASSERT_EQ(m.unmatched_rows.size(), n - m.rank);
    ASSERT_EQ(m.unmatched_cols.size(), n - m.rank);
    EXPECT_TRUE(std::ranges::is_sorted(m.unmatched_rows) && std::ranges::is_sorted(m.unmatched_cols));
    for (std::size_t k = 0; k < m.unmatched_rows.size(); ++k)
        EXPECT_EQ(m.col_of_row[m.unmatched_rows[k]], m.unmatched_cols[k]);
    for (Index i = 0; i < n; ++i) {
        ASSERT_TRUE(m.row_scale[i] >= 0x1p-1000 && m.row_scale[i] <= 0x1p1000) << m.row_scale[i];
        ASSERT_TRUE(m.col_scale[i] >= 0x1p-1000 && m.col_scale[i] <= 0x1p1000) << m.col_scale[i];
    }
    Index matched = 0;
    for (Index i = 0; i < n; ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.val()[p] == 0) continue;
            ASSERT_LE(log_scaled(A, m, i, p), 1e-10) << "row " << i << ", column " << A.col()[p];
            if (A.col()[p] != m.col_of_row[i] || std::ranges::binary_search(m.unmatched_rows, i)) continue;
            ++matched;
            if (m.unit_diagonal) {
                ASSERT_NEAR(log_scaled(A, m, i, p), 0, 1e-11) << "row " << i;
            }
        }
    }
    EXPECT_EQ(matched, m.rank);
    if (m.unit_diagonal) expect_every_line_to_reach_one(A, m);
    EXPECT_TRUE(m.optimal || !m.unit_diagonal);
}

double seconds_of(auto&& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace ilux
