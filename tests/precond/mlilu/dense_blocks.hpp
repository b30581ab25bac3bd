#pragma once
// Small dense algebra for the tests of precond/: blocks, permutations, inverses.

#include <cmath>
#include <span>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test::precond {

using Vector = std::vector<double>;

inline Dense zeros(Index rows, Index cols)
{
    return {rows, cols, Vector(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols))};
}

inline Dense plus(Dense A, const Dense& B, double factor = 1)
{
    for (std::size_t p = 0; p < A.a.size(); ++p) A.a[p] += factor * B.a[p];
    return A;
}

inline Dense diagonal(std::span<const double> d)
{
    const auto n = static_cast<Index>(d.size());
    Dense      D = zeros(n, n);
    for (Index i = 0; i < n; ++i) D(i, i) = d[i];
    return D;
}

inline Dense with_unit_diagonal(Dense A)
{
    for (Index i = 0; i < A.rows; ++i) A(i, i) = 1;
    return A;
}

inline Dense block(const Dense& A, Index row, Index rows, Index col, Index cols)
{
    Dense B = zeros(rows, cols);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) B(i, j) = A(row + i, col + j);
    return B;
}

inline void put(Dense& A, Index row, Index col, const Dense& B)
{
    for (Index i = 0; i < B.rows; ++i)
        for (Index j = 0; j < B.cols; ++j) A(row + i, col + j) = B(i, j);
}

/// B(i, j) = A(p[i], q[j]).
inline Dense permuted(const Dense& A, std::span<const Index> p, std::span<const Index> q)
{
    Dense B = zeros(A.rows, A.cols);
    for (Index i = 0; i < A.rows; ++i)
        for (Index j = 0; j < A.cols; ++j) B(i, j) = A(p[i], q[j]);
    return B;
}

/// max |a_ij|; NaN when an entry is.
inline double largest(const Dense& A)
{
    double max = 0;
    for (double value : A.a)
        if (!(std::abs(value) <= max)) max = std::abs(value);
    return max;
}

inline double largest_difference(const Dense& A, const Dense& B) { return largest(plus(A, B, -1)); }

/// @throws std::domain_error when singular
inline Dense inverse(const Dense& A)
{
    Dense X = zeros(A.rows, A.rows);
    for (Index j = 0; j < A.rows; ++j) {
        Vector e(A.rows);
        e[j] = 1;
        const Vector x = dense_solve(A, e);
        for (Index i = 0; i < A.rows; ++i) X(i, j) = x[i];
    }
    return X;
}

/// Cholesky succeeds on the symmetric part.
inline bool is_positive_definite(const Dense& A)
{
    const Index n = A.rows;
    Dense       L = zeros(n, n);
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) {
            double s = (A(i, j) + A(j, i)) / 2;
            for (Index k = 0; k < j; ++k) s -= L(i, k) * L(j, k);
            if (i == j && !(s > 0)) return false;
            L(i, j) = i == j ? std::sqrt(s) : s / L(j, j);
        }
    return true;
}

/// A saddle point, its unknowns without a diagonal in another unit.
inline CsrMatrix<> with_pressures_in(double unit, CsrMatrix<> A)
{
    std::vector<double> scale(A.rows(), 1.);
    for (Index i = 0; i < A.rows(); ++i)
        if (A.at(i, i) == 0) scale[i] = unit;
    scale_rows_cols(A, scale, scale);
    return A;
}

}  // namespace ilux::test::precond
