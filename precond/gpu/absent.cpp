// What gpu_apply.cu and gpu_jacobi.cu hold, in a build without CUDA: no Gpu can be made there, so nothing of it is reached.

#include "ilux/base/error.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA; precondition on the CPU"); }

}  // namespace

GpuJacobi::GpuJacobi(Gpu&, const Jacobi<>&) { absent(); }
void GpuJacobi::apply(Gpu&, DeviceSpan<const double>, DeviceSpan<double>) { absent(); }

namespace detail {

template <class T>
void multiply_dense(Gpu&, DeviceSpan<const T>, DeviceSpan<double>, DeviceSpan<double>)
{
    absent();
}
template void multiply_dense(Gpu&, DeviceSpan<const double>, DeviceSpan<double>, DeviceSpan<double>);
template void multiply_dense(Gpu&, DeviceSpan<const float>, DeviceSpan<double>, DeviceSpan<double>);

std::shared_ptr<void> capture_graph(Gpu&, const std::function<void()>&) { absent(); }
void                  launch_graph(Gpu&, const std::shared_ptr<void>&) { absent(); }

}  // namespace detail
}  // namespace ilux
