// Rows of b − A x in twice the precision [ogita05, Dot2], and what they say.
//
// A warp takes 32 rows: each lane sums a row, entry after entry; rows of more than `long_row` entries are then shared
// by all lanes, one row after another. Largest values are gathered by their bits, which order numbers from 0 on, by an
// integer maximum, whose order does not matter. Nobody waits.

#include <algorithm>
#include <array>
#include <bit>

#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/gpu/row_measures.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

using cuda::check;
using Bits = unsigned long long;

constexpr int      threads = 256;
constexpr unsigned all_lanes = ~0u;
constexpr Offset   long_row = 64;
constexpr double   least_size = 0x1p-900;  // the errors of smaller products may underflow

/// Numbers that a call leaves for the host, in scratch memory.
enum Slot { of_x, of_b, of_r, of_rows, of_counting_rows, irregular, slots };
enum ErrorSlot { of_sum, of_error, of_worst, at_worst, uncertain, error_slots };

__device__ double product(double a, double b) { return __dmul_rn(a, b); }  // the compiler fuses none of these
__device__ double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ double difference(double a, double b) { return __dsub_rn(a, b); }

/// The TwofoldSum of row_sum.hpp, on the device.
struct TwofoldSum {
    double high = 0, low = 0, size = 0;

    /// The exact high + other is high + what this returns.
    __device__ double absorb(double other)
    {
        const double next = sum(high, other), back = difference(next, high);
        const double lost = sum(difference(high, difference(next, back)), difference(other, back));
        high = next;
        return lost;
    }
    __device__ void add(double a, double x)
    {
        const double p = product(a, x), rest = fma(a, x, -p);
        low = sum(low, sum(rest, absorb(p)));
        size = sum(size, fabs(p));
    }
    __device__ void merge(const TwofoldSum& other)
    {
        low = sum(low, sum(other.low, absorb(other.high)));
        size = sum(size, other.size);
    }
    __device__ double value() const { return sum(high, low); }
};

__device__ TwofoldSum shuffled(const TwofoldSum& of, int step)
{
    return {cuda::shuffled_xor(of.high, step), cuda::shuffled_xor(of.low, step), cuda::shuffled_xor(of.size, step)};
}

/// b − Σ a x of one row, or a part of it.
template <class V>
struct RowOf;

template <>
struct RowOf<double> {
    TwofoldSum r;
    double     of_A = 0;         // Σ |a|
    bool       nonzero = false;  // a product is no 0, though it may have vanished

    __device__ void begin(double b) { r = {b, 0, fabs(b)}; }
    __device__ void add(double a, double x)
    {
        r.add(-a, x);
        of_A += fabs(a);
        nonzero = nonzero || (a != 0 && x != 0);
    }
    __device__ void merge(const RowOf& other)
    {
        r.merge(other.r);
        of_A += other.of_A;
        nonzero = nonzero || other.nonzero;
    }
    __device__ RowOf of_neighbour(int step) const
    {
        return {shuffled(r, step), cuda::shuffled_xor(of_A, step), __shfl_xor_sync(all_lanes, int(nonzero), step) != 0};
    }
    __device__ double value() const { return r.value(); }
    __device__ double size() const { return r.size; }
};

template <>
struct RowOf<cuda::Complex<double>> {
    using V = cuda::Complex<double>;
    TwofoldSum re, im;
    double     of_row = 0, of_A = 0;
    bool       nonzero = false;

