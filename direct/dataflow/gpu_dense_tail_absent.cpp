// gpu_dense_tail.hpp in a build without CUDA: there is no Gpu to make tails for.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/dataflow/gpu_dense_tail.hpp"

namespace ilux {

using detail::absent;

GpuDenseTail::GpuDenseTail(Gpu&, const DenseTail&) { absent(); }
template <class T>
void GpuDenseTail::run(Gpu&, T*, Index, Index) const
{
    absent();
}

template void GpuDenseTail::run(Gpu&, double*, Index, Index) const;
template void GpuDenseTail::run(Gpu&, float*, Index, Index) const;

}  // namespace ilux
