// What gpu_apply.cu and gpu_jacobi.cu hold, in a build without CUDA: no Gpu can be made there, so nothing of it is
// reached.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA; precondition on the CPU"); }

}  // namespace

template <Scalar S>
GpuJacobi<S>::GpuJacobi(Gpu&, const Jacobi<S>&)
{
    absent();
}
template <Scalar S>
void GpuJacobi<S>::apply(Gpu&, DeviceSpan<const S>, DeviceSpan<S>)
{
    absent();
}
template <Scalar S>
void GpuJacobi<S>::apply_adjoint(Gpu&, DeviceSpan<const S>, DeviceSpan<S>)
{
    absent();
}

#define ILUX_INSTANTIATE(S) template class GpuJacobi<S>;
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

namespace detail {

template <class T>
void multiply_dense(Gpu&, DeviceSpan<const T>, DeviceSpan<working_of<T>>, DeviceSpan<working_of<T>>)
{
    absent();
}
#define ILUX_INSTANTIATE(T) \
    template void multiply_dense(Gpu&, DeviceSpan<const T>, DeviceSpan<working_of<T>>, DeviceSpan<working_of<T>>);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

std::shared_ptr<void> capture_graph(Gpu&, const std::function<void()>&) { absent(); }
void                  launch_graph(Gpu&, const std::shared_ptr<void>&) { absent(); }

}  // namespace detail
}  // namespace ilux
