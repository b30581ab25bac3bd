// gpu_dataflow.hpp in a build without CUDA: there is no Gpu to make programs for.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/dataflow/gpu_dataflow.hpp"

namespace ilux {

using detail::absent;

GpuDataflow::GpuDataflow(Gpu&, const DataflowProgram&, std::span<const std::int32_t>, std::span<const double>,
                         const DataflowTrial&)
{
    absent();
}
template <class T>
DeviceBuffer<T> GpuDataflow::workspace(Gpu&) const
{
    absent();
}
void GpuDataflow::run(Gpu&, const double*, const double*, DeviceSpan<double>, double*) const { absent(); }
void GpuDataflow::run(Gpu&, const double*, const float*, DeviceSpan<float>, double*) const { absent(); }

template DeviceBuffer<double> GpuDataflow::workspace(Gpu&) const;
template DeviceBuffer<float>  GpuDataflow::workspace(Gpu&) const;

}  // namespace ilux
