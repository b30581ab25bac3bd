#pragma once
// The loop that gmres.cpp and fgmres.cpp share. Internal to krylov/.

#include <algorithm>
#include <concepts>

#include "ilux/krylov/gmres.hpp"
#include "ilux/krylov/iteration.hpp"
#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"

namespace ilux {

/// The three places where the kinds of GMRES differ.
template <class V, class B>
concept GmresVariant = requires(V& variant, Index k, std::span<const double> y)
{
    variant.start();     // v₀ ← r, or M⁻¹ r
    variant.product(k);  // v_{k+1} ← A M⁻¹ v_k, or M⁻¹ A v_k
    variant.correct(y);  // x ← x + M⁻¹ V y, or V y, or Z y
};

/// v_{k+1} ← (I − V Vᵀ) v_{k+1}, normalized; its coefficients become column k of H.
template <Backend B>
Extension extend_basis(B& be, Iteration<B>& it, GmresWorkspace<B>& ws, Index k, const KrylovOptions& opt)
{
    const auto timer = it.timing_ortho();
    const auto h = ws.qr.next_column();
    const auto V = ws.basis(k + 1);
    const auto w = ws.v(k + 1);
    switch (opt.ortho) {
        case Orthogonalization::mgso:
            return mgso(be, V, w, h, opt.reorthogonalize);
        case Orthogonalization::cgs2:
            return cgs2(be, V, w, h, ws.scratch());
        case Orthogonalization::mgso_hybrid:
            break;
        case Orthogonalization::mgso_host:
            return mgso_host(be, V, w, h, ws.host_basis(), opt.reorthogonalize);
    }
    return mgso_hybrid<B>(be, V, w, h, opt.reorthogonalize);
}

template <Backend B, GmresVariant<B> Variant>
SolveReport restarted_gmres(B& be, Iteration<B>& it, GmresWorkspace<B>& ws, Variant variant, const KrylovOptions& opt)
{
    HessenbergQr& qr = ws.qr;
    require(ws.restart() == std::min(opt.restart, ws.size()),
            [&] { return fmt::format("restart = {}, but the workspace was made for {}", opt.restart, ws.restart()); });
    require(std::same_as<B, Cpu> || opt.ortho != Orthogonalization::mgso_host || !ws.host_basis().empty() ||
                ws.size() == 0,
            [] { return "ortho = mgso_host, but the workspace was made without a basis on the host"; });
    while (!it.over(ws.v(0))) {  // v₀ ← b − A x
        variant.start();
        const double beta = norm2(be, ConstSpan<B>(ws.v(0)));  // β = ‖v₀‖₂
        if (!it.finite(beta, "the preconditioned residual holds NaN or Inf")) continue;
        if (!it.nonzero(beta, 0, "M yields 0 for a residual that is not 0")) continue;
        it.stop.estimates_preconditioned(beta / it.residual_norm());
        scale(be, 1 / beta, ws.v(0));  // v₀ ← v₀ / β
        qr.start(beta);                // g ← β e₁

        bool extended = true;  // false: the Krylov space stopped growing
        for (Index k = 0; k < ws.restart() && extended && !it.stop.ends_cycle(qr.residual()); ++k) {
            variant.product(k);  // A M⁻¹ V_k = V_{k+1} H_k
            const Extension extension = extend_basis(be, it, ws, k, opt);
            extended = extension == Extension::extended;
            if (extension == Extension::not_finite) it.stop.fail(Outcome::not_finite, product_not_finite);
            else if (!qr.append())  // |g_{k+1}| = ‖r_{k+1}‖₂
                it.stop.breakdown("the Krylov space is invariant without a solution: A or M is singular");
            it.step(qr.residual());
        }
        if (qr.columns() > 0) variant.correct(qr.solve());  // R y = g;  x ← x + M⁻¹ V_k y
    }
    return it.report();
}

/// z ← V_k y
template <Backend B>
void combine(B& be, std::span<const double> y, ConstSpan<B> V, Span<B> z)
{
    fill(be, 0, z);
    multi_axpy(be, y, V, z);
}

}  // namespace ilux
