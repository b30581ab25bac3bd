// gpu_sptrsv.hpp in a build without CUDA: no Gpu can be made there, so nothing but plans of order 0 is reached.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent()
{
    throw DeviceError("this ilux was built without CUDA; solve triangular systems on the CPU");
}

}  // namespace

template <class T>
struct GpuSpTrsvPlan<T>::Engine {};

template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan() = default;
template <class T>
GpuSpTrsvPlan<T>::~GpuSpTrsvPlan() = default;
template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan(GpuSpTrsvPlan&&) noexcept = default;
template <class T>
GpuSpTrsvPlan<T>& GpuSpTrsvPlan<T>::operator=(GpuSpTrsvPlan&&) noexcept = default;
template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan(Gpu&, const ForwardSystem<T>&, GpuSpTrsvEngine)
{
    absent();
}
template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan(Gpu&, const RenewedSystem&, GpuSpTrsvEngine)
{
    absent();
}
template <class T>
void GpuSpTrsvPlan<T>::refill(Gpu&, const T*)
{
    absent();
}
template <class T>
std::size_t GpuSpTrsvPlan<T>::bytes() const
{
    return 0;
}
template <class T>
auto GpuSpTrsvPlan<T>::workspace(Gpu&, Index) const -> Workspace
{
    absent();
}
template <class T>
void GpuSpTrsvPlan<T>::solve(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, Workspace&) const
{
    absent();
}
template <class T>
GpuSpTrsvPlan<T> gpu_sptrsv(Gpu&, const CsrView<working_of<T>>&, Triangle, Diagonal, bool, GpuSpTrsvEngine)
{
    absent();
}

#define ILUX_INSTANTIATE(T)                                                                             \
    template class GpuSpTrsvPlan<T>;                                                                    \
    template GpuSpTrsvPlan<T> gpu_sptrsv(Gpu&, const CsrView<working_of<T>>&, Triangle, Diagonal, bool, \
                                         GpuSpTrsvEngine);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
