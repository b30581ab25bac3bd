#include "ilux/krylov/gmres.hpp"

#include <algorithm>
#include <concepts>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/iteration.hpp"
#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"

namespace ilux {
namespace {

using detail::GmresKind;

/// The three places where the kinds of GMRES differ: what M multiplies, and what corrects x.
template <Backend B, Scalar S>
struct GmresProducts {
    B&                    be;
    Iteration<B, S>&      it;
    GmresWorkspace<B, S>& ws;
    const GmresKind       kind;
    Span<B, S>            Z;  ///< flexible: n·m, the z_k

    /// v₀ ← r, or from the left M⁻¹ r, where v₀ is r
    void start()
    {
        if (kind != GmresKind::left) return;
        it.apply_M(ws.v(0), ws.z());
        copy<S>(be, ConstSpan<B, S>(ws.z()), ws.v(0));
    }

    /// v_{k+1} ← A M⁻¹ v_k, or from the left M⁻¹ A v_k
    void multiply(Index k)
    {
        if (kind == GmresKind::left) {
            it.apply_A(ws.v(k), ws.z());      // z ← A v_k
            it.apply_M(ws.z(), ws.v(k + 1));  // v_{k+1} ← M⁻¹ z
        } else {
            const Span<B, S> z = kind == GmresKind::flexible ? Z.subspan(first(k), ws.size()) : ws.z();
            it.apply_M(ws.v(k), z);      // z_k ← M⁻¹ v_k
            it.apply_A(z, ws.v(k + 1));  // v_{k+1} ← A z_k
        }
    }

    /// x ← x + M⁻¹ V_k y, or from the left x + V_k y, or flexible x + Z_k y
    void correct(std::span<const S> y)
    {
        const auto k = static_cast<Index>(y.size());
        if (kind == GmresKind::right) {
            combine(y, ws.basis(k), ws.v(k));  // v_k, no longer needed, ← V_k y
            it.apply_M(ws.v(k), ws.z());
        } else {
            combine(y, kind == GmresKind::left ? ws.basis(k) : ConstSpan<B, S>(Z.first(first(k))), ws.z());
        }
        it.move_if_finite(1, ws.z());
    }

private:
    std::size_t first(Index k) const { return static_cast<std::size_t>(k) * ws.size(); }

