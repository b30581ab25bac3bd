#include "ilux/krylov/cg.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {

template <Backend B>
IterationReport cg(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                   CgWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress,
                   const StopToken& stop)
{
    auto [r, z, p, q, best] = ws.all();
    Iteration<B> it(be, A, M, b, x, best, opt, on_progress, stop);
    // Ends the solve in breakdown or as not_finite where `value` is not positive; returns whether it is.
    const auto check_positive = [&](double value, const char* what_if_not) {
        if (std::isfinite(value) && !(value > 0)) it.stop.fail(Outcome::breakdown, what_if_not);
        return it.check_finite(value, product_not_finite) && value > 0;
    };

    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        const double beta = it.residual_norm();  // all below in units of ‖r₀‖₂: neither over- nor underflow
        scale(be, 1 / beta, r);
        double rho_before = 0;
        for (double norm_r = 1; !it.stop.ends_cycle(beta * norm_r);) {
            it.apply_M(r, z);  // z ← M⁻¹ r
            const double rho = dot(be, ConstSpan<B>(r), ConstSpan<B>(z));
            if (!check_positive(rho, "r'inv(M)r <= 0: M is not positive definite")) break;
            if (rho_before == 0) copy(be, ConstSpan<B>(z), p);
            else axpby(be, 1, ConstSpan<B>(z), rho / rho_before, p);  // p ← z + (ρ/ρ₋) p
            it.apply_A(p, q);                                         // q ← A p
            const double pAp = dot(be, ConstSpan<B>(p), ConstSpan<B>(q));
            if (!check_positive(pAp, "p'Ap <= 0: A is not positive definite")) break;
            const double alpha = rho / pAp;
            it.move(beta * alpha, p);              // x ← x + α p
            axpy(be, -alpha, ConstSpan<B>(q), r);  // r ← r − α A p
            norm_r = norm2(be, ConstSpan<B>(r));
            it.step(beta * norm_r);
            rho_before = rho;
        }
    }
}

template IterationReport cg<Cpu>(Cpu&, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>, Span<Cpu>,
                                 CgWorkspace<Cpu>&, const KrylovOptions&, const ProgressListener&, const StopToken&);
template IterationReport cg<Gpu>(Gpu&, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>, Span<Gpu>,
                                 CgWorkspace<Gpu>&, const KrylovOptions&, const ProgressListener&, const StopToken&);

}  // namespace ilux
