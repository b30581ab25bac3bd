#pragma once
// M⁻¹ of a finished factorization as what a GPU solves well: few and large lower triangular systems, one after another.

#include <span>
#include <vector>

#include "ilux/base/gpu/usual_device.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/sptrsv/gpu/forward_system.hpp"

namespace ilux {

/// n values of r, of z, or of the work vector from `begin` on.
struct ApplyPart {
    enum class Of { r, z, work };
    Of     of = Of::work;
    Offset begin = 0;
    Index  n = 0;
};

/// out ← the solution of `system` for `in`; or in ← W in, where `dense` is set and `system` is empty.
template <class T>
struct ApplyStep {
    ApplyPart        in = {}, out = {};
    bool             dense = false;
    ForwardSystem<T> system = {};
};

/// z ← M⁻¹ r, step by step. A run of levels that keep L_G and U_F is one forward and one backward system, with the rest
/// of the factorization between them; a level that saves G and F is four. Values are stored as T.
template <class T>
struct ApplySystems {
    Index                     n = 0;
    Offset                    work = 0;  ///< numbers of scratch memory
    std::vector<ApplyStep<T>> steps = {};
    Index                     dense = 0;  ///< order of W; 0: none
    std::vector<T>            W = {};     ///< dense², by rows: the inverse of the dense level
};

/// What the systems will take, told without building them.
struct ApplySize {
    Index  steps = 0;
    Offset rows = 0, entries = 0;  ///< of all systems together, without diagonals
    Offset depth = 0;              ///< of all systems together, at most
    Index  dense = 0;
    Offset work = 0;

    /// Device memory of the systems with one workspace, values stored in `value_bytes`: an estimate, for the engines of
    /// sptrsv/ pad and index each in its own way.
    /// @param scalar_bytes  of a number of r and z
    std::size_t bytes(std::size_t value_bytes, std::size_t scalar_bytes,
                      int multiprocessors = usual_multiprocessors) const;
};

/// The systems of M⁻¹, or of M⁻ᴴ: the same with L ↔ Uᴴ, G ↔ Fᴴ and rows ↔ columns. Threaded; O(rows + entries), rows of
/// U_F are sorted, and the dense level is inverted by its `dense` solves.
/// @throws InvalidInput when T = float and a value is too large for it, or when ILU(0) met a zero pivot
template <class T>
ApplySystems<T> apply_systems(Cpu& be, const MlIluFactors<working_of<T>>& factors, bool adjoint);
template <class T>
ApplySystems<T> apply_systems(Cpu& be, const Ilu0<working_of<T>>& ilu0, bool adjoint);
template <Scalar S>
ApplySize apply_size(const MlIluFactors<S>& factors);
template <Scalar S>
ApplySize apply_size(const Ilu0<S>& ilu0);

/// The inverse of the dense level, by rows, or that of its adjoint. Threaded; 2 n³ flops.
/// @throws InvalidInput when T = float and a value is too large for it
template <class T>
std::vector<T> inverse_of(Cpu& be, const DenseLevel<working_of<T>>& dense, bool adjoint);

/// Options to build with for a GPU, where applying M costs its dependencies: off_diagonal=auto becomes keep (`save` has
/// twice as many, and its four systems hold L and U twice), depth_bound=auto becomes gpu_depth_bound.
MlIluOptions    for_gpu(MlIluOptions options);
constexpr Index gpu_depth_bound = 32;  ///< as fast as 16 in total, with fewer steps (docs/design/precond_gpu.md)

/// z ← M⁻¹ r, one step after another on one thread: what tests trust. @param work  systems.work values
template <class T>
void solve_serial(const ApplySystems<T>& systems, std::span<const working_of<T>> r, std::span<working_of<T>> z,
                  std::span<working_of<T>> work);

}  // namespace ilux
