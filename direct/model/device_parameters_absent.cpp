// device_parameters.hpp in a build without CUDA: there is no Gpu to measure.

#include "ilux/base/error.hpp"
#include "ilux/direct/model/device_parameters.hpp"

namespace ilux {

DeviceParameters measure_device(Gpu&) { throw DeviceError("this ilux was built without CUDA"); }

}  // namespace ilux
