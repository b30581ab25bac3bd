// gpu_lu_pattern.hpp in a build without CUDA: there is no Gpu to put a pattern on.

#include "ilux/base/error.hpp"
#include "ilux/direct/gpu_lu_pattern.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA"); }

}  // namespace

GpuLuPattern::GpuLuPattern(Gpu&, std::shared_ptr<const LuPattern>) { absent(); }
void GpuLuPattern::scatter(Gpu&, const double*, DeviceSpan<double>) const { absent(); }

}  // namespace ilux