    __device__ void begin(V b)
    {
        re = {b.re, 0, fabs(b.re)};
        im = {b.im, 0, fabs(b.im)};
        of_row = hypot(b.re, b.im);
    }
    __device__ void add(V a, V x)
    {
        re.add(-a.re, x.re);
        re.add(a.im, x.im);
        im.add(-a.re, x.im);
        im.add(-a.im, x.re);
        of_row = sum(of_row, hypot(difference(product(a.re, x.re), product(a.im, x.im)),
                                   sum(product(a.re, x.im), product(a.im, x.re))));
        of_A += hypot(a.re, a.im);
        nonzero = nonzero || (!cuda::is_zero(a) && !cuda::is_zero(x));
    }
    __device__ void merge(const RowOf& other)
    {
        re.merge(other.re);
        im.merge(other.im);
        of_row = sum(of_row, other.of_row);
        of_A += other.of_A;
        nonzero = nonzero || other.nonzero;
    }
    __device__ RowOf of_neighbour(int step) const
    {
        return {shuffled(re, step), shuffled(im, step), cuda::shuffled_xor(of_row, step),
                cuda::shuffled_xor(of_A, step), __shfl_xor_sync(all_lanes, int(nonzero), step) != 0};
    }
    __device__ V      value() const { return {re.value(), im.value()}; }
    __device__ double size() const { return of_row; }
};

template <class V>
struct Rows {
    Index         n;
    const Offset* row_ptr;
    const Index*  col;
    const V*      val;
    const V *     x, *b;
    V*            r;
    double *      size, *row_size;
};

__device__ Bits   bits_of(double value) { return static_cast<Bits>(__double_as_longlong(value)); }
__device__ double number_of(Bits bits) { return __longlong_as_double(static_cast<long long>(bits)); }

/// Whole warps call it. @param value  at least 0, or NaN, which counts as the largest
__device__ void raise(Bits* to, double value)
{
    value = cuda::over_lanes<cuda::Largest>(fabs(value));
    if (threadIdx.x % 32 == 0 && value != 0) atomicMax(to, bits_of(value));
}

template <class V>
__device__ RowOf<V> sum_short_row(const Rows<V>& A, Index i, Offset begin, Offset end)
{
    RowOf<V> row;
    row.begin(A.b[i]);
    for (Offset p = begin; p < end; ++p) row.add(A.val[p], A.x[A.col[p]]);
    return row;
}

/// By a warp; all lanes have it.
template <class V>
__device__ RowOf<V> sum_long_row(const Rows<V>& A, Index i, Offset begin, Offset end)
{
    RowOf<V> row;
    if (threadIdx.x % 32 == 0) row.begin(A.b[i]);
    for (Offset p = begin + threadIdx.x % 32; p < end; p += 32) row.add(A.val[p], A.x[A.col[p]]);
    for (int step = 1; step < 32; step *= 2) {
        const RowOf<V> other = row.of_neighbour(step);
        if (threadIdx.x & step) {  // the same order on both sides, and so the same bits
            RowOf<V> first = other;
            first.merge(row);
            row = first;
        } else row.merge(other);
    }
    return row;
}

template <class V>
__global__ void __launch_bounds__(threads) find_largest(Index n, const V* x, const V* b, Bits* found)
{
    double    x_most = 0, b_most = 0;
    bool      finite = true;
    const int stride = static_cast<int>(gridDim.x) * threads;
    for (Offset i = Offset{blockIdx.x} * threads + threadIdx.x; i < n; i += stride) {
        finite = finite && cuda::is_finite(x[i]) && cuda::is_finite(b[i]);
        x_most = fmax(x_most, cuda::magnitude(x[i]));
        b_most = fmax(b_most, cuda::magnitude(b[i]));
    }
    raise(found + of_x, x_most);
    raise(found + of_b, b_most);
    raise(found + irregular, finite ? 0 : 1);
}

