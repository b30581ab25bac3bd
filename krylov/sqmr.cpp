#include "ilux/krylov/sqmr.hpp"

#include <utility>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/bilinear_recurrence.hpp"

namespace ilux {

template <Backend B, Scalar S>
IterationReport sqmr(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                     Span<B, NotDeduced<S>> x, SqmrWorkspace<B, S>& ws, const KrylovOptions& opt,
                     const ProgressListener& on_progress, const StopToken& stop)
{
    using Vector = ConstSpan<B, S>;
    auto [r, z, p, q, d, Ad, smooth, best] = ws.all();  // smooth: b − A x
    Iteration<B, S> it(be, A, M, b, x, best, opt, on_progress, stop);

    for (;;) {
        it.recompute_residual(smooth);
        if (it.over()) return it.report();
        const double beta = it.residual_norm();  // all below in units of ‖r₀‖₂
        scale<S>(be, 1 / beta, smooth);
        copy<S>(be, Vector(smooth), r);
        fill<S>(be, 0, d);
        fill<S>(be, 0, Ad);
        double                   tau = 1, theta = 0, norm_smooth = 1;
        BilinearRecurrence<B, S> recurrence(be, it, r, z, p, q);
        while (!it.stop.ends_cycle(beta * norm_smooth)) {
            const auto alpha = recurrence.advance();
            if (!alpha) break;
            // x moves by d, the quasi-minimal part of α p and of the moves before.
            const double theta_before = std::exchange(theta, recurrence.norm_r() / tau);
            const double c_squared = 1 / (1 + theta * theta), kept = c_squared * theta_before * theta_before;
            tau *= theta * std::sqrt(c_squared);
            axpby<S>(be, real_of<S>(c_squared) * *alpha, Vector(p), kept, d);
            axpby<S>(be, real_of<S>(c_squared) * *alpha, Vector(q), kept, Ad);
            it.move_if_finite(beta, d);
            axpy<S>(be, -1, Vector(Ad), smooth);
            norm_smooth = norm2<S>(be, Vector(smooth));
            it.step(beta * norm_smooth);
            if (tau == 0) break;  // r is gone, and with it x but for rounding
        }
    }
}

#define ILUX_INSTANTIATE(B, S)                                                                                   \
    template IterationReport sqmr<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>, \
                                        Span<B, S>, SqmrWorkspace<B, S>&, const KrylovOptions&,                  \
                                        const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
