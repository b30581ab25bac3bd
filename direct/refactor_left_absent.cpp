// refactor_left.hpp in a build without CUDA: there is no Gpu to make patterns for.

#include "ilux/base/error.hpp"
#include "ilux/direct/refactor_left.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA"); }

}  // namespace

LeftRefactor::LeftRefactor(Gpu&, std::shared_ptr<const GpuLuPattern>, const LeftTuning&) { absent(); }
Index LeftRefactor::resident_warps(Gpu&) { absent(); }
void  LeftRefactor::run(Gpu&, DeviceSpan<double>) { absent(); }

}  // namespace ilux
