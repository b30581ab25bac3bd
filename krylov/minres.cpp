#include "ilux/krylov/minres.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {
namespace {

/// A plane rotation (c s; −s c).
struct Rotation {
    double c = 1, s = 0;
};

}  // namespace

template <Backend B, Scalar S>
IterationReport minres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                       Span<B, NotDeduced<S>> x, MinresWorkspace<B, S>& ws, const KrylovOptions& opt,
                       const ProgressListener& on_progress, const StopToken& stop)
{
    using Vector = ConstSpan<B, S>;
    auto [r, v, v_before, z, q, w, w_before, best] = ws.all();
    Iteration<B, S> it(be, A, M, b, x, best, opt, on_progress, stop);
    // z ← M⁻¹ v; the square of ‖v‖ in the norm of M⁻¹, or less than 0 where that ends the solve
    const auto apply_M = [&](Vector of, Span<B, S> into) {
        it.apply_M(of, into);
        const double square = real_part(dot<S>(be, of, Vector(into)));
        if (!it.check_finite(square, product_not_finite)) return -1.;
        if (square < 0) it.stop.fail(Outcome::breakdown, "r'inv(M)r < 0: M is not positive definite");
        return square;
    };

    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        const double beta = it.residual_norm();  // all below in units of ‖r₀‖₂: neither over- nor underflow
        scale<S>(be, 1 / beta, r);
        copy<S>(be, Vector(r), v);
        for (const auto& zero : {v_before, w, w_before}) fill<S>(be, 0, zero);
        const double first = apply_M(v, z);
        if (first == 0) it.stop.fail(Outcome::breakdown, "r'inv(M)r = 0: M is not positive definite");
        double gamma = std::sqrt(std::max(first, 0.)), gamma_before = 1, eta = gamma;  // ‖v‖; that of r, in that norm
        Rotation turn, before;
        double   size = 0;  // of the tridiagonal T = V' A V, by its columns so far; the first γ is none of its entries
        for (double norm_r = 1; gamma > 0 && !it.stop.ends_cycle(beta * norm_r);) {
            scale<S>(be, 1 / gamma, z);
            it.apply_A(z, q);  // q ← A z
            const double delta = real_part(dot<S>(be, Vector(z), Vector(q)));
            if (!it.check_finite(delta, product_not_finite)) break;
            axpby<S>(be, -gamma / gamma_before, Vector(v_before), 1, q);  // Lanczos: q − (γ/γ₋) v₋ − (δ/γ) v
            axpy<S>(be, -delta / gamma, Vector(v), q);
            std::swap(v_before, v);
            std::swap(v, q);

            // The new column of R: two former rotations, and one that takes its last entry away.
            copy<S>(be, Vector(z), q);
            const double square = apply_M(v, z), gamma_next = std::sqrt(std::max(square, 0.));
            if (square < 0) break;
            const double above = turn.c * delta - before.c * turn.s * gamma;
            const double rho = std::hypot(above, gamma_next);
            size = std::max({size, std::abs(delta), gamma_next});
            if (!it.check_nonzero(rho, 10 * size, "A is singular on the Krylov space"))
                break;  // 10: rounding of `above`
            const double rho_1 = turn.s * delta + before.c * turn.c * gamma, rho_2 = before.s * gamma;
            before = std::exchange(turn, Rotation{above / rho, gamma_next / rho});
            axpby<S>(be, 1 / rho, Vector(q), -rho_2 / rho, w_before);  // w ← (z − ρ₁ w − ρ₂ w₋) / ρ₀
            axpy<S>(be, -rho_1 / rho, Vector(w), w_before);
            std::swap(w, w_before);
            it.move_if_finite(beta * turn.c * eta, w);
            eta *= -turn.s;

            // r ← s² r + c η v / γ
            if (gamma_next > 0) axpby<S>(be, turn.c * eta / gamma_next, Vector(v), turn.s * turn.s, r);
            else fill<S>(be, 0, r);
            norm_r = norm2<S>(be, Vector(r));
            it.step(beta * norm_r);
            gamma_before = std::exchange(gamma, gamma_next);
        }
    }
}

#define ILUX_INSTANTIATE(B, S)                                                                                     \
    template IterationReport minres<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>, \
                                          Span<B, S>, MinresWorkspace<B, S>&, const KrylovOptions&,                \
                                          const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
