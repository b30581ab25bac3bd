#pragma once
// x ← A⁻¹ b and A⁻ᵀ b from factors on a GPU.

#include "ilux/direct/dot_program.hpp"
#include "ilux/direct/lu_solve.hpp"
#include "ilux/sptrsv/gpu_sptrsv.hpp"

namespace ilux {

/// Both substitutions, F, permutation and scaling in one launch (lu_forward_system.hpp, gpu_sptrsv.hpp), from a copy of the
/// factors in the order in which they are read. Pivots are multiplied by their inverse. Serves one stream at a time.
class GpuLuSolve {
public:
    /// @param slot_of  by entry of LuPattern, where it is among the factors; empty: entry e is at e
    /// Costs O(nnz), mostly on the host. @throws InvalidInput when 32 bits cannot count the entries; OutOfMemory
    GpuLuSolve(Gpu& gpu, const LuPattern& pattern, std::span<const DotProgram::Slot> slot_of, Transpose transpose,
               GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic);

    /// Takes over new numbers, which it copies: once after each refactorization. Only enqueued; allocates nothing.
    /// @param val  the factors, by slot, on the device
    void refill(Gpu& gpu, const double* val) { plan_.refill(gpu, val); }

    /// Only enqueued; allocates nothing; a launch for each right-hand side. Repeatable: bitwise. Zero pivots and NaN spread.
    /// @param b, x  rhs·n, on the device, vector after vector; not the same memory
    /// @throws InvalidInput before the first refill
    void run(Gpu& gpu, const double* b, double* x, Index rhs = 1);

    const GpuSpTrsvPlan<>& plan() const { return plan_; }
    std::size_t            bytes() const { return plan_.bytes() + workspace_.bytes(); }

private:
    GpuSpTrsvPlan<>            plan_;
    GpuSpTrsvPlan<>::Workspace workspace_;
};

}  // namespace ilux
