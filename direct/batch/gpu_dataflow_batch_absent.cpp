// gpu_dataflow_batch.hpp in a build without CUDA: there is no Gpu to make batches for.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/batch/gpu_dataflow_batch.hpp"

namespace ilux {

using detail::absent;

GpuDataflowBatch::GpuDataflowBatch(Gpu&, const DataflowProgram&, Index, std::size_t, std::span<const std::int32_t>,
                                   std::span<const double>, const BatchTuning&)
{
    absent();
}
template <class T>
DataflowBatchSpace<T> GpuDataflowBatch::space(Gpu&) const
{
    absent();
}
template <class T>
void GpuDataflowBatch::run(Gpu&, const double*, DataflowBatchSpace<T>&) const
{
    absent();
}
template <class A>
void GpuDataflowBatch::run(Gpu&, const double*, GivenFactors<A>, DataflowBatchSpace<double>&, double*) const
{
    absent();
}

template DataflowBatchSpace<double> GpuDataflowBatch::space(Gpu&) const;
template DataflowBatchSpace<float>  GpuDataflowBatch::space(Gpu&) const;
template void                       GpuDataflowBatch::run(Gpu&, const double*, DataflowBatchSpace<double>&) const;
template void                       GpuDataflowBatch::run(Gpu&, const double*, DataflowBatchSpace<float>&) const;
template void GpuDataflowBatch::run(Gpu&, const double*, GivenFactors<double>, DataflowBatchSpace<double>&,
                                    double*) const;
template void GpuDataflowBatch::run(Gpu&, const double*, GivenFactors<float>, DataflowBatchSpace<double>&,
                                    double*) const;

}  // namespace ilux
