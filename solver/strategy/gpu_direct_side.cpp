#include "ilux/solver/strategy/gpu_direct_side.hpp"

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"

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

#define ILUX_INSTANTIATE(S) template class GpuDirectSide<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
