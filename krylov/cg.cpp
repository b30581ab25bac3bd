#include "ilux/krylov/cg.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {

template <Backend B, Scalar S>
IterationReport cg(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                   Span<B, NotDeduced<S>> x, CgWorkspace<B, S>& ws, const KrylovOptions& opt,
                   const ProgressListener& on_progress, const StopToken& stop)
{
    using Vector = ConstSpan<B, S>;
    auto [r, z, p, q, best] = ws.all();
    Iteration<B, S> it(be, A, M, b, x, best, opt, on_progress, stop);
    // Ends the solve in breakdown or as not_finite where `value` is not positive; returns whether it is.
    const auto check_positive = [&](double value, const char* what_if_not) {
        if (std::isfinite(value) && !(value > 0)) it.stop.fail(Outcome::breakdown, what_if_not);
        return it.check_finite(value, product_not_finite) && value > 0;
    };

    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        const double beta = it.residual_norm();  // all below in units of ‖r₀‖₂: neither over- nor underflow
        scale<S>(be, 1 / beta, r);
        double rho_before = 0;
        for (double norm_r = 1; !it.stop.ends_cycle(beta * norm_r);) {
            it.apply_M(r, z);                                                // z ← M⁻¹ r
            const double rho = real_part(dot<S>(be, Vector(r), Vector(z)));  // ρ = rᴴ z, real for a Hermitian M
            if (!check_positive(rho, "r'inv(M)r <= 0: M is not positive definite")) break;
            if (rho_before == 0) copy<S>(be, Vector(z), p);
            else axpby<S>(be, 1, Vector(z), rho / rho_before, p);  // p ← z + (ρ/ρ₋) p
            it.apply_A(p, q);                                      // q ← A p
            const double pAp = real_part(dot<S>(be, Vector(p), Vector(q)));
            if (!check_positive(pAp, not_positive_definite)) break;
            const double alpha = rho / pAp;
            it.move(beta * alpha, p);           // x ← x + α p
            axpy<S>(be, -alpha, Vector(q), r);  // r ← r − α A p
            norm_r = norm2<S>(be, Vector(r));
            it.step(beta * norm_r);
            rho_before = rho;
        }
    }
}

#define ILUX_INSTANTIATE(B, S)                                                                                       \
    template IterationReport cg<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>,       \
                                      Span<B, S>, CgWorkspace<B, S>&, const KrylovOptions&, const ProgressListener&, \
                                      const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
