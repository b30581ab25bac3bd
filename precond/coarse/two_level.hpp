#pragma once
// M and a coarse space, one after the other.

#include <memory>
#include <vector>

#include "ilux/precond/coarse/coarse_space.hpp"

namespace ilux {

/// q = P A_c⁻¹ Pᴴ r,  z = q + M⁻¹ (r − A q): I − M₂⁻¹ A = (I − M⁻¹ A)(I − Q A). The symmetric one has the coarse space
/// once more behind, z ← z + Q (r − A z), and is positive definite where M and A are: CG needs that.
template <Scalar T = double>
class TwoLevel final : public Preconditioner<Cpu, T> {
public:
    /// @param A, M  must outlive this
    TwoLevel(const LinearOperator<Cpu, T>& A, Preconditioner<Cpu, T>& M, std::shared_ptr<const CoarseLevel<T>> coarse,
             bool symmetric);
    Index size() const override { return n_; }
    void  apply(Cpu& be, std::span<const T> r, std::span<T> z) override;
    void  apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z) override;

private:
    Index                   n_;
    Preconditioner<Cpu, T>& M_;
    CoarseCorrection<T>     Q_;
    bool                    symmetric_;
    Corrector<T>            corrector_;
};

}  // namespace ilux
