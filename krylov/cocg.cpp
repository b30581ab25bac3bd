#include "ilux/krylov/cocg.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/bilinear_recurrence.hpp"

namespace ilux {

template <Backend B, Scalar S>
IterationReport cocg(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                     Span<B, NotDeduced<S>> x, CocgWorkspace<B, S>& ws, const KrylovOptions& opt,
                     const ProgressListener& on_progress, const StopToken& stop)
{
    auto [r, z, p, q, best] = ws.all();
    Iteration<B, S> it(be, A, M, b, x, best, opt, on_progress, stop);

    for (;;) {
        it.recompute_residual(r);  // r ← b − A x
        if (it.over()) return it.report();
        const double beta = it.residual_norm();  // all below in units of ‖r₀‖₂
        scale<S>(be, 1 / beta, r);
        BilinearRecurrence<B, S> recurrence(be, it, r, z, p, q);
        while (!it.stop.ends_cycle(beta * recurrence.norm_r())) {
            const auto alpha = recurrence.advance();
            if (!alpha) break;
            it.move(real_of<S>(beta) * *alpha, p);  // x ← x + α p
            it.step(beta * recurrence.norm_r());
        }
    }
}

#define ILUX_INSTANTIATE(B, S)                                                                                   \
    template IterationReport cocg<B, S>(B&, const LinearOperator<B, S>&, Preconditioner<B, S>&, ConstSpan<B, S>, \
                                        Span<B, S>, CocgWorkspace<B, S>&, const KrylovOptions&,                  \
                                        const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
