// Columns by AVX-512. L(:,i) lies packed in memory, and a column of at most eight entries fills one register: the mask
// of the places that L(:,i) takes in it lets vexpandpd do what member union positions do for one entry at a time. Wide
// columns live in a dense vector whose blocks of eight rows play the register.

#include "ilux/base/avx512.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/refactor_cpu/update_column.hpp"

namespace ilux::detail {
namespace {

ILUX_AVX512_INLINE __m512i magnitudes(__m512d x)
{
    return _mm512_and_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(0x7fff'ffff'ffff'ffff));
}
ILUX_AVX512_INLINE __mmask8 mask_of(std::uint64_t bits) { return static_cast<__mmask8>(bits); }
ILUX_AVX512_INLINE __mmask8 first_lanes(Offset count) { return mask_of((std::uint64_t{1} << count) - 1); }

alignas(64) constexpr std::int64_t lane_index[8][8] = {{0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1},
                                                       {2, 2, 2, 2, 2, 2, 2, 2}, {3, 3, 3, 3, 3, 3, 3, 3},
                                                       {4, 4, 4, 4, 4, 4, 4, 4}, {5, 5, 5, 5, 5, 5, 5, 5},
                                                       {6, 6, 6, 6, 6, 6, 6, 6}, {7, 7, 7, 7, 7, 7, 7, 7}};
/// One lane in all lanes.
ILUX_AVX512_INLINE __m512d spread(__m512d x, int lane)
{
    return _mm512_permutexvar_pd(_mm512_load_si512(lane_index[lane]), x);
}
/// x ← fma(−l, x_i, x) in the lanes of the mask, which the packed entries at l are for.
ILUX_AVX512_INLINE __m512d update(__m512d x, __mmask8 mask, const double* l, __m512d x_i)
{
    return _mm512_mask3_fnmadd_pd(_mm512_maskz_expandloadu_pd(mask, l), x_i, x, mask);
}

ILUX_AVX512 std::uint64_t load(const double* values, const std::uint32_t* source, const std::uint16_t* scale,
                               Offset count, double* to)
{
    const __m512d zero = _mm512_setzero_pd();
    __m512i       largest = _mm512_setzero_si512();
    Offset        e = 0;
    for (; e + 8 <= count; e += 8) {
        const __m512i from = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + e)));
        const __m512i bits = _mm512_cvtepu16_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scale + e)));
        const __m512d factor = _mm512_castsi512_pd(_mm512_slli_epi64(bits, 48));
        const __m512d input = _mm512_fmadd_pd(_mm512_i64gather_pd(from, values, 8), factor, zero);
        _mm512_storeu_pd(to + e, input);
        largest = _mm512_max_epu64(largest, magnitudes(input));
    }
    std::uint64_t result = _mm512_reduce_max_epu64(largest);
    for (; e < count; ++e) {
        to[e] = 0 + values[source[e]] * unpack_scale(scale[e]);
        result = magnitude(to[e]) > result ? magnitude(to[e]) : result;
    }
    return result;
}

ILUX_AVX512 void extremes(const double* pivot, Offset count, std::uint64_t& least, std::uint64_t& largest)
{
    __m512i low = _mm512_set1_epi64(static_cast<long long>(least)),
            high = _mm512_set1_epi64(static_cast<long long>(largest));
    for (Offset s = 0; s < count; s += 8) {
        const __mmask8 lanes = first_lanes(count - s < 8 ? count - s : 8);
        const __m512i  size = magnitudes(_mm512_maskz_loadu_pd(lanes, pivot + s));
        low = _mm512_mask_min_epu64(low, lanes, low, size);
        high = _mm512_max_epu64(high, size);
    }
    least = _mm512_reduce_min_epu64(low);
    largest = _mm512_reduce_max_epu64(high);
}

/// How large entries of U(:,k) may be without making a record of growth. @param b  one of B(:,k)  @param B  lane by
/// lane
ILUX_AVX512_INLINE __m512d allowed(__m512d B, double b, double limit)
{
    constexpr int larger_magnitude = 0b1011;  // the larger of the absolute values, without its sign
    return _mm512_mul_pd(_mm512_range_pd(B, _mm512_set1_pd(b), larger_magnitude), _mm512_set1_pd(limit));
}
/// The lanes of x that are larger, or NaN.
ILUX_AVX512_INLINE __mmask8 not_within(__mmask8 lanes, __m512d x, __m512d allowed)
{
    return _mm512_mask_cmp_pd_mask(lanes, _mm512_abs_pd(x), allowed, _CMP_NLE_UQ);
}
ILUX_AVX512_INLINE __mmask8 above(__m512d x, std::uint64_t limit)
{
    return _mm512_cmpgt_epu64_mask(magnitudes(x), _mm512_set1_epi64(static_cast<long long>(limit)));
}

