// Columns of complex numbers by FMA, a number in a register of two lanes: Re, Im. The steps and bits are those of
// minus_product and DividedBy. Of sizes only the squares are taken; what they might hide is looked at again, exactly.

#include <immintrin.h>

#include <algorithm>
#include <complex>

#include "ilux/base/processor.hpp"
#include "ilux/direct/refactor_cpu/update_column.hpp"

namespace ilux::detail {
namespace {

using Complex = std::complex<double>;

#define ILUX_LANES ILUX_FMA [[gnu::always_inline]] inline

ILUX_LANES __m128d get(const Complex* z) { return _mm_loadu_pd(reinterpret_cast<const double*>(z)); }
ILUX_LANES void    put(Complex* z, __m128d lanes) { _mm_storeu_pd(reinterpret_cast<double*>(z), lanes); }
ILUX_LANES __m128d take(Complex* z)
{
    const __m128d lanes = get(z);
    put(z, _mm_setzero_pd());
    return lanes;
}
ILUX_LANES Complex number(__m128d z) { return {_mm_cvtsd_f64(z), _mm_cvtsd_f64(_mm_unpackhi_pd(z, z))}; }
ILUX_LANES __m128d swapped(__m128d z) { return _mm_permute_pd(z, 1); }

/// x as the factor of products that are subtracted.
struct Factor {
    __m128d by_re, by_im;  ///< −Re x, −Im x; Im x, −Re x
};
ILUX_LANES Factor factor(__m128d x)
{
    return {_mm_xor_pd(x, _mm_set1_pd(-0.0)), _mm_xor_pd(swapped(x), _mm_set_pd(-0.0, 0.0))};
}
/// c − l x
ILUX_LANES __m128d minus_product(__m128d c, const Complex* l, const Factor& x)
{
    const double* parts = reinterpret_cast<const double*>(l);
    const __m128d re = _mm_loaddup_pd(parts), im = _mm_loaddup_pd(parts + 1);
    return _mm_fmadd_pd(re, x.by_re, _mm_fmadd_pd(im, x.by_im, c));
}

/// The largest of squares, and whether one of them is NaN or Inf.
class Largest {
public:
    ILUX_LANES void see(__m128d z)
    {
        const __m128d square = _mm_fmadd_sd(z, z, _mm_unpackhi_pd(_mm_mul_pd(z, z), z));
        most_ = _mm_max_sd(most_, square);
        check_ = _mm_fmadd_sd(square, _mm_setzero_pd(), check_);
    }
    /// Its root is the largest modulus, bit for bit: no smaller square is beyond the limits of modulus() and still of
    /// such a size.
    ILUX_LANES bool certain() const
    {
        const double most = _mm_cvtsd_f64(most_);
        return _mm_cvtsd_f64(check_) == 0 && most >= 4 * least_square && most <= largest_square / 4;
    }
    ILUX_LANES double root() const { return _mm_cvtsd_f64(_mm_sqrt_sd(most_, most_)); }

private:
    __m128d most_ = _mm_setzero_pd(), check_ = _mm_setzero_pd();
};

/// x ← B(:,k), to zeros. @return the largest of its entries
ILUX_LANES Largest load_lanes(const RefactorJob<Complex>& job, Complex* x, Index k)
{
    const LuPattern& P = job.P;
    const Offset     begin = P.in_ptr[k], end = P.in_split[k];
    Largest          b;
    for (Offset e = begin; e < end; ++e) {
        Complex* const at = x + P.in_row[e];
        const __m128d  sum =
            _mm_fmadd_pd(get(job.values + P.in_source[e]), _mm_loaddup_pd(P.in_scale.data() + e), get(at));
        put(at, sum);
        b.see(sum);
    }
    if (!job.program.duplicates) return b;
    Largest of_sums;
    for (Offset e = begin; e < end; ++e) of_sums.see(get(x + P.in_row[e]));
    return of_sums;
}

template <bool waits>
ILUX_FMA void column(RefactorJob<Complex>& job, RefactorThread<Complex>& thread, Index k)
{
    const LuPattern&    P = job.P;
    const Index* const  row = P.row.data();
    const Offset* const col_ptr = P.col_ptr.data();
    const Offset* const diag = P.diag.data();
    Complex* const      x = thread.x;
    Complex* const      val = job.val;
    const Largest       b = load_lanes(job, x, k);
    const Offset        at_diag = diag[k], end = col_ptr[k + 1];
    Largest             u, l;
    for (Offset p = col_ptr[k]; p < at_diag; ++p) {
        const Index i = row[p];
        if (waits) job.wait_for(i);
        const __m128d x_i = take(x + i);
        put(val + p, x_i);
        u.see(x_i);
        const Factor by = factor(x_i);
        const Offset last = col_ptr[i + 1];
        for (Offset q = diag[i] + 1; q < last; ++q) put(x + row[q], minus_product(get(x + row[q]), val + q, by));
    }
    const __m128d u_kk = take(x + k);
    put(val + at_diag, u_kk);
    u.see(u_kk);
    const Complex            pivot = number(u_kk);
    const DividedBy<Complex> by_pivot(pivot);
    const __m128d            re = _mm_set1_pd(by_pivot.re()), im = _mm_set_pd(-by_pivot.im(), by_pivot.im());
    const __m128d            d = _mm_set1_pd(by_pivot.d());
    for (Offset p = at_diag + 1; p < end; ++p) {
        const __m128d x_r = take(x + row[p]);
        const __m128d quotient = _mm_div_pd(_mm_fmadd_pd(swapped(x_r), im, _mm_mul_pd(x_r, re)), d);
        put(val + p, quotient);
        l.see(quotient);
    }
    const bool lower = end > at_diag + 1;
    if (!b.certain() || !u.certain() || (lower && !l.certain())) return inspect_sums(job, thread, k);
    const auto size_u = magnitude(u.root()), size_l = lower ? magnitude(l.root()) : 0;
    if (is_record(thread.seen, k, b.root(), size_u, pivot, size_l))
        record(job, thread.seen, k, b.root(), size_u, pivot, size_l);
}

ILUX_FMA Complex subtract(Complex x, const Complex* val, const std::uint32_t* l, const std::uint32_t* u, Offset count)
{
    __m128d sum = get(&x);
    for (Offset t = 0; t < count; ++t) sum = minus_product(sum, val + l[t], factor(get(val + u[t])));
    return number(sum);
}

}  // namespace

ColumnKernels<Complex> complex_fma_kernels(ColumnKernels<Complex> rest)
{
    rest.column = column<false>;
    rest.waiting_column = column<true>;
    rest.subtract = subtract;
    return rest;
}

}  // namespace ilux::detail
