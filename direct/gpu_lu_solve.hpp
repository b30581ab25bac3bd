#pragma once
// x ← A⁻¹ b and A⁻ᵀ b from factors on a GPU.

#include "ilux/direct/gpu_dots.hpp"
#include "ilux/direct/lu_solve.hpp"

namespace ilux {

/// Both substitutions, F, permutation and scaling in one launch. Serves one stream at a time.
class GpuLuSolve {
public:
    /// @param slot_of  by entry of LuPattern, where it is among the factors; empty: entry e is at e
    /// Costs O(nnz) on the host. @throws InvalidInput when 32 bits cannot count the entries
    GpuLuSolve(Gpu& gpu, const LuPattern& pattern, std::span<const DotProgram::Slot> slot_of, Transpose transpose);

    /// Only enqueued; allocates nothing. Repeatable: bitwise.
    /// @param val  the factors, by slot  @param b, x  n, on the device; not the same memory
    void run(Gpu& gpu, const double* val, const double* b, double* x);

    std::size_t bytes() const { return dots_.bytes() + slots_.size() * sizeof(double); }

private:
    GpuDots              dots_;
    DeviceBuffer<double> slots_;
};

}  // namespace ilux