    /// z ← V y
    void combine(std::span<const S> y, ConstSpan<B, S> V, Span<B, S> z)
    {
        fill<S>(be, 0, z);
        multi_axpy<S>(be, y, V, z);
    }
};

/// v_{k+1} ← (I − V Vᴴ) v_{k+1}, normalized; its coefficients become column k of H.
template <Backend B, Scalar S>
Extension extend_basis(B& be, Iteration<B, S>& it, GmresWorkspace<B, S>& ws, Index k, const KrylovOptions& opt)
{
    const auto timer = it.timing_ortho();
    const auto h = ws.qr.next_column();
    const auto V = ws.basis(k + 1);
    const auto w = ws.v(k + 1);
    switch (opt.ortho) {
        case Orthogonalization::mgso:
            return mgso<S>(be, V, w, h, opt.reorthogonalize);
        case Orthogonalization::cgs2:
            return cgs2<S>(be, V, w, h, ws.scratch());
        case Orthogonalization::mgso_hybrid:
            break;
        case Orthogonalization::mgso_host:
            return mgso_host<S>(be, V, w, h, ws.host_basis(), opt.reorthogonalize);
    }
    return mgso_hybrid<B, S>(be, V, w, h, opt.reorthogonalize);
}

template <Backend B, Scalar S>
void check_made_for(GmresWorkspace<B, S>& ws, const KrylovOptions& opt)
{
    require(ws.restart() == std::min(opt.restart, ws.size()),
            [&] { return fmt::format("restart = {}, but the workspace was made for {}", opt.restart, ws.restart()); });
    require(std::same_as<B, Cpu> || opt.ortho != Orthogonalization::mgso_host || !ws.host_basis().empty() ||
                ws.size() == 0,
            [] { return "ortho = mgso_host, but the workspace was made without a basis on the host"; });
}

}  // namespace

template <Backend B, Scalar S>
IterationReport detail::restarted_gmres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M,
                                        ConstSpan<B, NotDeduced<S>> b, Span<B, NotDeduced<S>> x,
                                        GmresWorkspace<B, S>& ws, GmresKind kind, Span<B, NotDeduced<S>> Z,
                                        const KrylovOptions& opt, const ProgressListener& on_progress,
                                        const StopToken& stop)
{
    Iteration<B, S>     it(be, A, M, b, x, ws.best(), opt, on_progress, stop);
    GmresProducts<B, S> products{be, it, ws, kind, Z};
    HessenbergQr<S>&    qr = ws.qr;
    check_made_for(ws, opt);

    for (;;) {
        it.recompute_residual(ws.v(0));  // v₀ ← b − A x
        if (it.over()) return it.report();
        products.start();                                            // v₀ ← M⁻¹ v₀, from the left only
        const double beta = norm2<S>(be, ConstSpan<B, S>(ws.v(0)));  // β = ‖v₀‖₂
        if (!it.check_finite(beta, "the preconditioned residual holds NaN or Inf")) continue;
        if (!it.check_nonzero(beta, 0, "M yields 0 for a residual that is not 0")) continue;
        it.stop.estimates_preconditioned(beta / it.residual_norm());
        scale<S>(be, 1 / beta, ws.v(0));  // v₀ ← v₀ / β
        qr.start(beta);                   // g ← β e₁

        bool invariant = false;  // the Krylov space stopped growing
        for (Index k = 0; k < ws.restart() && !invariant && !it.stop.ends_cycle(qr.residual()); ++k) {
            products.multiply(k);  // A M⁻¹ V_k = V_{k+1} H_k
            const Extension extension = extend_basis(be, it, ws, k, opt);
            invariant = extension != Extension::extended;
            if (extension == Extension::not_finite) it.stop.fail(Outcome::not_finite, product_not_finite);
            else if (!qr.append())  // |g_{k+1}| = ‖r_{k+1}‖₂
                it.stop.breakdown("the Krylov space is invariant without a solution: A or M is singular");
            it.step(qr.residual());
        }
        if (qr.columns() > 0) products.correct(qr.solve());  // R y = g;  x ← x + M⁻¹ V_k y
    }
}

template <Backend B, Scalar S>
IterationReport gmres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                      Span<B, NotDeduced<S>> x, GmresWorkspace<B, S>& ws, const KrylovOptions& opt,
                      const ProgressListener& on_progress, const StopToken& stop)
{
    const GmresKind kind = opt.side == Side::left ? GmresKind::left : GmresKind::right;
    return detail::restarted_gmres(be, A, M, b, x, ws, kind, {}, opt, on_progress, stop);
}

template <Backend B, Scalar S>
GmresWorkspace<B, S>::GmresWorkspace(Index n, const KrylovOptions& opt)
    : n_((validate(opt), n)),
      m_(std::min(opt.restart, n)),
      V_(static_cast<std::size_t>(n) * (m_ + std::size_t{1})),
      z_(n),
      best_(n),
      scratch_(m_ + std::size_t{1}),
      host_V_(opt.ortho == Orthogonalization::mgso_host && !std::same_as<B, Cpu> ? V_.size() : 0)
{
    qr = HessenbergQr<S>(m_);
}

#define ILUX_INSTANTIATE(B, S)                                                                                     \
    template class GmresWorkspace<B, S>;                                                                           \
    template IterationReport detail::restarted_gmres<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, \
                                                           ConstSpan<B, S>, Span<B, S>, GmresWorkspace<B, S>&,     \
                                                           GmresKind, Span<B, S>, const KrylovOptions&,            \
                                                           const ProgressListener&, const StopToken&);             \
    template IterationReport gmres<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>,  \
                                         Span<B, S>, GmresWorkspace<B, S>&, const KrylovOptions&,                  \
                                         const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
