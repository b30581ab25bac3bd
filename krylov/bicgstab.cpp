#include "ilux/krylov/bicgstab.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {
namespace {

/// One cycle's vectors and scalars; between the two half steps r holds what [vorst92] calls s.
template <Backend B>
struct Cycle {
    B&            be;
    Iteration<B>& it;
    Span<B>       r, rh, p, z, v, t;
    double        scale_r;  // ‖r₀‖₂: all vectors are in its units
    double        norm_r = 1, rho = 1, rho_before = 1, alpha = 1, omega = 1;  // r̂ᵀr = ‖r‖² at first
    bool          first = true;

    DotNorm<> inner(ConstSpan<B> a, ConstSpan<B> b) { return dot_norm(be, a, b); }

    /// The recurrence met the target, broke down or blew up, or no step is left.
    bool over() const { return it.stop.ends_cycle(scale_r * norm_r); }

    /// x ← x + α M⁻¹p,  s = r ← r − α A M⁻¹p
    void take_bicg_half()
    {
        if (!it.check_finite(rho, product_not_finite) || !it.check_nonzero(rho, norm_r, "rho = rh'r vanished")) return;
        if (first) {
            copy(be, ConstSpan<B>(r), p);
        } else {
            axpy(be, -omega, ConstSpan<B>(v), p);
            axpby(be, 1, ConstSpan<B>(r), rho / rho_before * (alpha / omega), p);  // p ← r + β (p − ω v)
        }
        first = false;
        it.apply_M(p, z);
        it.apply_A(z, v);  // v ← A M⁻¹ p
        const auto [rv, norm_v] = inner(rh, v);
        if (!it.check_finite(rv, product_not_finite) || !it.check_nonzero(rv, norm_v, "rh'v vanished")) return;
        alpha = rho / rv;
        it.move(scale_r * alpha, z);
        axpy(be, -alpha, ConstSpan<B>(v), r);
        norm_r = norm2(be, ConstSpan<B>(r));
        it.step(scale_r * norm_r);
    }

    /// x ← x + ω M⁻¹s,  r ← s − ω A M⁻¹s with the ω that makes ‖r‖₂ least
    void take_stabilizing_half()
    {
        it.apply_M(r, z);
        it.apply_A(z, t);  // t ← A M⁻¹ s
        const auto [ts, norm_t] = inner(r, t);
        if (!it.check_finite(norm_t, product_not_finite) || !it.check_finite(ts, product_not_finite)) return;
        if (!it.check_nonzero(ts, norm_t * norm_r, "omega = t's / t't vanished")) return;
        omega = ts / norm_t / norm_t;
        it.move(scale_r * omega, z);
        axpy(be, -omega, ConstSpan<B>(t), r);
        rho_before = rho;
        const DotNorm<> next = inner(rh, r);
        rho = next.dot;  // ρ = r̂ᵀ r
        norm_r = next.norm;
        it.step(scale_r * norm_r);
    }
};

}  // namespace

template <Backend B>
IterationReport bicgstab(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                         BicgstabWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress,
                         const StopToken& stop)
{
    auto [r, rh, p, z, v, t, best] = ws.all();
    Iteration<B> it(be, A, M, b, x, best, opt, on_progress, stop);
    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        Cycle<B> cycle{be, it, r, rh, p, z, v, t, it.residual_norm()};
        scale(be, 1 / cycle.scale_r, r);
        copy(be, ConstSpan<B>(r), rh);  // r̂ ← r
        while (!cycle.over()) {
            cycle.take_bicg_half();
            if (!cycle.over()) cycle.take_stabilizing_half();
        }
    }
}

template IterationReport bicgstab<Cpu>(Cpu&, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>,
                                       Span<Cpu>, BicgstabWorkspace<Cpu>&, const KrylovOptions&,
                                       const ProgressListener&, const StopToken&);
template IterationReport bicgstab<Gpu>(Gpu&, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>,
                                       Span<Gpu>, BicgstabWorkspace<Gpu>&, const KrylovOptions&,
                                       const ProgressListener&, const StopToken&);

}  // namespace ilux
