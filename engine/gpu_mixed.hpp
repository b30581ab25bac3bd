#pragma once
// What krylov.precision=mixed puts on a GPU beside A in double.

#include <cstddef>
#include <memory>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/engine/krylov_system.hpp"

namespace ilux {

/// R A C and the vectors, without M. @param on_device  A; where it fits single precision as it is, it is rounded there
/// @param bytes  of R A C there  @throws OutOfMemory, DeviceError
template <Scalar S>
MixedSystem<Gpu, S> mixed_on_gpu(Gpu& gpu, const CsrView<S>& A, const DeviceCsr<S>& on_device, Method method,
                                 const KrylovOptions& krylov, std::size_t& bytes);

/// M of R A C by an M of A that works in double, between vectors that are rounded. @param bytes  of its vectors
template <Scalar S>
std::unique_ptr<Preconditioner<Gpu, single_of<S>>> between_rounded(Gpu& gpu, std::unique_ptr<Preconditioner<Gpu, S>> M,
                                                                   const SingleScales& scales, std::size_t& bytes);

}  // namespace ilux
