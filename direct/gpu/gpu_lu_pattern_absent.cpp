// gpu_lu_pattern.hpp in a build without CUDA: there is no Gpu to put a pattern on.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

namespace ilux {

using detail::absent;

GpuLuPattern::GpuLuPattern(Gpu&, std::shared_ptr<const LuPattern>) { absent(); }
void GpuLuPattern::scatter(Gpu&, const double*, DeviceSpan<double>) const { absent(); }

}  // namespace ilux
