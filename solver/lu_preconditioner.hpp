#pragma once
// An LU of nearby numbers as a preconditioner.

#include "ilux/base/operator.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// z ← (L U)⁻¹ r for factors of the same matrix, or of one with other numbers: GMRES makes up for the difference.
class LuPreconditioner final : public Preconditioner<Cpu> {
public:
    /// @param factors  must outlive this
    explicit LuPreconditioner(const LuFactors& factors) : factors_(factors), ws_(factors.pattern->n) {}

    Index size() const override { return factors_.pattern->n; }
    void  apply(Cpu& be, std::span<const double> r, std::span<double> z) override { lu_solve(be, factors_, r, z, ws_); }
    void  apply_transpose(Cpu& be, std::span<const double> r, std::span<double> z) override
    {
        lu_solve(be, factors_, r, z, ws_, Transpose::yes);
    }

private:
    const LuFactors& factors_;
    LuWorkspace      ws_;
};

}  // namespace ilux
