#include "ilux/direct/refactor_cpu/update_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/base/instances.hpp"

namespace ilux::detail {
namespace {

/// x ← B(:,k); then as CpuRefactor says.
template <bool waits, class S>
inline __attribute__((always_inline)) void column_body(RefactorJob<S>& job, RefactorThread<S>& thread, Index k)
{
    const LuPattern& P = job.P;
    const Index*     row = P.row.data();
    S*               x = thread.x;
    S*               val = job.val;
    const double     b = load_column(job, x, k);
    std::uint64_t    u = 0, l = 0;
    for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
        const Index i = row[p];
        if (waits) job.wait_for(i);
        const S x_i = std::exchange(x[i], S(0));
        val[p] = x_i;
        u = std::max(u, magnitude(x_i));
        for (Offset q = P.diag[i] + 1; q < P.col_ptr[i + 1]; ++q) x[row[q]] = minus_product(x[row[q]], val[q], x_i);
    }
    const S            pivot = std::exchange(x[k], S(0));
    const DividedBy<S> by_pivot(pivot);
    val[P.diag[k]] = pivot;
    for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) {
        val[p] = by_pivot(std::exchange(x[row[p]], S(0)));
        l = std::max(l, magnitude(val[p]));
    }
    u = std::max(u, magnitude(pivot));
    if (is_record(thread.seen, k, b, u, pivot, l)) record(job, thread.seen, k, b, u, pivot, l);
}

template <class S>
inline __attribute__((always_inline)) S subtract_body(S x, const S* val, const std::uint32_t* l, const std::uint32_t* u,
                                                      Offset count)
{
    for (Offset t = 0; t < count; ++t) x = minus_product(x, val[l[t]], val[u[t]]);
    return x;
}

template <class S>
void column(RefactorJob<S>& job, RefactorThread<S>& thread, Index k)
{
    column_body<false>(job, thread, k);
}
template <class S>
void waiting_column(RefactorJob<S>& job, RefactorThread<S>& thread, Index k)
{
    column_body<true>(job, thread, k);
}
template <class S>
S subtract(S x, const S* val, const std::uint32_t* l, const std::uint32_t* u, Offset count)
{
    return subtract_body(x, val, l, u, count);
}
template <class S>
std::uint64_t load(const S* values, const std::uint32_t* source, const std::uint16_t* scale, Offset count, S* to)
{
    std::uint64_t largest = 0;
    for (Offset e = 0; e < count; ++e) {
        to[e] = S(0) + values[source[e]] * unpack_scale(scale[e]);
        if constexpr (is_complex<S>) largest = std::max({largest, magnitude(to[e].real()), magnitude(to[e].imag())});
        else largest = std::max(largest, magnitude(to[e]));
    }
    return largest;
}
template <class S>
void extremes(const S* pivot, Offset count, std::uint64_t& least, std::uint64_t& largest)
{
    for (const S u : std::span(pivot, count)) {
        least = std::min(least, magnitude(u));
        largest = std::max(largest, magnitude(u));
    }
}

template <class S>
ILUX_FMA void column_fma(RefactorJob<S>& job, RefactorThread<S>& thread, Index k)
{
    column_body<false>(job, thread, k);
}
template <class S>
ILUX_FMA void waiting_column_fma(RefactorJob<S>& job, RefactorThread<S>& thread, Index k)
{
    column_body<true>(job, thread, k);
}
template <class S>
ILUX_FMA S subtract_fma(S x, const S* val, const std::uint32_t* l, const std::uint32_t* u, Offset count)
{
    return subtract_body(x, val, l, u, count);
}

template <class S>
constexpr ColumnKernels<S> portable{false, column<S>, waiting_column<S>, load<S>, extremes<S>, subtract<S>, {}};
template <class S>
constexpr ColumnKernels<S> fma{false, column_fma<S>, waiting_column_fma<S>, load<S>, extremes<S>, subtract_fma<S>, {}};

template <class S>
const ColumnKernels<S>* fma_kernels()
{
    if (!processor_has_fma()) return nullptr;
    if constexpr (is_complex<S>) {
        static const ColumnKernels<S> kernels = complex_fma_kernels(portable<S>);
        return &kernels;
    } else return &fma<S>;
}