/// Repeatable: bitwise.
template <class V>
__global__ void __launch_bounds__(threads) sum_rows(Rows<V> A, double share, Bits* found)
{
    constexpr int warps = threads / 32;
    const double  least = share * number_of(found[of_x]);
    const int     lane = threadIdx.x % 32;
    double        r_most = 0, rowwise = 0, counting = 0;
    bool          regular = true;
    for (Offset first = 32 * (Offset{blockIdx.x} * warps + threadIdx.x / 32); first < A.n;
         first += Offset{32} * gridDim.x * warps) {
        const bool   live = first + lane < A.n;
        const auto   i = static_cast<Index>(live ? first + lane : first);
        const Offset begin = A.row_ptr[i], end = A.row_ptr[i + 1];
        const bool   shared = live && end - begin > long_row;
        RowOf<V>     row;
        if (live && !shared) row = sum_short_row(A, i, begin, end);
        for (unsigned left = __ballot_sync(all_lanes, shared); left != 0; left &= left - 1) {
            const int      whose = __ffs(static_cast<int>(left)) - 1;
            const RowOf<V> all = sum_long_row(A, static_cast<Index>(first + whose),
                                              __shfl_sync(all_lanes, begin, whose), __shfl_sync(all_lanes, end, whose));
            if (lane == whose) row = all;
        }
        if (!live) continue;
        const V      r = row.value();
        const double size = row.size(), most = fmax(size, row.of_A * least), of_r = cuda::magnitude(r);
        A.r[i] = r;
        A.size[i] = size;
        A.row_size[i] = row.of_A;
        const bool empty = size == 0 && !row.nonzero;
        regular = regular && (empty || size >= least_size) && isfinite(most) && isfinite(of_r) && isfinite(row.of_A);
        r_most = fmax(r_most, of_r);
        if (of_r == 0) continue;
        rowwise = fmax(rowwise, of_r / size);
        counting = fmax(counting, of_r / most);
    }
    __syncwarp();
    raise(found + of_r, r_most);
    raise(found + of_rows, rowwise);
    raise(found + of_counting_rows, counting);
    raise(found + irregular, regular ? 0 : 1);
}

template <class V>
__global__ void __launch_bounds__(threads)
    equilibrate(Index n, const double* size, const double* row_size, double least, V* D, V* inverse)
{
    const Offset i = Offset{blockIdx.x} * threads + threadIdx.x;
    if (i >= n) return;
    const double most = fmax(size[i], row_size[i] * least);
    const bool   usable = isfinite(most) && most > 0;
    const int    exponent = usable ? max(-500, min(500, ilogb(most))) : 0;
    D[i] = cuda::from_real<V>(ldexp(1.0, -exponent));
    inverse[i] = cuda::from_real<V>(ldexp(1.0, exponent));
}

/// A warp takes a row. The least of numbers from 0 on is the least of their bits, whose order does not matter.
template <class V>
__global__ void __launch_bounds__(threads)
    find_scales(Index n, const Offset* row_ptr, const Index* col, const V* val, const double* size, Bits* scale)
{
    for (Offset i = (Offset{blockIdx.x} * threads + threadIdx.x) / 32; i < n; i += Offset{gridDim.x} * threads / 32)
        for (Offset p = row_ptr[i] + threadIdx.x % 32; p < row_ptr[i + 1]; p += 32)
            if (const double a = cuda::magnitude(val[p]); a > 0) atomicMin(scale + col[p], bits_of(size[i] / a));
}

/// The larger of x and what it should be; NaN where that is.
template <class V>
__device__ double size_of(V x, V e)
{
    const double better = cuda::magnitude(x + e);
    return isnan(better) ? better : fmax(cuda::magnitude(x), better);
}

/// NaN does not count as the largest size: a comparison with it is false on the host, too.
template <class V>
__global__ void __launch_bounds__(threads) find_largest_error(Index n, const V* x, const V* e, Bits* found)
{
    double    of_sums = 0, of_errors = 0;
    const int stride = static_cast<int>(gridDim.x) * threads;
    for (Offset i = Offset{blockIdx.x} * threads + threadIdx.x; i < n; i += stride) {
        of_sums = fmax(of_sums, size_of(x[i], e[i]));
        of_errors = fmax(of_errors, cuda::is_finite(e[i]) ? cuda::magnitude(e[i]) : INFINITY);
    }
    raise(found + of_sum, of_sums);
    raise(found + of_error, of_errors);
}

