#pragma once
// finish_iteration where b and x are on a GPU.

#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

/// As finish_iteration for the iteration that system.solve() was: x is measured and corrected on the device, where it stays.
/// @return false where it was not judged and is as it was: x or b is not finite, the range of the numbers asks for scaled sums, or
/// the device has no room for the vectors that it takes. The host has to judge it then.
template <Scalar S>
bool finish_on_gpu(GpuSystem<S>& system, const KrylovOptions& krylov, const Standard& standard,
                   const ProgressListener& on_progress, const StopToken& stop, Attempt& tried);

}  // namespace ilux
