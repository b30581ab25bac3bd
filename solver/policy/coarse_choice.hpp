#pragma once
// Whether a coarse space stands beside M, where that is left to us.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux {

/// Whether the options leave a coarse space to us, and nothing else in them speaks against one.
bool leaves_coarse(const SolverOptions& options);

/// What a coarse space is likely to gain.
enum class CoarseGain {
    none,
    rounds,  ///< if A turns out to be Hermitian, M is made in rounds, in place of Crout's sweep
    steps    ///< rows are dominant, so that M is made in rounds anyway; the coarse space saves steps
};
/// Rows are many, the diagonal is positive, or that of a saddle point, and A takes constants of each kind of unknowns
/// to little, or vectors were given. Where rows are not dominant, rounds take the place of Crout's sweep, and the
/// coarse space what they leave. Where single unknowns have couplings of both signs, as those of turned anisotropies,
/// aggregates serve them badly, and only beside a GPU, which has no sweep, is that better. Where rows are dominant,
/// rounds that compensate serve in a plane; in a space their steps grow with the mesh, and rounds beside a coarse space
/// store half as much. Cost O(nnz) for each kind.
template <Scalar S>
CoarseGain coarse_gain(Cpu& cpu, const CsrView<S>& A, const MlIluOptions& options, bool beside_gpu);

constexpr Index least_coarse_rows = 10'000;     ///< a smaller system is soon factored without
constexpr Index least_dominant_rows = 100'000;  ///< likewise, where rows are dominant

}  // namespace ilux
