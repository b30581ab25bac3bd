// refactor_left.hpp in a build without CUDA: there is no Gpu to make patterns for.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/published/refactor_left.hpp"

namespace ilux {

using detail::absent;

LeftRefactor::LeftRefactor(Gpu&, std::shared_ptr<const GpuLuPattern>, const LeftTuning&) { absent(); }
Index LeftRefactor::resident_warps(Gpu&) { absent(); }
void  LeftRefactor::run(Gpu&, DeviceSpan<double>) { absent(); }

}  // namespace ilux
