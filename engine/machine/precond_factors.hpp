#pragma once
// M of an iteration, whichever kind it is.

#include <memory>
#include <optional>

#include "ilux/krylov/null_space.hpp"
#include "ilux/precond/coarse/found_vectors.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/jacobi.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace ilux {

/// M as it was factored, `rounds` on the device and the others on the host; at most one is there, and M = I without
/// any.
template <Scalar S = double>
struct PrecondFactors {
    std::optional<GpuRounds<S>> rounds = {};
    std::optional<MlIlu<S>>     mlilu = {};
    std::unique_ptr<Ilu0<S>>    ilu0 = {};
    std::unique_ptr<Jacobi<S>>  jacobi = {};

    std::shared_ptr<const CoarseLevel<Cpu, S>> coarse = {};        ///< beside mlilu; or null
    std::shared_ptr<const CoarseLevel<Gpu, S>> coarse_there = {};  ///< on the device, beside rounds or mlilu; or null
    struct CoarseVectors {
        FoundVectors<Cpu, S> here = {};   ///< beside `coarse`
        FoundVectors<Gpu, S> there = {};  ///< beside `coarse_there`
    };
    CoarseVectors coarse_vectors = {};  ///< until the coarse space is made, those of the matrix before

    std::shared_ptr<const NullSpace<S>> null_space = {};  ///< that M is kept clear of; null: none
};

}  // namespace ilux
