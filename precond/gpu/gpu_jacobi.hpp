#pragma once
// M = diag(A) on a GPU.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/operator.hpp"
#include "ilux/precond/jacobi.hpp"

namespace ilux {

/// A zero diagonal entry leaves its component unscaled, as in Jacobi.
class GpuJacobi final : public Preconditioner<Gpu> {
public:
    /// @throws OutOfMemory, DeviceError
    GpuJacobi(Gpu& gpu, const Jacobi<>& jacobi);
    Index       size() const override { return static_cast<Index>(inverse_.size()); }
    std::size_t bytes() const { return inverse_.size() * sizeof(double); }
    void        apply(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override;
    void        apply_adjoint(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override { apply(be, r, z); }

private:
    DeviceBuffer<double> inverse_;
};

}  // namespace ilux
