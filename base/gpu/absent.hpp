#pragma once
// What a function of the device does in a build without CUDA, where no Gpu can be made.

#include "ilux/base/error.hpp"

namespace ilux::detail {

[[noreturn]] inline void absent() { throw DeviceError("this ilux was built without CUDA"); }

}  // namespace ilux::detail
