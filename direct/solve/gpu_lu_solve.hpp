#pragma once
// x ← A⁻¹ b and A⁻ᵀ b from factors on a GPU.

#include "ilux/direct/gpu/gpu_refactor.hpp"
#include "ilux/direct/gpu/value_slot.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux {

/// Both substitutions, F, permutation and scaling in one launch (lu_forward_system.hpp, gpu_sptrsv.hpp), from a copy of
/// the factors in the order in which they are read. Pivots are multiplied by their inverse. Serves one stream at a
/// time.
template <Scalar S = double>
class GpuLuSolve final : public GpuSubstitution<S> {
public:
    /// @param val  the factors, by slot, on the device: what refill() reads
    /// @param slot_of  by entry of LuPattern, where it is among the factors; empty: entry e is at e
    /// Costs O(nnz), mostly on the host. @throws InvalidInput when 32 bits cannot count the entries; OutOfMemory
    /// @param transpose  no or yes; Aᴴ is the conjugate of Aᵀ, with conjugated vectors
    GpuLuSolve(Gpu& gpu, const LuPattern& pattern, const S* val, std::span<const ValueSlot> slot_of,
               Transpose transpose, GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic);

    void refill(Gpu& gpu) override { plan_.refill(gpu, val_); }

    /// For launches of `rhs` right-hand sides, at most GpuSpTrsvPlan<>::most_rhs; allocates only where there was room
    /// for less.
    void        make_room(Gpu& gpu, Index rhs) override;
    Index       room() const override { return room_; }
    std::size_t room_bytes() const override { return one_.bytes(); }

    /// A launch for as many right-hand sides as there is room for. @throws InvalidInput before the first refill
    void run(Gpu& gpu, const S* b, S* x, Index rhs = 1) override;

    std::size_t bytes() const override { return plan_.bytes() + one_.bytes() + several_.bytes(); }

private:
    const S*                             val_;
    GpuSpTrsvPlan<S>                     plan_;
    typename GpuSpTrsvPlan<S>::Workspace one_, several_;
    Index                                room_ = 1;
};

}  // namespace ilux
