#include "ilux/direct/supernodal/front_dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/supernodal/dense_product.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"

namespace ilux {
namespace {

constexpr Index few_columns = 8;  // below, a column at a time; above, by halves
constexpr auto  infinity = std::numeric_limits<double>::infinity();

/// What is compared in the search for a pivot; no root.
template <class S>
[[gnu::always_inline]] inline double size_of(S x)
{
    if constexpr (is_complex<S>) return std::abs(x.real()) + std::abs(x.imag());
    else return std::abs(x);
}

/// A number of the given size in the direction of x.
template <class S>
S of_size(S x, double size)
{
    const double now = modulus(x);
    if constexpr (is_complex<S>) return now > 0 ? x * (size / now) : S(size);
    else return std::copysign(size, x);
}

/// The row of the largest of rows i … k − 1, the first among equals. A NaN in row i is the largest; elsewhere it is
/// passed over.
template <class S>
[[gnu::always_inline]] inline Index row_of_largest(const S* column, Index i, Index k)
{
    const double own = size_of(column[i]);
    double       largest = own;
#pragma omp simd reduction(max : largest)
    for (Index r = i + 1; r < k; ++r) largest = std::max(largest, size_of(column[r]));
    if (!(largest > own)) return i;
    Index r = i + 1;
    while (size_of(column[r]) != largest) ++r;
    return r;
}

/// Columns first … last − 1, one after another.
template <class S>
[[gnu::always_inline]] inline void columns_one_by_one(S* a, Index m, Index k, Index first, Index last,
                                                      std::span<const double> sizes, std::span<Index> swap,
                                                      PivotsSeen& seen)
{
    const Offset ld = m;
    for (Index i = first; i < last; ++i) {
        S* const    column = a + i * ld;
        const Index at = row_of_largest(column, i, k);
        swap[i] = at;
        if (at != i)
            for (Index j = first; j < last; ++j) std::swap(a[i + j * ld], a[at + j * ld]);
        double size = modulus(column[i]);
        if (!(size > least_pivot * sizes[i]) && sizes[i] > 0 && size <= infinity) {
            size = least_pivot * sizes[i];
            column[i] = of_size(column[i], size);
            ++seen.replaced;
        }
        if (!(size > 0 && size < infinity) && seen.bad < 0) {
            seen.bad = i;
            seen.not_finite = size != 0;
        }
        seen.least = std::min(seen.least, size);
        seen.largest = std::max(seen.largest, size);
        const DividedBy<S> by_pivot(column[i]);
        double             multiplier = 0;
#pragma omp simd reduction(max : multiplier)
        for (Index r = i + 1; r < m; ++r) {
            column[r] = by_pivot(column[r]);
            multiplier = std::max(multiplier, modulus(column[r]));
        }
        if (multiplier > seen.multiplier) seen.multiplier = multiplier, seen.multiplier_column = i;
        for (Index j = i + 1; j < last; ++j) {
            S* const to = a + j * ld;
            const S  u = to[i];
#pragma omp simd
            for (Index r = i + 1; r < m; ++r) to[r] = minus_product(to[r], column[r], u);
        }
    }
}

template <class S>
void columns_portable(S* a, Index m, Index k, Index first, Index last, std::span<const double> sizes,
                      std::span<Index> swap, PivotsSeen& seen)
{
    columns_one_by_one(a, m, k, first, last, sizes, swap, seen);
}
template <class S>
ILUX_FMA void columns_fma(S* a, Index m, Index k, Index first, Index last, std::span<const double> sizes,
                          std::span<Index> swap, PivotsSeen& seen)
{
    columns_one_by_one(a, m, k, first, last, sizes, swap, seen);
}

}  // namespace

PivotsSeen::PivotsSeen() : least(infinity), largest(0), multiplier(0), rgrowth(infinity) {}

template <class S>
void exchange_rows(S* a, Index ld, Index columns, Index first, Index last, std::span<const Index> swap)
{
    for (Index j = 0; j < columns; ++j) {
        S* const column = a + static_cast<Offset>(j) * ld;
        for (Index i = first; i < last; ++i)
            if (swap[i] != i) std::swap(column[i], column[swap[i]]);
    }
}

template <class S>
void factor_panel(S* a, Index m, Index k, Index first, Index columns, std::span<const double> sizes,
                  std::span<Index> swap, PivotsSeen& seen)
{
    const Index last = first + columns;
    if (columns <= few_columns)
        return (processor_has_fma() ? columns_fma<S> : columns_portable<S>)(a, m, k, first, last, sizes, swap, seen);
    const Index  half = columns / 2, middle = first + half;
    const Offset ld = m;
    S* const     right = a + middle * ld;
    factor_panel(a, m, k, first, half, sizes, swap, seen);
    exchange_rows(right, m, columns - half, first, middle, swap);
    solve_unit_lower(half, columns - half, a + first + first * ld, m, right + first, m);
    subtract_product(m - middle, columns - half, half, a + middle + first * ld, m, right + first, m, right + middle, m);
    factor_panel(a, m, k, middle, columns - half, sizes, swap, seen);
    exchange_rows(a + first * ld, m, half, middle, last, swap);
}

#define ILUX_INSTANTIATE(S)                                                                               \
    template void factor_panel(S*, Index, Index, Index, Index, std::span<const double>, std::span<Index>, \
                               PivotsSeen&);                                                              \
    template void exchange_rows(S*, Index, Index, Index, Index, std::span<const Index>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
