#pragma once
// M = diag(A).

#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/csr.hpp"
#include "ilux/base/operator.hpp"

namespace ilux {

/// A zero diagonal entry leaves its component unscaled; zeros() counts them.
class Jacobi final : public Preconditioner<Cpu> {
public:
    explicit Jacobi(const CsrView<double>& A);
    Index                   zeros() const { return zeros_; }
    std::span<const double> inverse() const { return inverse_; }  ///< n; 1/a_ii, or 1
    Index                   size() const override { return static_cast<Index>(inverse_.size()); }
    void                    apply(Cpu& be, std::span<const double> r, std::span<double> z) override;
    void                    apply_adjoint(Cpu& be, std::span<const double> r, std::span<double> z) override;

private:
    std::vector<double> inverse_;
    Index               zeros_ = 0;
};

}  // namespace ilux
