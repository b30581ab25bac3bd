#pragma once
// x ← A⁻¹ b and A⁻ᵀ b from factors on a GPU.

#include "ilux/direct/gpu/value_slot.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux {

/// Both substitutions, F, permutation and scaling in one launch (lu_forward_system.hpp, gpu_sptrsv.hpp), from a copy of
/// the factors in the order in which they are read. Pivots are multiplied by their inverse. Serves one stream at a
/// time.
template <Scalar S = double>
class GpuLuSolve {
public:
    /// @param slot_of  by entry of LuPattern, where it is among the factors; empty: entry e is at e
    /// Costs O(nnz), mostly on the host. @throws InvalidInput when 32 bits cannot count the entries; OutOfMemory
    /// @param transpose  no or yes; Aᴴ is the conjugate of Aᵀ, with conjugated vectors
    GpuLuSolve(Gpu& gpu, const LuPattern& pattern, std::span<const ValueSlot> slot_of, Transpose transpose,
               GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic);

    /// Takes over new numbers, which it copies: once after each refactorization. Only enqueued; allocates nothing.
    /// @param val  the factors, by slot, on the device
    void refill(Gpu& gpu, const S* val) { plan_.refill(gpu, val); }

    /// For launches of `rhs` right-hand sides, at most GpuSpTrsvPlan<>::most_rhs; allocates only where there was room
    /// for less. What a solve of one works in stays where it is, since graphs may know it.
    void        make_room(Gpu& gpu, Index rhs);
    Index       room() const { return room_; }
    std::size_t room_bytes() const { return one_.bytes(); }  ///< on the device, of each right-hand side

    /// Only enqueued; allocates nothing; a launch for as many right-hand sides as there is room for, each with the bits
    /// it has alone. Repeatable: bitwise. Zero pivots and NaN spread.
    /// @param b, x  rhs·n, on the device, vector after vector; not the same memory
    /// @throws InvalidInput before the first refill
    void run(Gpu& gpu, const S* b, S* x, Index rhs = 1);

    std::size_t bytes() const { return plan_.bytes() + one_.bytes() + several_.bytes(); }

private:
    GpuSpTrsvPlan<S>                     plan_;
    typename GpuSpTrsvPlan<S>::Workspace one_, several_;
    Index                                room_ = 1;
};

}  // namespace ilux
