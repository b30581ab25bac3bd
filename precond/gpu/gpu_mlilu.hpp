#pragma once
// The multilevel ILU on a GPU.

#include "ilux/precond/gpu/gpu_apply.hpp"

namespace ilux {

/// The multilevel ILU on a GPU, its values stored as T.
template <class T = double>
using GpuMlIlu = GpuFactors<T>;
/// The multilevel ILU on a GPU as a Preconditioner.
template <class T = double>
using GpuMlIluPreconditioner = GpuFactorPreconditioner<T>;

/// The factors of a finished build, stored on the device as T; M is applied in the values of b. Build with
/// for_gpu(options).
/// @throws OutOfMemory; DeviceError; InvalidInput when T = float and a value is too large for it
template <class T = double>
GpuMlIlu<T> gpu_mlilu(Cpu& cpu, Gpu& gpu, const MlIlu<working_of<T>>& mlilu, const GpuFactorOptions& options = {})
{
    return {cpu, gpu, mlilu.factors(), options};
}

}  // namespace ilux
