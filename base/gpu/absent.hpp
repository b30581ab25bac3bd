#pragma once
// What a function of the device does in a build without CUDA, where no Gpu can be made, and for values that no GPU takes.

#include "ilux/base/error.hpp"
#include "ilux/base/scalar.hpp"

namespace ilux::detail {

[[noreturn]] inline void absent() { throw DeviceError("this ilux was built without CUDA"); }

template <Scalar S>
[[noreturn]] void absent()
{
    if constexpr (is_complex<S>) throw DeviceError("LU of complex values runs on the host alone");
    else absent();
}

}  // namespace ilux::detail
