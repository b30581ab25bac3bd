#pragma once
// Which triangle, and one row of substitution: the arithmetic that all host engines share, so that they agree bitwise.

#include <cstddef>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// Which triangle a matrix is.
enum class Triangle { lower, upper };
/// Where the diagonal of a triangle is.
enum class Diagonal {
    unit,    ///< ones, not stored: the matrix is strictly triangular
    stored,  ///< in the matrix; a missing entry counts as 0
};

/// Which values a solve reads: with those of the transpose conjugated it is one with the adjoint.
enum class Values { as_stored, conjugated };

constexpr Triangle opposite(Triangle t) { return t == Triangle::lower ? Triangle::upper : Triangle::lower; }

/// @throws InvalidInput unless A is square with entries in that triangle alone, strictly inside it for Diagonal::unit
template <class T>
void check_triangle(const CsrView<T>& A, Triangle triangle, Diagonal diagonal);

namespace detail {

/// A stored value as the arithmetic has it.
template <Values values, class S, class T>
inline S value_of(T stored)
{
    if constexpr (is_complex<T> && values == Values::conjugated) return S(conj(stored));
    else return static_cast<S>(stored);
}

/// x_i ← (b_i − Σ_j a_ij x_j) / a_ii for `count` right-hand sides n apart. Terms are subtracted far columns first:
/// the order in which scattering columns of the transpose would meet them.
template <Triangle triangle, int count, Values values, class T, class S>
inline void substitute_row(const CsrView<T>& A, Diagonal diagonal, Index i, const S* b, S* x)
{
    constexpr bool lower = triangle == Triangle::lower;
    const auto     n = static_cast<std::size_t>(A.rows());
    const Index*   col = A.col().data();
    const T*       val = A.val().data();
    Offset         first = A.row_ptr()[i], end = A.row_ptr()[i + 1];
    S              pivot = 1;
    if (diagonal == Diagonal::stored) {  // the last entry of a lower row, the first of an upper one
        const bool present = first < end && col[lower ? end - 1 : first] == i;
        pivot = present ? value_of<values, S>(val[lower ? end - 1 : first]) : S(0);
        if (present) lower ? --end : ++first;
    }
    S sum[count];
    for (int r = 0; r < count; ++r) sum[r] = b[r * n + i];
    for (Offset s = 0; s < end - first; ++s) {
        const Offset p = lower ? first + s : end - 1 - s;
        for (int r = 0; r < count; ++r) sum[r] -= value_of<values, S>(val[p]) * x[r * n + col[p]];
    }
    for (int r = 0; r < count; ++r) x[r * n + i] = diagonal == Diagonal::stored ? sum[r] / pivot : sum[r];
}

}  // namespace detail
}  // namespace ilux
