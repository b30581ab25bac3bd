#include "ilux/krylov/bicgstab.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {
namespace {

/// One cycle's vectors and scalars; between the two half steps r holds what [vorst92] calls s.
template <Backend B, Scalar S>
struct Cycle {
    using Vector = ConstSpan<B, S>;

    B&               be;
    Iteration<B, S>& it;
    Span<B, S>       r, rh, p, z, v, t;
    real_of<S>       scale_r;  // ‖r₀‖₂: all vectors are in its units
    double           norm_r = 1;
    S                rho = 1, rho_before = 1, alpha = 1, omega = 1;  // r̂ᴴr = ‖r‖² at first
    bool             first = true;

    DotNorm<S> inner(Vector a, Vector b) { return dot_norm<S>(be, a, b); }

    /// The recurrence met the target, broke down or blew up, or no step is left.
    bool over() const { return it.stop.ends_cycle(scale_r * norm_r); }

    /// x ← x + α M⁻¹p,  s = r ← r − α A M⁻¹p
    void take_bicg_half()
    {
        if (!it.check_finite(rho, product_not_finite) || !it.check_nonzero(rho, norm_r, "rho = rh'r vanished")) return;
        if (first) {
            copy<S>(be, Vector(r), p);
        } else {
            axpy<S>(be, -omega, Vector(v), p);
            axpby<S>(be, 1, Vector(r), rho / rho_before * (alpha / omega), p);  // p ← r + β (p − ω v)
        }
        first = false;
        it.apply_M(p, z);
        it.apply_A(z, v);  // v ← A M⁻¹ p
        const auto [rv, norm_v] = inner(rh, v);
        if (!it.check_finite(rv, product_not_finite) || !it.check_nonzero(rv, norm_v, "rh'v vanished")) return;
        alpha = rho / rv;
        it.move(scale_r * alpha, z);
        axpy<S>(be, -alpha, Vector(v), r);
        norm_r = norm2<S>(be, Vector(r));
        it.step(scale_r * norm_r);
    }

    /// x ← x + ω M⁻¹s,  r ← s − ω A M⁻¹s with the ω that makes ‖r‖₂ least
    void take_stabilizing_half()
    {
        it.apply_M(r, z);
        it.apply_A(z, t);  // t ← A M⁻¹ s
        const auto [st, norm_t] = inner(r, t);
        if (!it.check_finite(norm_t, product_not_finite) || !it.check_finite(st, product_not_finite)) return;
        if (!it.check_nonzero(st, norm_t * norm_r, "omega = t's / t't vanished")) return;
        omega = conj(st) / norm_t / norm_t;  // ω = tᴴs / tᴴt
        it.move(scale_r * omega, z);
        axpy<S>(be, -omega, Vector(t), r);
        rho_before = rho;
        const DotNorm<S> next = inner(rh, r);
        rho = next.dot;  // ρ = r̂ᴴ r
        norm_r = next.norm;
        it.step(scale_r * norm_r);
    }
};

}  // namespace

template <Backend B, Scalar S>
IterationReport bicgstab(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                         Span<B, NotDeduced<S>> x, BicgstabWorkspace<B, S>& ws, const KrylovOptions& opt,
                         const ProgressListener& on_progress, const StopToken& stop)
{
    auto [r, rh, p, z, v, t, best] = ws.all();
    Iteration<B, S> it(be, A, M, b, x, best, opt, on_progress, stop);
    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        Cycle<B, S> cycle{be, it, r, rh, p, z, v, t, real_of<S>(it.residual_norm())};
        scale<S>(be, 1 / cycle.scale_r, r);
        copy<S>(be, ConstSpan<B, S>(r), rh);  // r̂ ← r
        while (!cycle.over()) {
            cycle.take_bicg_half();
            if (!cycle.over()) cycle.take_stabilizing_half();
        }
    }
}

#define ILUX_INSTANTIATE(B, S)                                                                                       \
    template IterationReport bicgstab<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>, \
                                            Span<B, S>, BicgstabWorkspace<B, S>&, const KrylovOptions&,              \
                                            const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