template <class S>
const ColumnKernels<S>* vector_kernels()
{
    if constexpr (is_complex<S>) return nullptr;
    else return avx512_kernels();
}

}  // namespace

template <class S>
void record(RefactorJob<S>& job, PivotMonitor& seen, Index k, double b, std::uint64_t u, S pivot, std::uint64_t l)
{
    if (u >= infinite || pivot == S(0) || l >= infinite) return job.note_bad(k, u >= infinite || pivot != S(0));
    const double size = modulus(pivot);
    const double growth = b / std::bit_cast<double>(u);
    merge(seen, {.min_pivot = size,
                 .max_pivot = size,
                 .rgrowth = growth,
                 .growth_column = growth < 1 ? k : -1,
                 .max_multiplier = std::bit_cast<double>(l),
                 .multiplier_column = l > 0 ? k : -1});
}

namespace {

/// @param b  max |B(:,k)|
template <class S>
void record_stored(RefactorJob<S>& job, PivotMonitor& seen, Index k, double b)
{
    const LuPattern& P = job.P;
    std::uint64_t    u = 0, l = 0;
    for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) u = std::max(u, magnitude(job.val[p]));
    for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) l = std::max(l, magnitude(job.val[p]));
    record(job, seen, k, b, u, job.val[P.diag[k]], l);
}

}  // namespace

template <class S>
void inspect(RefactorJob<S>& job, PivotMonitor& seen, Index k)
{
    const LuPattern& P = job.P;
    double           b = 0;
    for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e)
        b = std::max(b, modulus(job.values[P.in_source[e]] * P.in_scale[e]));
    record_stored(job, seen, k, b);
}

template <class S>
void inspect_sums(RefactorJob<S>& job, RefactorThread<S>& thread, Index k)
{
    const LuPattern& P = job.P;
    const double     b = load_column(job, thread.x, k);
    for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) thread.x[P.in_row[e]] = 0;
    record_stored(job, thread.seen, k, b);
}

/// Ties matter where the window has columns before the one that holds the record. Below 1, 1 / g is rounded, and the
/// limit must let through whatever may be a record; times an input it must stay finite, so that Inf in U(:,k) exceeds
/// it.
template <class S>
void ShortCursor<S>::set_limits()
{
    constexpr double    below = 1 - 4 * std::numeric_limits<double>::epsilon();
    const PivotMonitor& seen = thread.seen;
    int                 exponent = 0;
    const double        inverse = 1 / seen.rgrowth, input = std::bit_cast<double>(largest_input);
    const bool   exact = std::frexp(seen.rgrowth, &exponent) == 0.5 && first > seen.growth_column;  // also for none
    const double finite =
        input < 1 ? std::numeric_limits<double>::max() : below * (std::numeric_limits<double>::max() / input);
    growth_limit = largest_input >= infinite ? 0 : std::min(exact ? inverse : below * inverse, finite);
    multiplier_limit = magnitude(seen.max_multiplier) - (first < seen.multiplier_column ? 1 : 0);
}

template <class S>
void ShortCursor<S>::look_at(Index k)
{
    inspect(job, thread.seen, k);
    set_limits();
}

template <class S>
const ColumnKernels<S>& column_kernels(Arithmetic arithmetic)
{
    const ColumnKernels<S>* found = &portable<S>;
    switch (arithmetic) {
        case Arithmetic::automatic:
            for (const auto* better : {fma_kernels<S>(), vector_kernels<S>()})
                if (better) found = better;
            return *found;
        case Arithmetic::portable:
            return *found;
        case Arithmetic::fma:
            found = fma_kernels<S>();
            break;
        case Arithmetic::avx512:
            found = vector_kernels<S>();
            break;
    }
    if (!found) throw InvalidOption("refactor: this processor lacks the instructions asked for");
    return *found;
}

#define ILUX_INSTANTIATE(S)                                                                               \
    template void record(RefactorJob<S>&, PivotMonitor&, Index, double, std::uint64_t, S, std::uint64_t); \
    template void inspect(RefactorJob<S>&, PivotMonitor&, Index);                                         \
    template void inspect_sums(RefactorJob<S>&, RefactorThread<S>&, Index);                               \
    template struct ShortCursor<S>;                                                                       \
    template const ColumnKernels<S>& column_kernels(Arithmetic);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
