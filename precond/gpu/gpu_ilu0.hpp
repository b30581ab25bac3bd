#pragma once
// ILU(0) on a GPU.

#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/precond/ilu0.hpp"

namespace ilux {

/// ILU(0) on a GPU, its values stored as T.
template <class T = double>
using GpuIlu0 = GpuFactors<T>;
/// ILU(0) on a GPU as a Preconditioner.
template <class T = double>
using GpuIlu0Preconditioner = GpuFactorPreconditioner<T>;

/// L and U as they were factored on the host, stored on the device as T; M is applied in the values of b.
/// @throws InvalidInput when there is a zero pivot, or T = float and a value is too large for it; OutOfMemory;
/// DeviceError
template <class T = double>
GpuIlu0<T> gpu_ilu0(Cpu& cpu, Gpu& gpu, const Ilu0<working_of<T>>& ilu0, const GpuFactorOptions& options = {})
{
    return {cpu, gpu, ilu0, options};
}

}  // namespace ilux
