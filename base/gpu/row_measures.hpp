#pragma once
// x of A x = b measured on a GPU. Rows of b − A x in twice the precision, as row_sum.hpp has them on the host; whatever
// only its scaled sums can tell is left to the host.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// An n×n matrix by rows in device memory; borrowed.
template <Scalar S>
struct DeviceRows {
    Index                    n = 0;
    DeviceSpan<const Offset> row_ptr;  ///< n + 1
    DeviceSpan<const Index>  col;
    DeviceSpan<const S>      val;
};

/// Measures of each row: n of each, in device memory.
template <Scalar S>
struct RowVectors {
    DeviceSpan<S>      r;         ///< b − A x
    DeviceSpan<double> size;      ///< |A||x| + |b|
    DeviceSpan<double> row_size;  ///< Σ_j |a_ij|
};

/// Largest magnitudes and backward errors over all rows.
struct RowMeasures {
    /// False: x or b is not finite, or the products of a row over- or underflow; nothing else is known then.
    bool   regular = true;
    double largest_x = 0, largest_b = 0, largest_r = 0;  ///< magnitudes
    double rowwise = 0;                                  ///< max |r|_i / size_i, where 0/0 counts as 0
    double rowwise_counting = 0;                         ///< max |r|_i / max(size_i, share · row_size_i · largest_x)
};

/// Bitwise repeatable; r and size of rows of up to 64 entries have the bits that row_sum gives. Waits.
/// Cost: a pass over A, two launches.
template <Scalar S>
RowMeasures measure_rows(Gpu& gpu, const DeviceRows<S>& A, DeviceSpan<const S> x, DeviceSpan<const S> b, double share,
                         const RowVectors<S>& rows);

/// D_i ← a power of two near 1 / max(size_i, least · row_size_i), and its inverse; 1 where that is 0 or not finite.
template <Scalar S>
void equilibrate_rows(Gpu& gpu, const RowVectors<S>& rows, double least, DeviceSpan<S> D, DeviceSpan<S> inverse);

/// scale_j ← min_i size_i / |a_ij|, or Inf, for the sizes measured last.
template <Scalar S>
void scale_unknowns(Gpu& gpu, const DeviceRows<S>& A, DeviceSpan<const double> size, DeviceSpan<double> scale);

/// An estimated error e of x.
struct ErrorMeasures {
    double largest = 0;        ///< s_i = max(|x|, |x + e|)_i
    double largest_error = 0;  ///< |e|; Inf where one is not finite
    double worst = 0;          ///< max |e|_i / max(s_i, own · scale_i) over unknowns above least · largest
    Index  worst_at = -1;      ///< the first unknown where that is; −1: all e_i that count are 0
    Index  uncertain = 0;      ///< of those unknowns, how many have more than `limit`
};
/// Waits. Three launches. @param scale  of scale_unknowns, or empty: 0
template <Scalar S>
ErrorMeasures measure_errors(Gpu& gpu, DeviceSpan<const S> x, DeviceSpan<const S> e, DeviceSpan<const double> scale,
                             double own, double least, double limit);

#define ILUX_ROW_MEASURES(S)                                                                                          \
    template RowMeasures   measure_rows(Gpu&, const DeviceRows<S>&, DeviceSpan<const S>, DeviceSpan<const S>, double, \
                                        const RowVectors<S>&);                                                        \
    template void          equilibrate_rows(Gpu&, const RowVectors<S>&, double, DeviceSpan<S>, DeviceSpan<S>);        \
    template void          scale_unknowns(Gpu&, const DeviceRows<S>&, DeviceSpan<const double>, DeviceSpan<double>);  \
    template ErrorMeasures measure_errors(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>, DeviceSpan<const double>,   \
                                          double, double, double);

}  // namespace ilux