/// A cursor's arrays in registers: a cursor that may be looked into elsewhere would live in memory.
struct Arrays {
    const ShortColumn*   column;
    const double*        input;
    const std::uint64_t* update;
    double*              pivot;
    double               growth_limit;
    std::uint64_t        multiplier_limit;
};
ILUX_AVX512_INLINE Arrays take(const ShortCursor<double>& c)
{
    return {c.column, c.input, c.update, c.pivot, c.growth_limit, c.multiplier_limit};
}
ILUX_AVX512_INLINE void give_back(ShortCursor<double>& c, const Arrays& a)
{
    c.column = a.column;
    c.input = a.input;
    c.update = a.update;
    c.pivot = a.pivot;
}
ILUX_AVX512_INLINE void look_at(ShortCursor<double>& c, Arrays& a, Index k)
{
    c.look_at(k);
    a.growth_limit = c.growth_limit;
    a.multiplier_limit = c.multiplier_limit;
}

template <bool updates, bool few>
ILUX_AVX512 void one_register(ShortCursor<double>& c, std::uint32_t count)
{
    double* const val = c.job.val;
    Arrays        a = take(c);
    for (const ShortColumn* end = a.column + count; a.column != end; ++a.column) {
        const ShortColumn s = *a.column;
        __mmask8          multiplies, grows = 0;
        __m512d           x = _mm512_maskz_expandloadu_pd(mask_of(s.in_mask), a.input);
        const __m512d     most = allowed(x, a.input[s.in_diag], a.growth_limit);
        a.input += _mm_popcnt_u32(s.in_mask);
        if constexpr (updates)
            for (int u = 0; u < s.diag; ++u) {
                const std::uint64_t code = *a.update++;
                x = update(x, mask_of(code), val + (code >> 32), spread(x, u));
            }
        double* const  column = val + s.start;
        const __mmask8 upper = mask_of((2u << s.diag) - 1);
        const Offset   below = s.entries - s.diag - 1;
        const __m512d  pivot = updates ? spread(x, s.diag) : _mm512_broadcastsd_pd(_mm512_castpd512_pd128(x));
        *a.pivot++ = _mm512_cvtsd_f64(pivot);
        _mm512_mask_storeu_pd(column, upper, x);
        if constexpr (few) {
            const __m256d x_l = _mm512_castpd512_pd256(_mm512_maskz_compress_pd(mask_of(~unsigned{upper}), x));
            const __m256d l = _mm256_maskz_div_pd(first_lanes(below), x_l, _mm512_castpd512_pd256(pivot));
            _mm256_mask_storeu_pd(column + s.diag + 1, first_lanes(below), l);
            multiplies = above(_mm512_zextpd256_pd512(l), a.multiplier_limit);
        } else {
            const __mmask8 lower = mask_of(first_lanes(s.entries) & ~unsigned{upper});
            const __m512d  l = _mm512_maskz_div_pd(lower, x, pivot);
            _mm512_mask_storeu_pd(column, lower, l);
            multiplies = above(l, a.multiplier_limit);
        }
        if constexpr (updates) grows = not_within(upper, x, most);
        if (!_kortestz_mask8_u8(multiplies, grows)) look_at(c, a, s.column);
    }
    give_back(c, a);
}

