#pragma once
// Dense operations on one vector at a time, for the widest vectors that the caller is compiled for: always inlined.
// Memory is what they cost, and a call of BLAS for each small front would cost more.

#include <algorithm>

#include "ilux/base/types.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/supernodal/blas.hpp"

namespace ilux::by_vectors {

using blas::Op;

template <Op op, class S>
[[gnu::always_inline]] inline S value_of(S x)
{
    if constexpr (is_complex<S> && op == Op::adjoint) return conj(x);
    else return x;
}

/// y ← y − A x; A is m × k. Four columns at once, so that y is loaded and stored less often.
template <class S>
[[gnu::always_inline]] inline void multiply_subtract(Index m, Index k, const S* A, Offset ld, const S* x, S* y)
{
    Index j = 0;
    for (; j + 4 <= k; j += 4) {
        const S *a = A + j * ld, *b = a + ld, *c = b + ld, *d = c + ld;
        const S  xa = x[j], xb = x[j + 1], xc = x[j + 2], xd = x[j + 3];
#pragma omp simd
        for (Index i = 0; i < m; ++i)
            y[i] = minus_product(minus_product(minus_product(minus_product(y[i], a[i], xa), b[i], xb), c[i], xc), d[i],
                                 xd);
    }
    for (; j < k; ++j) {
        const S* a = A + j * ld;
        const S  xa = x[j];
#pragma omp simd
        for (Index i = 0; i < m; ++i) y[i] = minus_product(y[i], a[i], xa);
    }
}

/// y ← y − op(A) x; A is m × k, op transposes it.
template <Op op, class S>
[[gnu::always_inline]] inline void multiply_subtract_transposed(Index m, Index k, const S* A, Offset ld, const S* x,
                                                                S* y)
{
    constexpr Index lanes = 8;
    for (Index j = 0; j < k; ++j) {
        const S* a = A + j * ld;
        S        part[lanes] = {};
        Index    i = 0;
        for (; i + lanes <= m; i += lanes)
#pragma omp simd
            for (Index c = 0; c < lanes; ++c) part[c] = minus_product(part[c], value_of<op>(a[i + c]), x[i + c]);
        S sum = y[j];
        for (; i < m; ++i) sum = minus_product(sum, value_of<op>(a[i]), x[i]);
        for (const S p : part) sum += p;
        y[j] = sum;
    }
}

constexpr Index block = 32;  // of a triangle: what is outside goes by the functions above

/// y ← L⁻¹ y, ones on the diagonal.
template <class S>
[[gnu::always_inline]] inline void solve_lower(Index k, const S* L, Offset ld, S* y)
{
    for (Index first = 0; first < k; first += block) {
        const Index last = std::min(k, first + block);
        for (Index j = first; j < last; ++j)
            for (Index i = j + 1; i < last; ++i) y[i] = minus_product(y[i], L[i + j * ld], y[j]);
        multiply_subtract(k - last, last - first, L + last + first * ld, ld, y + first, y + last);
    }
}

/// y ← U⁻¹ y.
template <class S>
[[gnu::always_inline]] inline void solve_upper(Index k, const S* U, Offset ld, S* y)
{
    for (Index last = k; last > 0;) {
        const Index first = std::max<Index>(0, (last - 1) / block * block);
        for (Index j = last; j-- > first;) {
            y[j] = DividedBy<S>(U[j + j * ld])(y[j]);
            for (Index i = first; i < j; ++i) y[i] = minus_product(y[i], U[i + j * ld], y[j]);
        }
        multiply_subtract(first, last - first, U + first * ld, ld, y + first, y);
        last = first;
    }
}

/// y ← op(U)⁻¹ y.
template <Op op, class S>
[[gnu::always_inline]] inline void solve_upper_transposed(Index k, const S* U, Offset ld, S* y)
{
    for (Index j = 0; j < k; ++j) {
        multiply_subtract_transposed<op>(j, 1, U + j * ld, ld, y, y + j);
        y[j] = DividedBy<S>(value_of<op>(U[j + j * ld]))(y[j]);
    }
}

/// y ← op(L)⁻¹ y.
template <Op op, class S>
[[gnu::always_inline]] inline void solve_lower_transposed(Index k, const S* L, Offset ld, S* y)
{
    for (Index j = k; j-- > 0;)
        multiply_subtract_transposed<op>(k - j - 1, 1, L + j + 1 + j * ld, ld, y + j + 1, y + j);
}

}  // namespace ilux::by_vectors
