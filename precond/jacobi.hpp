#pragma once
// M = diag(A).

#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/base/matrix/single.hpp"

namespace ilux {

/// A zero diagonal entry leaves its component unscaled; zeros() counts them.
template <Scalar T = double>
class Jacobi final : public Preconditioner<Cpu, T> {
public:
    explicit Jacobi(const CsrView<T>& A, const Cpu& be = Cpu(1));
    /// That of R A C in single precision; a component that then leaves its range is unscaled.
    template <class Wide>
    Jacobi(const Jacobi<Wide>& wide, const SingleScales& scales);
    Index              zeros() const { return zeros_; }
    std::span<const T> inverse() const { return inverse_; }  ///< n; 1/a_ii, or 1
    Index              size() const override { return static_cast<Index>(inverse_.size()); }
    void               apply(Cpu& be, std::span<const T> r, std::span<T> z) override;
    void               apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z) override;

private:
    std::vector<T> inverse_;
    Index          zeros_ = 0;
};

}  // namespace ilux
