#pragma once
// What judges x of a direct solution on the GPU where the factors are.

#include <optional>

#include "ilux/base/csr.hpp"
#include "ilux/base/gpu/row_measures.hpp"

namespace ilux {

/// The pattern of A by rows, and vectors, in device memory.
template <Scalar S>
class GpuDirectSide {
public:
    /// @throws OutOfMemory, DeviceError
    GpuDirectSide(Gpu& gpu, const CsrView<S>& A);

    DeviceSpan<S> b() { return b_; }  ///< n each, here and below
    DeviceSpan<S> x() { return x_; }
    DeviceSpan<S> error() { return error_; }
    /// A with these values. @param val  in its order, on the device
    DeviceRows<S> rows(DeviceSpan<const S> val) const { return {static_cast<Index>(b_.size()), row_ptr_, col_, val}; }
    /// Aᴴ with these values of A: the first call brings its pattern, every call gathers the values.
    /// @param A  of that pattern  @throws OutOfMemory, DeviceError
    DeviceRows<S> adjoint_rows(Gpu& gpu, const CsrView<S>& A, DeviceSpan<const S> val);
    RowVectors<S> vectors() { return {r_, size_, row_size_}; }

private:
    /// Aᴴ by rows.
    struct Adjoint {
        DeviceBuffer<Offset> row_ptr, from;
        DeviceBuffer<Index>  col;
        DeviceBuffer<S>      val;
    };
    DeviceBuffer<Offset>   row_ptr_;
    DeviceBuffer<Index>    col_;
    DeviceBuffer<S>        b_, x_, r_, error_;
    DeviceBuffer<double>   size_, row_size_;
    std::optional<Adjoint> adjoint_;
};

}  // namespace ilux
