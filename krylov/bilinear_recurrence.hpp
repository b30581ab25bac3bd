#pragma once
// What cocg and sqmr have in common: the recurrences of r and p under the form xᵀy. Internal to krylov/.

#include <optional>

#include "ilux/krylov/iteration.hpp"

namespace ilux {

/// A cycle of p ← M⁻¹ r + (ρ/ρ₋) p, r ← r − α A p, with ρ = rᵀ M⁻¹ r and α = ρ / pᵀA p.
template <Backend B, Scalar S>
class BilinearRecurrence {
    using Vector = ConstSpan<B, S>;

public:
    /// @param r  of ‖r‖₂ = 1, where the cycle begins
    BilinearRecurrence(B& be, Iteration<B, S>& it, Span<B, S> r, Span<B, S> z, Span<B, S> p, Span<B, S> q)
        : be_(be), it_(it), r_(r), z_(z), p_(p), q_(q)
    {}

    /// One step: q = A p. @return α; nothing where ρ or pᵀA p vanishes or is not finite, which ends the cycle
    std::optional<S> advance()
    {
        it_.apply_M(r_, z_);
        const S rho = dotu<S>(be_, Vector(r_), Vector(z_));
        if (!usable(rho, norm_r_ * norm(z_), "rho = r'inv(M)r vanished")) return {};
        if (rho_before_ == S(0)) copy<S>(be_, Vector(z_), p_);
        else axpby<S>(be_, 1, Vector(z_), rho / rho_before_, p_);
        it_.apply_A(p_, q_);
        const S pAp = dotu<S>(be_, Vector(p_), Vector(q_));
        if (!usable(pAp, norm(p_) * norm(q_), "p'Ap vanished")) return {};
        const S alpha = rho / pAp;
        axpy<S>(be_, -alpha, Vector(q_), r_);
        norm_r_ = norm(r_);
        rho_before_ = rho;
        return alpha;
    }
    double norm_r() const { return norm_r_; }

private:
    double norm(Vector v) const { return norm2<S>(be_, v); }
    bool   usable(S value, double size, const char* what_if_not)
    {
        return it_.check_finite(value, product_not_finite) && it_.check_nonzero(value, size, what_if_not);
    }

    B&               be_;
    Iteration<B, S>& it_;
    Span<B, S>       r_, z_, p_, q_;
    double           norm_r_ = 1;
    S                rho_before_ = 0;
};

}  // namespace ilux
