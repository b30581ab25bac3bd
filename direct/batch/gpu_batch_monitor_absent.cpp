// gpu_batch_monitor.hpp in a build without CUDA: there are no factors on a Gpu to look at.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/batch/gpu_batch_monitor.hpp"

namespace ilux {

using detail::absent;

GpuBatchMonitor::GpuBatchMonitor(Gpu&, const LuPattern&, std::span<const DataflowProgram::Slot>, Index) { absent(); }
template <class T>
void GpuBatchMonitor::watch(Gpu&, const double*, const T*)
{
    absent();
}
std::vector<PivotMonitor> GpuBatchMonitor::result(Gpu&) const { absent(); }

template void GpuBatchMonitor::watch(Gpu&, const double*, const double*);
template void GpuBatchMonitor::watch(Gpu&, const double*, const float*);

}  // namespace ilux
