#include "ilux/solver/strategy/gpu_direct_side.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

template <class T>
DeviceBuffer<T> copy_on(Gpu& gpu, std::span<const T> host)
{
    gpu.make_current();
    DeviceBuffer<T> device(host.size());
    upload<T>(gpu, host, device);
    return device;
}

}  // namespace

template <Scalar S>
GpuDirectSide<S>::GpuDirectSide(Gpu& gpu, const CsrView<S>& A)
    : row_ptr_(copy_on<Offset>(gpu, A.row_ptr())),
      col_(copy_on<Index>(gpu, A.col())),
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
