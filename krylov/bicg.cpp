#include "ilux/krylov/bicg.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {
namespace {

/// p ← z + β p, or z at the start of a cycle, when whatever p holds is of no account.
template <Backend B, Scalar S>
void next_direction(B& be, S beta, Span<B, S> z, Span<B, S> p)
{
    if (beta == S(0)) copy<S>(be, ConstSpan<B, S>(z), p);
    else axpby<S>(be, 1, ConstSpan<B, S>(z), beta, p);
}

}  // namespace

template <Backend B, Scalar S>
IterationReport bicg(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                     Span<B, NotDeduced<S>> x, BicgWorkspace<B, S>& ws, const KrylovOptions& opt,
                     const ProgressListener& on_progress, const StopToken& stop)
{
    using Vector = ConstSpan<B, S>;
    auto [r, rt, z, zt, p, pt, q, best] = ws.all();
    Iteration<B, S> it(be, A, M, b, x, best, opt, on_progress, stop);
    const auto      norm = [&be](Vector v) { return norm2<S>(be, v); };

    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        const double scale_r = it.residual_norm();  // all below in units of ‖r₀‖₂
        scale<S>(be, 1 / scale_r, r);
        copy<S>(be, Vector(r), rt);  // r̃ ← r
        S rho_before = 0;
        for (double norm_r = 1; !it.stop.ends_cycle(scale_r * norm_r);) {
            it.apply_M(r, z);                                                   // z ← M⁻¹ r
            it.apply_Mh(rt, zt);                                                // z̃ ← M⁻ᴴ r̃
            const auto [rho, norm_z] = dot_norm<S>(be, Vector(rt), Vector(z));  // ρ = r̃ᴴ z
            if (!it.check_finite(rho, product_not_finite) ||
                !it.check_nonzero(rho, norm_z * norm(rt), "rho = rt'inv(M)r vanished"))
                break;
            const S beta = rho_before == S(0) ? S(0) : rho / rho_before;
            next_direction<B, S>(be, beta, z, p);                               // p ← z + β p
            next_direction<B, S>(be, conj(beta), zt, pt);                       // p̃ ← z̃ + β̄ p̃
            it.apply_A(p, q);                                                   // q ← A p
            const auto [pAp, norm_q] = dot_norm<S>(be, Vector(pt), Vector(q));  // p̃ᴴ A p
            if (!it.check_finite(pAp, product_not_finite) ||
                !it.check_nonzero(pAp, norm(pt) * norm_q, "pt'Ap vanished"))
                break;
            const S alpha = rho / pAp;
            it.move(real_of<S>(scale_r) * alpha, p);  // x ← x + α p
            axpy<S>(be, -alpha, Vector(q), r);        // r ← r − α A p
            it.apply_Ah(pt, q);
            axpy<S>(be, -conj(alpha), Vector(q), rt);  // r̃ ← r̃ − ᾱ Aᴴ p̃
            norm_r = norm(r);
            it.step(scale_r * norm_r);
            rho_before = rho;
        }
    }
}

#define ILUX_INSTANTIATE(B, S)                                                                                   \
    template IterationReport bicg<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>, \
                                        Span<B, S>, BicgWorkspace<B, S>&, const KrylovOptions&,                  \
                                        const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
