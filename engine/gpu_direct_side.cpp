#include "ilux/engine/gpu_direct_side.hpp"

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/pattern.hpp"

namespace ilux {

template <Scalar S>
GpuDirectSide<S>::GpuDirectSide(Gpu& gpu, const CsrView<S>& A)
    : row_ptr_(on_device<Offset>(gpu, A.row_ptr())),
      col_(on_device<Index>(gpu, A.col())),
      b_(A.rows()),
      x_(A.rows()),
      r_(A.rows()),
      error_(A.rows()),
      size_(A.rows()),
      row_size_(A.rows())
{}

template <Scalar S>
DeviceRows<S> GpuDirectSide<S>::adjoint_rows(Gpu& gpu, const CsrView<S>& A, DeviceSpan<const S> val)
{
    if (!adjoint_) {
        const TransposedPattern of = transposed_pattern(A.row_ptr(), A.col(), A.cols());
        adjoint_ = Adjoint{on_device<Offset>(gpu, of.row_ptr), on_device<Offset>(gpu, of.from),
                           on_device<Index>(gpu, of.col), DeviceBuffer<S>(of.col.size())};
    }
    gather_conjugates<S>(gpu, val, adjoint_->from, adjoint_->val);
    return {static_cast<Index>(b_.size()), adjoint_->row_ptr, adjoint_->col, adjoint_->val};
}

#define ILUX_INSTANTIATE(S) template class GpuDirectSide<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