/// U(:,k) ← x and L(:,k) ← x / u_kk. @return whether the column must be looked at
template <int registers>
ILUX_AVX512_INLINE bool store_registers(Arrays& a, double* val, const ShortColumn& s, const __m512d* x,
                                        const __m512d* most)
{
    const std::uint64_t all = (std::uint64_t{1} << s.entries) - 1, upper = (std::uint64_t{2} << s.diag) - 1;
    __m512d             pivot = x[0];
#pragma GCC unroll 4
    for (int r = 1; r < registers; ++r)
        if (r == s.diag / 8) pivot = x[r];
    pivot = spread(pivot, s.diag % 8);
    *a.pivot++ = _mm512_cvtsd_f64(pivot);
    __mmask8 record = 0;
#pragma GCC unroll 4
    for (int r = 0; r < registers; ++r) {
        const auto mine = mask_of(all >> (8 * r)), u = mask_of(upper >> (8 * r)), lower = mask_of(mine & ~unsigned{u});
        __m512d    out = x[r];
        record |= not_within(mask_of(mine & u), x[r], most[r]);
        if (lower) {
            const __m512d l = _mm512_maskz_div_pd(lower, x[r], pivot);
            record |= above(l, a.multiplier_limit);
            out = _mm512_mask_mov_pd(out, lower, l);
        }
        _mm512_mask_storeu_pd(val + s.start + Offset{8} * r, mine, out);
    }
    return record != 0;
}

template <int registers>
ILUX_AVX512 void several_registers(ShortCursor<double>& c, std::uint32_t count)
{
    double* const val = c.job.val;
    Arrays        a = take(c);
    for (const ShortColumn* end = a.column + count; a.column != end; ++a.column) {
        const ShortColumn s = *a.column;
        const double      b = a.input[s.in_diag];
        __m512d           x[registers], most[registers];
#pragma GCC unroll 4
        for (int r = 0; r < registers; ++r) {
            const __mmask8 mask = mask_of(s.in_mask >> (8 * r));
            x[r] = _mm512_maskz_expandloadu_pd(mask, a.input);
            most[r] = allowed(x[r], b, a.growth_limit);
            a.input += _mm_popcnt_u32(mask);
        }
#pragma GCC unroll 4
        for (int from = 0; from < registers; ++from)
            for (int u = 0; u < 8 && 8 * from + u < s.diag; ++u) {
                const std::uint64_t code = *a.update++;
                const double*       l = val + (code >> 32);
                const __m512d       x_i = spread(x[from], u);
#pragma GCC unroll 4
                for (int r = from; r < registers; ++r) {
                    const __mmask8 mask = mask_of(code >> (8 * r));
                    x[r] = update(x[r], mask, l, x_i);
                    l += _mm_popcnt_u32(mask);
                }
            }
        if (store_registers<registers>(a, val, s, x, most)) look_at(c, a, s.column);
    }
    give_back(c, a);
}

/// For `width` columns i … of a supernode: U(:,k) ← x, x ← 0 in their rows; then their common tail at once.
template <int width>
ILUX_AVX512_INLINE int panel(const LowerBlocks& lower, double* val, double* x, Offset p, Index i, __m512i& largest)
{
    __m512d       x_i[width];
    const double* l[width];
    if constexpr (width == 1) {
        const double value = x[i];
        val[p] = value;
        x[i] = 0;
        x_i[0] = _mm512_set1_pd(value);
        largest = _mm512_max_epu64(largest, magnitudes(x_i[0]));
        l[0] = val + lower.column[i].start;
    } else {
        __m512d top = _mm512_maskz_loadu_pd(first_lanes(width), x + i);
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
            l[j] = val + lower.column[i + j].start;
            x_i[j] = spread(top, j);
            if (j + 1 == width) break;
            top = update(top, mask_of(unsigned{first_lanes(width)} & ~((2u << j) - 1)), l[j], x_i[j]);
            l[j] += width - 1 - j;
        }
        _mm512_mask_storeu_pd(val + p, first_lanes(width), top);
        largest = _mm512_max_epu64(largest, magnitudes(top));
        _mm512_mask_storeu_pd(x + i, first_lanes(width), _mm512_setzero_pd());
    }
    const LowerBlocks::Column& tail = lower.column[i + width - 1];
    for (Offset b = tail.first; b < tail.first + tail.blocks; ++b) {
        const __mmask8 mask = lower.mask[b];
        const int      entries = _mm_popcnt_u32(mask);
        double*        at = x + std::size_t{8} * lower.block[b];
        __m512d        rows = _mm512_load_pd(at);
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
            rows = update(rows, mask, l[j], x_i[j]);
            l[j] += entries;
        }
        _mm512_store_pd(at, rows);
    }
    return width;
}

