#pragma once
// finish_iteration where b and x are on a GPU.

#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

/// As finish_iteration for the iteration that system.solve() was: x is measured and corrected on the device, where it stays.
/// @return false where it was not judged to the end: x or b is not finite, the range of the numbers asks for scaled sums, the device has
/// no room for the vectors that it takes, or the witness doubts x. The host has to judge it then.
template <Scalar S>
bool finish_on_gpu(GpuSystem<S>& system, const KrylovOptions& krylov, const Standard& standard, Witness<S>* witness,
                   const StopToken& stop, Attempt& tried);

}  // namespace ilux
