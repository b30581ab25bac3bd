#pragma once
// Whether a coarse space stands beside M, where that is left to us.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux {

/// Whether the options leave a coarse space to us, and nothing else in them speaks against one.
bool leaves_coarse(const SolverOptions& options);

/// Whether a coarse space is likely to gain, if A turns out to be Hermitian: its diagonal is positive, or that of a
/// saddle point, rows are many, and not dominant, so that M would be made by Crout's sweep, and A takes constants of
/// each kind of unknowns to little, or vectors were given. Rounds take the place of the sweep, and the coarse space
/// what they leave. Where single unknowns have couplings of both signs, as those of turned anisotropies, aggregates
/// serve them badly, and only beside a GPU, which has no sweep, is that better. Cost O(nnz) for each kind.
template <Scalar S>
bool coarse_may_gain(Cpu& cpu, const CsrView<S>& A, const MlIluOptions& options, bool beside_gpu);

constexpr Index least_coarse_rows = 10'000;  ///< a smaller system is soon factored without

}  // namespace ilux
