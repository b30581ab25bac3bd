#include "ilux/krylov/gmres.hpp"

#include <algorithm>
#include <concepts>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/krylov/gmres_cycle.hpp"

namespace ilux {
namespace {

template <Backend B>
struct FromTheRight {
    B&                 be;
    Iteration<B>&      it;
    GmresWorkspace<B>& ws;

    void start() {}
    void product(Index k)
    {
        it.apply_M(ws.v(k), ws.z());      // z ← M⁻¹ v_k
        it.apply_A(ws.z(), ws.v(k + 1));  // v_{k+1} ← A z
    }
    void correct(std::span<const double> y)
    {
        const auto k = static_cast<Index>(y.size());
        combine(be, y, ws.basis(k), ws.v(k));  // v_k, no longer needed, ← V_k y
        it.apply_M(ws.v(k), ws.z());
        it.move_if_finite(1, ws.z());  // x ← x + M⁻¹ V_k y
    }
};

template <Backend B>
struct FromTheLeft {
    B&                 be;
    Iteration<B>&      it;
    GmresWorkspace<B>& ws;

    void start()
    {
        it.apply_M(ws.v(0), ws.z());
        copy(be, ConstSpan<B>(ws.z()), ws.v(0));  // v₀ ← M⁻¹ r
    }
    void product(Index k)
    {
        it.apply_A(ws.v(k), ws.z());      // z ← A v_k
        it.apply_M(ws.z(), ws.v(k + 1));  // v_{k+1} ← M⁻¹ z
    }
    void correct(std::span<const double> y)
    {
        combine(be, y, ws.basis(static_cast<Index>(y.size())), ws.z());
        it.move_if_finite(1, ws.z());  // x ← x + V_k y
    }
};

}  // namespace

template <Backend B>
GmresWorkspace<B>::GmresWorkspace(Index n, const KrylovOptions& opt)
    : n_((validate(opt), n)),
      m_(std::min(opt.restart, n)),
      V_(static_cast<std::size_t>(n) * (m_ + std::size_t{1})),
      z_(n),
      best_(n),
      scratch_(m_ + std::size_t{1}),
      host_V_(opt.ortho == Orthogonalization::mgso_host && !std::same_as<B, Cpu> ? V_.size() : 0)
{
    qr = HessenbergQr(m_);
}

template <Backend B>
SolveReport gmres(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                  GmresWorkspace<B>& ws, const KrylovOptions& opt, const Monitor& monitor)
{
    Iteration<B> it(be, A, M, b, x, ws.best(), opt, monitor);
    if (opt.side == Side::left) return restarted_gmres(be, it, ws, FromTheLeft<B>{be, it, ws}, opt);
    return restarted_gmres(be, it, ws, FromTheRight<B>{be, it, ws}, opt);
}

template class GmresWorkspace<Cpu>;
template SolveReport gmres<Cpu>(Cpu&, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>, Span<Cpu>,
                                GmresWorkspace<Cpu>&, const KrylovOptions&, const Monitor&);
template class GmresWorkspace<Gpu>;
template SolveReport gmres<Gpu>(Gpu&, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>, Span<Gpu>,
                                GmresWorkspace<Gpu>&, const KrylovOptions&, const Monitor&);

}  // namespace ilux
