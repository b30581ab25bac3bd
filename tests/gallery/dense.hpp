#pragma once
// Slow and obvious oracles for the gallery: dense copies and elimination.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

template <Scalar S>
struct DenseOf {
    Index          n = 0;
    std::vector<S> value;
    S&             operator()(Index i, Index j) { return value[static_cast<std::size_t>(i) * n + j]; }
    const S&       operator()(Index i, Index j) const { return value[static_cast<std::size_t>(i) * n + j]; }
    friend bool    operator==(const DenseOf&, const DenseOf&) = default;
};
using Dense = DenseOf<double>;

template <Scalar S>
DenseOf<S> dense(const CsrMatrix<S>& A)
{
    DenseOf<S> D{A.rows(), std::vector<S>(static_cast<std::size_t>(A.rows()) * A.cols(), 0)};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) D(i, A.col()[p]) = A.val()[p];
    return D;
}

inline Dense dense(Index n, std::initializer_list<double> rows) { return {n, rows}; }

template <Scalar S>
std::vector<S> times(const CsrMatrix<S>& A, const std::vector<S>& x)
{
    std::vector<S> y(A.rows(), 0);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) y[i] += A.val()[p] * x[A.col()[p]];
    return y;
}

template <Scalar S>
double largest(const std::vector<S>& x)
{
    double m = 0;
    for (const S value : x) m = std::max(m, std::abs(value));
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
template <Scalar S>
std::pair<DenseOf<S>, double> inverse(DenseOf<S> A)
{
    DenseOf<S> B{A.n, std::vector<S>(A.value.size(), 0)};
    for (Index i = 0; i < A.n; ++i) B(i, i) = 1;
    const double scale = largest(A.value);
    double       smallest = scale;
    for (Index k = 0; k < A.n; ++k) {
        Index pivot = k;
        for (Index i = k; i < A.n; ++i)
            if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
        smallest = std::min(smallest, std::abs(A(pivot, k)));
        if (A(pivot, k) == S(0)) break;
        for (Index j = 0; j < A.n; ++j) {
            std::swap(A(k, j), A(pivot, j));
            std::swap(B(k, j), B(pivot, j));
        }
        const S d = A(k, k);
        for (Index j = 0; j < A.n; ++j) {
            A(k, j) /= d;
            B(k, j) /= d;
        }
        for (Index i = 0; i < A.n; ++i) {
            const S l = A(i, k);
            if (i == k || l == S(0)) continue;
            for (Index j = 0; j < A.n; ++j) {
                A(i, j) -= l * A(k, j);
                B(i, j) -= l * B(k, j);
            }
        }
    }
    return {B, scale == 0 ? 0 : smallest / scale};
}

}  // namespace ilux
