#include "ilux/krylov/bicg.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {
namespace {

/// p ← z + β p, or z at the start of a cycle, when whatever p holds is of no account.
template <Backend B>
void next_direction(B& be, double beta, Span<B> z, Span<B> p)
{
    if (beta == 0) copy(be, ConstSpan<B>(z), p);
    else axpby(be, 1, ConstSpan<B>(z), beta, p);
}

}  // namespace

template <Backend B>
IterationReport bicg(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                     BicgWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress,
                     const StopToken& stop)
{
    auto [r, rt, z, zt, p, pt, q, best] = ws.all();
    Iteration<B> it(be, A, M, b, x, best, opt, on_progress, stop, 2);
    const auto   norm = [&be](ConstSpan<B> v) { return norm2(be, v); };

    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        const double scale_r = it.residual_norm();  // all below in units of ‖r₀‖₂
        scale(be, 1 / scale_r, r);
        copy(be, ConstSpan<B>(r), rt);  // r̃ ← r
        double rho_before = 0;
        for (double norm_r = 1; !it.stop.ends_cycle(scale_r * norm_r);) {
            it.apply_M(r, z);     // z ← M⁻¹ r
            it.apply_Mt(rt, zt);  // z̃ ← M⁻ᵀ r̃
            const auto [rho, norm_z] = dot_norm(be, ConstSpan<B>(rt), ConstSpan<B>(z));
            if (!it.check_finite(rho, product_not_finite) ||
                !it.check_nonzero(rho, norm_z * norm(rt), "rho = rt'inv(M)r vanished"))
                break;
            const double beta = rho_before == 0 ? 0 : rho / rho_before;
            next_direction(be, beta, z, p);    // p ← z + β p
            next_direction(be, beta, zt, pt);  // p̃ ← z̃ + β p̃
            it.apply_A(p, q);                  // q ← A p
            const auto [pAp, norm_q] = dot_norm(be, ConstSpan<B>(pt), ConstSpan<B>(q));
            if (!it.check_finite(pAp, product_not_finite) ||
                !it.check_nonzero(pAp, norm(pt) * norm_q, "pt'Ap vanished"))
                break;
            const double alpha = rho / pAp;
            it.move(scale_r * alpha, p);           // x ← x + α p
            axpy(be, -alpha, ConstSpan<B>(q), r);  // r ← r − α A p
            it.apply_At(pt, q);
            axpy(be, -alpha, ConstSpan<B>(q), rt);  // r̃ ← r̃ − α Aᵀ p̃
            norm_r = norm(r);
            it.step(scale_r * norm_r);
            rho_before = rho;
        }
    }
}

template IterationReport bicg<Cpu>(Cpu&, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>, Span<Cpu>,
                                   BicgWorkspace<Cpu>&, const KrylovOptions&, const ProgressListener&,
                                   const StopToken&);
template IterationReport bicg<Gpu>(Gpu&, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>, Span<Gpu>,
                                   BicgWorkspace<Gpu>&, const KrylovOptions&, const ProgressListener&,
                                   const StopToken&);

}  // namespace ilux
