// gpu_dense_tail.hpp in a build without CUDA: there is no Gpu to make tails for.

#include "ilux/base/error.hpp"
#include "ilux/direct/gpu_dense_tail.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA"); }

}  // namespace

GpuDenseTail::GpuDenseTail(Gpu&, const DenseTail&) { absent(); }
template <class T>
void GpuDenseTail::run(Gpu&, T*, Index, Index) const
{
    absent();
}

template void GpuDenseTail::run(Gpu&, double*, Index, Index) const;
template void GpuDenseTail::run(Gpu&, float*, Index, Index) const;

}  // namespace ilux
