// gpu_pivot_monitor.hpp in a build without CUDA: there is no Gpu to watch.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/gpu/gpu_pivot_monitor.hpp"

namespace ilux {

using detail::absent;

struct GpuPivotMonitor::State {};

GpuPivotMonitor::GpuPivotMonitor(Gpu&, std::shared_ptr<const GpuLuPattern>, std::span<const ValueSlot>) { absent(); }
GpuPivotMonitor::~GpuPivotMonitor() = default;
GpuPivotMonitor::GpuPivotMonitor(GpuPivotMonitor&&) noexcept = default;
GpuPivotMonitor& GpuPivotMonitor::operator=(GpuPivotMonitor&&) noexcept = default;
template <class T>
void GpuPivotMonitor::watch(Gpu&, const double*, const T*)
{
    absent();
}
PivotMonitor GpuPivotMonitor::result(Gpu&) const { absent(); }
std::size_t  GpuPivotMonitor::bytes() const { absent(); }

template void GpuPivotMonitor::watch(Gpu&, const double*, const double*);
template void GpuPivotMonitor::watch(Gpu&, const double*, const float*);

}  // namespace ilux
