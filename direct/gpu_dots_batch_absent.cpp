// gpu_dots_batch.hpp in a build without CUDA: there is no Gpu to make batches for.

#include "ilux/direct/absent.hpp"
#include "ilux/direct/gpu_dots_batch.hpp"

namespace ilux {

using detail::absent;

GpuDotsBatch::GpuDotsBatch(Gpu&, const DotProgram&, Index, std::size_t, std::span<const std::int32_t>,
                           std::span<const double>, const BatchTuning&)
{
    absent();
}
template <class T>
DotsBatchSpace<T> GpuDotsBatch::space(Gpu&) const
{
    absent();
}
template <class T>
void GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<T>&) const
{
    absent();
}
template <class A>
void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<A>, DotsBatchSpace<double>&, double*) const
{
    absent();
}

template DotsBatchSpace<double> GpuDotsBatch::space(Gpu&) const;
template DotsBatchSpace<float>  GpuDotsBatch::space(Gpu&) const;
template void                   GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<double>&) const;
template void                   GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<float>&) const;
template void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<double>, DotsBatchSpace<double>&, double*) const;
template void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<float>, DotsBatchSpace<double>&, double*) const;

}  // namespace ilux
