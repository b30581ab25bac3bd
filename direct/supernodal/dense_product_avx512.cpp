// Products and triangles by AVX-512: a tile of C of up to 24 × 8 numbers stays in registers while all its products are
// subtracted.

#include "ilux/base/avx512.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/supernodal/dense_product.hpp"

namespace ilux::detail {
namespace {

constexpr Index lanes = 8;

ILUX_AVX512_INLINE __mmask8 first_lanes(Index count) { return static_cast<__mmask8>((1u << count) - 1); }

/// Vector v of a column of a tile; the last of its `vectors` is masked.
template <int vectors>
ILUX_AVX512_INLINE __m512d load(const double* from, int v, __mmask8 last)
{
    return v + 1 < vectors ? _mm512_loadu_pd(from + lanes * v) : _mm512_maskz_loadu_pd(last, from + lanes * v);
}

/// C ← C − A B of one tile; A and C have up to 8 · vectors rows, `last` lanes of the last vector.
template <int vectors, int columns>
ILUX_AVX512 void subtract_tile(Index k, __mmask8 last, const double* A, Offset lda, const double* B, Offset ldb,
                               double* C, Offset ldc)
{
    __m512d c[columns][vectors];
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; ++v) c[j][v] = load<vectors>(C + j * ldc, v, last);
    for (Index p = 0; p < k; ++p, A += lda) {
        __m512d a[vectors];
#pragma GCC unroll 3
        for (int v = 0; v < vectors; ++v) a[v] = load<vectors>(A, v, last);
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) {
            const __m512d b = _mm512_set1_pd(B[p + j * ldb]);
#pragma GCC unroll 3
            for (int v = 0; v < vectors; ++v) c[j][v] = _mm512_fnmadd_pd(a[v], b, c[j][v]);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; ++v)
            if (v + 1 < vectors) _mm512_storeu_pd(C + j * ldc + lanes * v, c[j][v]);
            else _mm512_mask_storeu_pd(C + j * ldc + lanes * v, last, c[j][v]);
}

template <int vectors>
ILUX_AVX512 void subtract_strip(Index n, Index k, __mmask8 last, const double* A, Offset lda, const double* B,
                                Offset ldb, double* C, Offset ldc)
{
    Index j = 0;
    for (; j + 8 <= n; j += 8) subtract_tile<vectors, 8>(k, last, A, lda, B + j * ldb, ldb, C + j * ldc, ldc);
    if (n - j >= 4) subtract_tile<vectors, 4>(k, last, A, lda, B + j * ldb, ldb, C + j * ldc, ldc), j += 4;
    if (n - j >= 2) subtract_tile<vectors, 2>(k, last, A, lda, B + j * ldb, ldb, C + j * ldc, ldc), j += 2;
    if (n - j >= 1) subtract_tile<vectors, 1>(k, last, A, lda, B + j * ldb, ldb, C + j * ldc, ldc);
}

ILUX_AVX512 void product(Index m, Index n, Index k, const double* A, Offset lda, const double* B, Offset ldb, double* C,
                         Offset ldc)
{
    constexpr Index rows = 3 * lanes;
    Index           i = 0;
    for (; i + rows <= m; i += rows) subtract_strip<3>(n, k, first_lanes(lanes), A + i, lda, B, ldb, C + i, ldc);
    const Index rest = m - i;
    if (rest == 0) return;
    const __mmask8 last = first_lanes((rest - 1) % lanes + 1);
    if (rest > 2 * lanes) subtract_strip<3>(n, k, last, A + i, lda, B, ldb, C + i, ldc);
    else if (rest > lanes) subtract_strip<2>(n, k, last, A + i, lda, B, ldb, C + i, ldc);
    else subtract_strip<1>(n, k, last, A + i, lda, B, ldb, C + i, ldc);
}

/// Eight rows of B at a time: first what the rows above subtract, then their own triangle.
template <int columns>
ILUX_AVX512 void solve_columns(Index m, const double* L, Offset ldl, double* B, Offset ldb)
{
    for (Index first = 0; first < m; first += lanes) {
        const Index    rows = m - first < lanes ? m - first : lanes;
        const __mmask8 mask = first_lanes(rows);
        const double*  l = L + first;
        __m512d        c[columns];
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) c[j] = _mm512_maskz_loadu_pd(mask, B + first + j * ldb);
        for (Index p = 0; p < first; ++p, l += ldl) {
            const __m512d a = _mm512_maskz_loadu_pd(mask, l);
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j) c[j] = _mm512_fnmadd_pd(a, _mm512_set1_pd(B[p + j * ldb]), c[j]);
        }
        for (Index p = 0; p + 1 < rows; ++p, l += ldl) {
            const auto    below = static_cast<__mmask8>(mask & ~first_lanes(p + 1));
            const __m512d a = _mm512_maskz_loadu_pd(below, l);
            const __m512i lane = _mm512_set1_epi64(p);
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j)
                c[j] = _mm512_mask3_fnmadd_pd(a, _mm512_permutexvar_pd(lane, c[j]), c[j], below);
        }
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) _mm512_mask_storeu_pd(B + first + j * ldb, mask, c[j]);
    }
}

ILUX_AVX512 void triangle(Index m, Index n, const double* L, Offset ldl, double* B, Offset ldb)
{
    Index j = 0;
    for (; j + 8 <= n; j += 8) solve_columns<8>(m, L, ldl, B + j * ldb, ldb);
    if (n - j >= 4) solve_columns<4>(m, L, ldl, B + j * ldb, ldb), j += 4;
    if (n - j >= 2) solve_columns<2>(m, L, ldl, B + j * ldb, ldb), j += 2;
    if (n - j >= 1) solve_columns<1>(m, L, ldl, B + j * ldb, ldb);
}

constexpr DenseKernels<double> avx512{product, triangle, 1.5e7, 64};

}  // namespace

const DenseKernels<double>* avx512_dense_kernels() { return processor_has_avx512() ? &avx512 : nullptr; }

}  // namespace ilux::detail