/// L(:,k) ← x / u_kk, x ← 0.
/// @return its largest magnitude
ILUX_AVX512_INLINE std::uint64_t divide(const LowerBlocks& lower, double* x, double pivot, double* l, Index k)
{
    const __m512d              u = _mm512_set1_pd(pivot);
    const LowerBlocks::Column& column = lower.column[k];
    __m512i                    largest = _mm512_setzero_si512();
    for (Offset b = column.first; b < column.first + column.blocks; ++b) {
        const __mmask8 mask = lower.mask[b];
        const int      entries = _mm_popcnt_u32(mask);
        double*        at = x + std::size_t{8} * lower.block[b];
        const __m512d  rows = _mm512_load_pd(at), quotient = _mm512_maskz_div_pd(mask, rows, u);
        _mm512_mask_storeu_pd(l, first_lanes(entries), _mm512_maskz_compress_pd(mask, quotient));
        _mm512_store_pd(at, _mm512_maskz_mov_pd(mask_of(~unsigned{mask}), rows));
        largest = _mm512_max_epu64(largest, magnitudes(quotient));
        l += entries;
    }
    return _mm512_reduce_max_epu64(largest);
}

/// Where L(:,i) lies, for a column used later; its first lines, for one used soon.
ILUX_AVX512_INLINE void prefetch(const LowerBlocks& lower, const double* val, Index later, Index soon)
{
    _mm_prefetch(reinterpret_cast<const char*>(&lower.column[later]), _MM_HINT_T0);
    const double* l = val + lower.column[soon].start;
    _mm_prefetch(reinterpret_cast<const char*>(l), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(l + 8), _MM_HINT_T0);
}

template <bool waits>
ILUX_AVX512 void wide_column(RefactorJob<double>& job, RefactorThread<double>& thread, Index k)
{
    const LuPattern&   P = job.P;
    const LowerBlocks& lower = job.program.lower;
    double*            x = thread.x;
    double*            val = job.val;
    const double       b = load_column(job, x, k);
    __m512i            largest = _mm512_setzero_si512();
    const Index*       row = P.row.data();
    const Offset       last = P.col_ptr[k + 1] - 1;
    for (Offset p = P.col_ptr[k]; p < P.diag[k];) {
        const Index i = row[p];
        prefetch(lower, val, row[p + 8 < last ? p + 8 : last], row[p + 4 < last ? p + 4 : last]);
        const int panel_i = lower.column[i].panel;
        Offset    width = panel_i < P.diag[k] - p ? panel_i : P.diag[k] - p;
        if constexpr (waits) {
            job.wait_for(i);
            for (Offset j = 1; j < width && j < 8; ++j)
                if (!job.ready(i + j)) width = j;
        }
        if (width >= 8) p += panel<8>(lower, val, x, p, i, largest);
        else if (width >= 4) p += panel<4>(lower, val, x, p, i, largest);
        else if (width >= 2) p += panel<2>(lower, val, x, p, i, largest);
        else p += panel<1>(lower, val, x, p, i, largest);
    }
    const double pivot = x[k];
    x[k] = 0;
    val[P.diag[k]] = pivot;
    const std::uint64_t l = divide(lower, x, pivot, val + P.diag[k] + 1, k);
    std::uint64_t       u = _mm512_reduce_max_epu64(largest);
    u = magnitude(pivot) > u ? magnitude(pivot) : u;
    if (is_record(thread.seen, k, b, u, pivot, l)) record(job, thread.seen, k, b, u, pivot, l);
}

ILUX_AVX512 double subtract(double x, const double* val, const std::uint32_t* l, const std::uint32_t* u, Offset count)
{
    __m128d sum = _mm_set_sd(x);
    for (Offset t = 0; t < count; ++t) sum = _mm_fnmadd_sd(_mm_load_sd(val + l[t]), _mm_load_sd(val + u[t]), sum);
    return _mm_cvtsd_f64(sum);
}

constexpr ColumnKernels<double> avx512{true,
                                       wide_column<false>,
                                       wide_column<true>,
                                       load,
                                       extremes,
                                       subtract,
                                       {one_register<false, true>, one_register<false, false>, one_register<true, true>,
                                        one_register<true, false>, several_registers<2>, several_registers<3>,
                                        several_registers<4>}};

}  // namespace

const ColumnKernels<double>* avx512_kernels() { return processor_has_avx512() ? &avx512 : nullptr; }

}  // namespace ilux::detail
