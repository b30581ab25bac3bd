#pragma once
// M = diag(A) on a GPU.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/precond/jacobi.hpp"

namespace ilux {

/// A zero diagonal entry leaves its component unscaled, as in Jacobi.
template <Scalar S = double>
class GpuJacobi final : public Preconditioner<Gpu, S> {
public:
    /// @throws OutOfMemory, DeviceError
    GpuJacobi(Gpu& gpu, const Jacobi<S>& jacobi);
    Index       size() const override { return static_cast<Index>(inverse_.size()); }
    std::size_t bytes() const { return inverse_.size() * sizeof(S); }
    void        apply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z) override;
    void        apply_adjoint(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z) override;

private:
    template <bool conjugated>
    void multiply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z);

    DeviceBuffer<S> inverse_;
};

}  // namespace ilux
