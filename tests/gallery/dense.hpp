#pragma once
// Slow and obvious oracles for the gallery: dense copies, elimination, and augmenting paths.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "ilux/base/csr.hpp"

namespace ilux {

struct Dense {
    Index               n = 0;
    std::vector<double> value;
    double&             operator()(Index i, Index j) { return value[static_cast<std::size_t>(i) * n + j]; }
    const double&       operator()(Index i, Index j) const { return value[static_cast<std::size_t>(i) * n + j]; }
    friend bool         operator==(const Dense&, const Dense&) = default;
};

inline Dense dense(const CsrMatrix<double>& A)
{
    Dense D{A.rows(), std::vector<double>(static_cast<std::size_t>(A.rows()) * A.cols(), 0)};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) D(i, A.col()[p]) = A.val()[p];
    return D;
}

inline Dense dense(Index n, std::initializer_list<double> rows) { return {n, rows}; }

inline std::vector<double> times(const CsrMatrix<double>& A, const std::vector<double>& x)
{
    std::vector<double> y(A.rows(), 0);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) y[i] += A.val()[p] * x[A.col()[p]];
    return y;
}

inline double largest(const std::vector<double>& x)
{
    double m = 0;
    for (double value : x) m = std::max(m, std::abs(value));
    return m;
}

inline bool cholesky_succeeds(Dense A)
{
    for (Index k = 0; k < A.n; ++k) {
        if (!(A(k, k) > 0)) return false;
        for (Index i = k + 1; i < A.n; ++i) {
            const double l = A(i, k) / A(k, k);
            if (l == 0) continue;
            for (Index j = k + 1; j < A.n; ++j) A(i, j) -= l * A(k, j);
        }
    }
    return true;
}

/// Gauss-Jordan with column pivots. @return A⁻¹, and the smallest pivot relative to the largest entry
inline std::pair<Dense, double> inverse(Dense A)
{
    Dense B{A.n, std::vector<double>(A.value.size(), 0)};
    for (Index i = 0; i < A.n; ++i) B(i, i) = 1;
    const double scale = largest(A.value);
    double       smallest = scale;
    for (Index k = 0; k < A.n; ++k) {
        Index pivot = k;
        for (Index i = k; i < A.n; ++i)
            if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
        smallest = std::min(smallest, std::abs(A(pivot, k)));
        if (A(pivot, k) == 0) break;
        for (Index j = 0; j < A.n; ++j) {
            std::swap(A(k, j), A(pivot, j));
            std::swap(B(k, j), B(pivot, j));
        }
        const double d = A(k, k);
        for (Index j = 0; j < A.n; ++j) {
            A(k, j) /= d;
            B(k, j) /= d;
        }
        for (Index i = 0; i < A.n; ++i) {
            const double l = A(i, k);
            if (i == k || l == 0) continue;
            for (Index j = 0; j < A.n; ++j) {
                A(i, j) -= l * A(k, j);
                B(i, j) -= l * B(k, j);
            }
        }
    }
    return {B, scale == 0 ? 0 : smallest / scale};
}

/// Size of a maximum matching of rows to columns whose entry is stored and not zero.
inline Index structural_rank(const CsrMatrix<double>& A)
{
    std::vector<Index>               row_of(A.cols(), -1);
    std::vector<char>                seen;
    const std::function<bool(Index)> augment = [&](Index i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            if (A.val()[p] == 0 || seen[j]) continue;
            seen[j] = 1;
            if (row_of[j] < 0 || augment(row_of[j])) {
                row_of[j] = i;
                return true;
            }
        }
        return false;
    };
    Index rank = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        seen.assign(A.cols(), 0);
        rank += augment(i);
    }
    return rank;
}

inline bool is_weakly_dominant(const CsrMatrix<double>& A)
{
    for (Index i = 0; i < A.rows(); ++i) {
        double others = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i) others += std::abs(A.val()[p]);
        if (std::abs(A.at(i, i)) < others * (1 - 1e-14)) return false;
    }
    return true;
}

inline bool off_diagonals_are_nonpositive(const CsrMatrix<double>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i && A.val()[p] > 0) return false;
    return true;
}

inline Index count_zero_diagonals(const CsrMatrix<double>& A)
{
    Index zeros = 0;
    for (Index i = 0; i < A.rows(); ++i) zeros += A.at(i, i) == 0;
    return zeros;
}

/// The invariant of CsrMatrix: rows ascend strictly, indices are in range, values are finite.
inline bool is_well_formed(const CsrMatrix<double>& A)
{
    if (A.row_ptr().size() != static_cast<std::size_t>(A.rows()) + 1 || A.row_ptr()[0] != 0) return false;
    for (Index i = 0; i < A.rows(); ++i) {
        if (A.row_ptr()[i + 1] < A.row_ptr()[i]) return false;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const bool ascends = p == A.row_ptr()[i] || A.col()[p - 1] < A.col()[p];
            if (!ascends || A.col()[p] < 0 || A.col()[p] >= A.cols() || !std::isfinite(A.val()[p])) return false;
        }
    }
    return true;
}

inline bool same(const CsrMatrix<double>& A, const CsrMatrix<double>& B)
{
    return A.rows() == B.rows() && A.cols() == B.cols() && std::ranges::equal(A.row_ptr(), B.row_ptr()) &&
           std::ranges::equal(A.col(), B.col()) && std::ranges::equal(A.val(), B.val());
}

}  // namespace ilux
