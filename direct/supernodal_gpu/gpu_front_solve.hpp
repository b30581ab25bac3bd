#pragma once
// x ← A⁻¹ b and A⁻ᵀ b from a supernodal LU on a GPU.

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_kernels.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_refactor.hpp"

namespace ilux {

/// Reads the numbers where a GpuFrontRefactor, which must stay where it is, has them. Serves one stream at a time.
template <Scalar S = double>
class GpuFrontSolve final : public GpuSubstitution<S> {
public:
    using V = cuda::Value<S>;

    /// O(n + nnz(F)) on the host. @param transpose  no or yes; Aᴴ is the conjugate of Aᵀ, with conjugated vectors
    /// @throws OutOfMemory; InvalidInput when 32 bits cannot count the update rows of all fronts
    GpuFrontSolve(Gpu& gpu, const GpuFrontRefactor<S>& numbers, Transpose transpose);

    /// solve_together right-hand sides at a time; there is room for any number.
    void run(Gpu& gpu, const S* b, S* x, Index rhs = 1) override;

    std::size_t bytes() const override { return arrays_.bytes(); }
    Index       launches() const { return launches_; }  ///< of one right-hand side, at least

private:
    bool              transposed_;
    FrontSolvePlan    plan_;
    DeviceArrays      arrays_;
    FrontSolveView<V> view_;
    FrontSolveFrame   enter_, leave_;
    Index             launches_ = 2;
};

}  // namespace ilux
