#pragma once
// accuracy.hpp where b and x are in the memory of a GPU.

#include <optional>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/gpu/row_measures.hpp"
#include "ilux/engine/report/accuracy.hpp"

namespace ilux {

/// Measures x there. Only single numbers come to the host.
template <Scalar S = double>
class GpuAccuracy {
public:
    /// @param rows  n of each, to work in; all must outlive this  @param scale  n, for own scales of unknowns, or
    /// empty: without
    GpuAccuracy(Gpu& gpu, const DeviceRows<S>& A, const RowVectors<S>& rows, DeviceSpan<double> scale = {})
        : gpu_(gpu), A_(A), rows_(rows), scale_(scale)
    {}

    /// measure() and note_counting_rows(). Nothing where x or b is not finite, or numbers are so far from 1 that sums
    /// have to be scaled: the host has the last word.
    std::optional<Accuracy> measure(DeviceSpan<const S> x, DeviceSpan<const S> b);
    /// r ← −A z, as if z were measured. @param zero  n @return false: as measure() returns nothing
    bool multiply(DeviceSpan<const S> z, DeviceSpan<const S> zero)
    {
        return measure_rows<S>(gpu_, A_, z, zero, least_unknown, rows_).regular;
    }
    /// Own scales of the unknowns of the x measured last: note_own_scales().
    void note_own_scales() { scale_unknowns<S>(gpu_, A_, rows_.size, scale_); }
    /// Notes the error of the x measured last: note_error().
    void note_error(DeviceSpan<const S> x, DeviceSpan<const S> e, Accuracy& accuracy);
    /// Powers of two D_i near 1 / (|A||x| + |b|)_i for the x measured last, and their inverses.
    void equilibrate(DeviceSpan<S> D, DeviceSpan<S> inverse);

    DeviceSpan<const S> r() const { return rows_.r; }             ///< b − A x for the x measured last
    double              largest_x() const { return largest_x_; }  ///< of the x measured last

private:
    Gpu&               gpu_;
    DeviceRows<S>      A_;
    RowVectors<S>      rows_;
    DeviceSpan<double> scale_;
    double             largest_x_ = 0;
};

}  // namespace ilux
