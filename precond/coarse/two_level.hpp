#pragma once
// M and a coarse space, one after the other.

#include <memory>
#include <optional>

#include "ilux/precond/coarse/coarse_space.hpp"

namespace ilux {

/// q = P A_c⁻¹ Pᴴ r,  z = q + M⁻¹ (r − A q): I − M₂⁻¹ A = (I − M⁻¹ A)(I − Q A). For a positive A one of both stands on
/// either side, so that M₂ is Hermitian, and positive definite where A is: M where it is lumped, I − M₂⁻¹ A =
/// (I − ω M⁻¹ A)(I − Q A)(I − ω M⁻¹ A), ω of step_beside_coarse(), since then M ≥ A; else the coarse space, for any
/// positive definite M. CG needs that, whoever calls it.
template <Backend B, Scalar T = double>
class TwoLevel final : public Preconditioner<B, T> {
public:
    /// What it is made of.
    struct Parts {
        const LinearOperator<B, T>& A;                   ///< must outlive this
        bool                        of_adjoint = false;  ///< A is the adjoint of what M and the coarse space are of
        std::unique_ptr<Preconditioner<B, T>> M;
        bool                                  adjoinable = false;  ///< apply_adjoint() will be asked for
    };
    /// M alone, so far.
    explicit TwoLevel(Parts parts) : parts_(std::move(parts)), corrector_(parts_.A, parts_.of_adjoint) {}
    void  set(B& be, std::shared_ptr<const CoarseLevel<B, T>> coarse);
    Index size() const override { return parts_.A.size(); }
    void  apply(B& be, ConstSpan<B, T> r, Span<B, T> z) override;
    void  apply_adjoint(B& be, ConstSpan<B, T> r, Span<B, T> z) override;

private:
    /// One of both on either side.
    void around(B& be, ConstSpan<B, T> r, Span<B, T> z, bool adjoint);

    Parts                                 parts_;
    std::optional<CoarseCorrection<B, T>> Q_;
    bool                                  positive_ = false, lumped_ = false;
    Corrector<B, T>                       corrector_;
};

}  // namespace ilux
