// measure_device.hpp in a build without CUDA: no Gpu can be made there.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/lab/model/measure_device.hpp"

namespace ilux {

DeviceParameters measure_device(Gpu&) { detail::absent(); }

}  // namespace ilux