/// What unknowns are at least, by their equations: own · scale_i.
struct OwnScales {
    const double* scale;  // or null
    double        own;

    __device__ double of(Offset i) const { return scale != nullptr && isfinite(scale[i]) ? own * scale[i] : 0; }
};

/// |e_i| / max(s_i, of_own), or −1 where the unknown does not count.
template <class V>
__device__ double share_of(V x, V e, double of_own, double least)
{
    const double size = size_of(x, e);
    const bool   known = isfinite(size);
    if (cuda::is_zero(e) || (known && !(size > least))) return -1;
    return known ? cuda::magnitude(e) / fmax(size, of_own) : INFINITY;
}

template <class V>
__global__ void __launch_bounds__(threads)
    find_worst(Index n, const V* x, const V* e, OwnScales own, double least, double limit, Bits* found)
{
    least *= number_of(found[of_sum]);
    double    worst = 0;
    Bits      count = 0;
    const int stride = static_cast<int>(gridDim.x) * threads;
    for (Offset i = Offset{blockIdx.x} * threads + threadIdx.x; i < n; i += stride) {
        const double share = share_of(x[i], e[i], own.of(i), least);
        worst = fmax(worst, share);
        count += share > limit;
    }
    raise(found + of_worst, worst);
    if (count > 0) atomicAdd(found + uncertain, count);
}

/// The first unknown with the worst share. at_worst holds n − i, so that 0 is nobody and the largest the first.
template <class V>
__global__ void __launch_bounds__(threads)
    find_first(Index n, const V* x, const V* e, OwnScales own, double least, Bits* found)
{
    least *= number_of(found[of_sum]);
    const double worst = number_of(found[of_worst]);
    const Offset i = Offset{blockIdx.x} * threads + threadIdx.x;
    if (i < n && worst > 0 && share_of(x[i], e[i], own.of(i), least) == worst)
        atomicMax(found + at_worst, static_cast<Bits>(n - i));
}

unsigned blocks_of(Index n) { return static_cast<unsigned>((Offset{n} + threads - 1) / threads); }
unsigned at_most_blocks(Gpu& gpu, Index n)
{
    return std::min(blocks_of(n), 16u * static_cast<unsigned>(gpu.multiprocessors()));
}

/// Scratch memory for the numbers that a call finds, 0 to begin with.
Bits* begin_finding(Gpu& gpu, int count)
{
    auto* const found = reinterpret_cast<Bits*>(gpu.state().coefficients.data());
    check(cudaMemsetAsync(found, 0, static_cast<std::size_t>(count) * sizeof(Bits), cuda::stream(gpu)), "cudaMemset");
    return found;
}

template <int count>
std::array<Bits, count> what_was_found(Gpu& gpu, const Bits* found)
{
    const auto stream = cuda::stream(gpu);
    check(cudaMemcpyAsync(gpu.state().sums, found, count * sizeof(Bits), cudaMemcpyDeviceToHost, stream), "measures");
    check(cudaStreamSynchronize(stream), "measures");
    std::array<Bits, count> all;
    for (int k = 0; k < count; ++k) all[k] = std::bit_cast<Bits>(gpu.state().sums[k]);
    return all;
}

double on_host(Bits bits) { return std::bit_cast<double>(bits); }

}  // namespace

