#pragma once
// An LU of nearby values as a preconditioner.

#include <span>

#include "ilux/base/matrix/operator.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/engine/iterative_solver.hpp"
#include "ilux/engine/matrix_or_adjoint.hpp"

namespace ilux {

/// z ← (L U)⁻¹ r for factors of the same matrix, or of one with other values: GMRES makes up for the difference.
template <Scalar S = double>
class LuPreconditioner final : public Preconditioner<Cpu, S> {
public:
    /// @param factors  must outlive this
    explicit LuPreconditioner(const LuFactors<S>& factors) : factors_(factors), ws_(factors.pattern->n) {}

    Index size() const override { return factors_.pattern->n; }
    void  apply(Cpu& be, std::span<const S> r, std::span<S> z) override { lu_solve<S>(be, factors_, r, z, ws_); }
    void  apply_adjoint(Cpu& be, std::span<const S> r, std::span<S> z) override
    {
        lu_solve<S>(be, factors_, r, z, ws_, Transpose::adjoint);
    }

private:
    const LuFactors<S>& factors_;
    LuWorkspace<S>      ws_;
};

/// Solves A x = b, or Aᴴ x = b, by GMRES with an LU of other values, and holds x to `standard`.
/// @param krylov  with ‖A‖_F, restart and max_steps  @param tried  .x is the guess and becomes the solution
template <Scalar S>
void solve_by_former_lu(Cpu cpu, const MatrixOrAdjoint<S>& A, const LuFactors<S>& factors,
                        std::span<const NotDeduced<S>> b, const KrylovOptions& krylov, const Standard& standard,
                        const AttemptListener& listener, const StopToken& stop, Attempt& tried);

}  // namespace ilux
