#include "ilux/direct/refactor_cpu/update_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/processor.hpp"

namespace ilux::detail {
namespace {

/// x ← B(:,k); then as CpuRefactor says.
template <bool waits>
inline __attribute__((always_inline)) void column_body(RefactorJob& job, RefactorThread& thread, Index k)
{
    const LuPattern& P = job.P;
    const Index*     row = P.row.data();
    double*          x = thread.x;
    double*          val = job.val;
    const double     b = load_column(job, x, k);
    std::uint64_t    u = 0, l = 0;
    for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
        const Index i = row[p];
        if (waits) job.wait_for(i);
        const double x_i = std::exchange(x[i], 0.0);
        val[p] = x_i;
        u = std::max(u, magnitude(x_i));
        for (Offset q = P.diag[i] + 1; q < P.col_ptr[i + 1]; ++q) x[row[q]] = std::fma(-val[q], x_i, x[row[q]]);
    }
    const double pivot = std::exchange(x[k], 0.0);
    val[P.diag[k]] = pivot;
    for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) {
        val[p] = std::exchange(x[row[p]], 0.0) / pivot;
        l = std::max(l, magnitude(val[p]));
    }
    u = std::max(u, magnitude(pivot));
    if (is_record(thread.seen, k, b, u, pivot, l)) record(job, thread.seen, k, b, u, pivot, l);
}

inline __attribute__((always_inline)) double subtract_body(double x, const double* val, const std::uint32_t* l,
                                                           const std::uint32_t* u, Offset count)
{
    for (Offset t = 0; t < count; ++t) x = std::fma(-val[l[t]], val[u[t]], x);
    return x;
}

void   column(RefactorJob& job, RefactorThread& thread, Index k) { column_body<false>(job, thread, k); }
void   waiting_column(RefactorJob& job, RefactorThread& thread, Index k) { column_body<true>(job, thread, k); }
double subtract(double x, const double* val, const std::uint32_t* l, const std::uint32_t* u, Offset count)
{
    return subtract_body(x, val, l, u, count);
}
std::uint64_t load(const double* values, const std::uint32_t* source, const std::uint16_t* scale, Offset count,
                   double* to)
{
    std::uint64_t largest = 0;
    for (Offset e = 0; e < count; ++e) {
        to[e] = 0 + values[source[e]] * unpack_scale(scale[e]);
        largest = std::max(largest, magnitude(to[e]));
    }
    return largest;
}
void extremes(const double* pivot, Offset count, std::uint64_t& least, std::uint64_t& largest)
{
    for (const double u : std::span(pivot, count)) {
        least = std::min(least, magnitude(u));
        largest = std::max(largest, magnitude(u));
    }
}

constexpr ColumnKernels portable{false, column, waiting_column, load, extremes, subtract, {}};

ILUX_FMA void column_fma(RefactorJob& job, RefactorThread& thread, Index k) { column_body<false>(job, thread, k); }
ILUX_FMA void waiting_column_fma(RefactorJob& job, RefactorThread& thread, Index k)
{
    column_body<true>(job, thread, k);
}
ILUX_FMA double subtract_fma(double x, const double* val, const std::uint32_t* l, const std::uint32_t* u, Offset count)
{
    return subtract_body(x, val, l, u, count);
}

constexpr ColumnKernels fma{false, column_fma, waiting_column_fma, load, extremes, subtract_fma, {}};

const ColumnKernels* fma_kernels() { return processor_has_fma() ? &fma : nullptr; }

}  // namespace

void record(RefactorJob& job, PivotMonitor& seen, Index k, double b, std::uint64_t u, double pivot, std::uint64_t l)
{
    if (u >= infinite || pivot == 0 || l >= infinite) return job.note_bad(k, u >= infinite || pivot != 0);
    const double size = std::abs(pivot);
    const double growth = b / std::bit_cast<double>(u);
    merge(seen, {.min_pivot = size,
                 .max_pivot = size,
                 .rgrowth = growth,
                 .growth_column = growth < 1 ? k : -1,
                 .max_multiplier = std::bit_cast<double>(l),
                 .multiplier_column = l > 0 ? k : -1});
}

void inspect(RefactorJob& job, PivotMonitor& seen, Index k)
{
    const LuPattern& P = job.P;
    double           b = 0;
    std::uint64_t    u = 0, l = 0;
    for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e)
        b = std::max(b, std::abs(job.values[P.in_source[e]] * P.in_scale[e]));
    for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) u = std::max(u, magnitude(job.val[p]));
    for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) l = std::max(l, magnitude(job.val[p]));
    record(job, seen, k, b, u, job.val[P.diag[k]], l);
}

void merge(PivotMonitor& into, const PivotMonitor& other)
{
    into.min_pivot = std::min(into.min_pivot, other.min_pivot);
    into.max_pivot = std::max(into.max_pivot, other.max_pivot);
    if (other.growth_column >= 0 &&
        (other.rgrowth < into.rgrowth || (other.rgrowth == into.rgrowth && other.growth_column < into.growth_column))) {
        into.rgrowth = other.rgrowth;
        into.growth_column = other.growth_column;
    }
    if (other.multiplier_column >= 0 &&
        (other.max_multiplier > into.max_multiplier ||
         (other.max_multiplier == into.max_multiplier && other.multiplier_column < into.multiplier_column))) {
        into.max_multiplier = other.max_multiplier;
        into.multiplier_column = other.multiplier_column;
    }
}

/// Ties matter where the window has columns before the one that holds the record. Below 1, 1 / g is rounded, and the limit
/// must let through whatever may be a record; times an input it must stay finite, so that Inf in U(:,k) exceeds it.
void ShortCursor::set_limits()
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

void ShortCursor::look_at(Index k)
{
    inspect(job, thread.seen, k);
    set_limits();
}

const ColumnKernels& column_kernels(Arithmetic arithmetic)
{
    const ColumnKernels* found = &portable;
    switch (arithmetic) {
        case Arithmetic::automatic:
            for (const auto* better : {fma_kernels(), avx512_kernels()})
                if (better) found = better;
            return *found;
        case Arithmetic::portable:
            return *found;
        case Arithmetic::fma:
            found = fma_kernels();
            break;
        case Arithmetic::avx512:
            found = avx512_kernels();
            break;
    }
    if (!found) throw InvalidOption("refactor: this processor lacks the instructions asked for");
    return *found;
}

}  // namespace ilux::detail