template <Scalar S>
RowMeasures measure_rows(Gpu& gpu, const DeviceRows<S>& A, DeviceSpan<const S> x, DeviceSpan<const S> b, double share,
                         const RowVectors<S>& rows)
{
    const cuda::Range range("measure_rows");
    if (A.n == 0) return {};
    const auto                 stream = cuda::stream(gpu);
    Bits* const                found = begin_finding(gpu, slots);
    const Rows<cuda::Value<S>> system{A.n,
                                      A.row_ptr.data(),
                                      A.col.data(),
                                      cuda::as_values(A.val.data()),
                                      cuda::as_values(x.data()),
                                      cuda::as_values(b.data()),
                                      cuda::as_values(rows.r.data()),
                                      rows.size.data(),
                                      rows.row_size.data()};
    find_largest<<<at_most_blocks(gpu, A.n), threads, 0, stream>>>(A.n, system.x, system.b, found);
    cuda::check_launch("find_largest");
    sum_rows<<<at_most_blocks(gpu, A.n), threads, 0, stream>>>(system, share, found);
    cuda::check_launch("sum_rows");
    const auto all = what_was_found<slots>(gpu, found);
    return {.regular = all[irregular] == 0,
            .largest_x = on_host(all[of_x]),
            .largest_b = on_host(all[of_b]),
            .largest_r = on_host(all[of_r]),
            .rowwise = on_host(all[of_rows]),
            .rowwise_counting = on_host(all[of_counting_rows])};
}

template <Scalar S>
void equilibrate_rows(Gpu& gpu, const RowVectors<S>& rows, double least, DeviceSpan<S> D, DeviceSpan<S> inverse)
{
    const cuda::Range range("equilibrate_rows");
    const auto        n = static_cast<Index>(D.size());
    if (n == 0) return;
    equilibrate<<<blocks_of(n), threads, 0, cuda::stream(gpu)>>>(n, rows.size.data(), rows.row_size.data(), least,
                                                                 cuda::as_values(D.data()),
                                                                 cuda::as_values(inverse.data()));
    cuda::check_launch("equilibrate");
}

template <Scalar S>
void scale_unknowns(Gpu& gpu, const DeviceRows<S>& A, DeviceSpan<const double> size, DeviceSpan<double> scale)
{
    const cuda::Range range("scale_unknowns");
    fill<double>(gpu, INFINITY, scale);
    const auto blocks = at_most_blocks(gpu, std::max(A.n, 1));
    find_scales<<<blocks, threads, 0, cuda::stream(gpu)>>>(A.n, A.row_ptr.data(), A.col.data(),
                                                           cuda::as_values(A.val.data()), size.data(),
                                                           reinterpret_cast<Bits*>(scale.data()));
    cuda::check_launch("find_scales");
}

template <Scalar S>
ErrorMeasures measure_errors(Gpu& gpu, DeviceSpan<const S> x, DeviceSpan<const S> e, DeviceSpan<const double> scale,
                             double own, double least, double limit)
{
    const cuda::Range range("measure_errors");
    const auto        n = static_cast<Index>(x.size());
    if (n == 0) return {};
    const auto      stream = cuda::stream(gpu);
    Bits* const     found = begin_finding(gpu, error_slots);
    const auto *    x_of = cuda::as_values(x.data()), *e_of = cuda::as_values(e.data());
    const OwnScales scales{scale.empty() ? nullptr : scale.data(), own};
    find_largest_error<<<at_most_blocks(gpu, n), threads, 0, stream>>>(n, x_of, e_of, found);
    cuda::check_launch("find_largest_error");
    find_worst<<<at_most_blocks(gpu, n), threads, 0, stream>>>(n, x_of, e_of, scales, least, limit, found);
    cuda::check_launch("find_worst");
    find_first<<<blocks_of(n), threads, 0, stream>>>(n, x_of, e_of, scales, least, found);
    cuda::check_launch("find_first");
    const auto all = what_was_found<error_slots>(gpu, found);
    return {.largest = on_host(all[of_sum]),
            .largest_error = on_host(all[of_error]),
            .worst = on_host(all[of_worst]),
            .worst_at = all[at_worst] == 0 ? Index{-1} : static_cast<Index>(n - static_cast<Offset>(all[at_worst])),
            .uncertain = static_cast<Index>(all[uncertain])};
}

ILUX_SCALARS(ILUX_ROW_MEASURES)

}  // namespace ilux
