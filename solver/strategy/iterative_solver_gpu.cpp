// A system of the iterative strategy on a GPU, from b to the judged x.

#include "ilux/base/instances.hpp"
#include "ilux/solver/strategy/gpu_standard.hpp"
#include "ilux/solver/strategy/iterative_solver.hpp"

namespace ilux {

/// Arrays of the host are brought first, and x is fetched when all is over; those of the GPU stay there unless x has to be looked at by
/// the host.
template <Scalar S>
void IterativeSolver<S>::solve_on_gpu(GpuSystem<S>& system, const CsrView<S>& A, SystemVectors<S>& given,
                                      const KrylovOptions& krylov, const TryListener& listener, const StopToken& stop,
                                      Attempt& tried)
{
    const ProgressListener on_progress = history_of(tried, listener, krylov);
    const bool             stays = given.are_of(system.gpu());
    if (!stays) {
        const std::span<const S> b = given.b();
        given.read_guess(tried.x);
        system.load(b, tried.x.of<S>());
    } else given.load(system.gpu(), system.b(), system.x());
    tried.report = system.solve(krylov, on_progress, stop);
    const Standard standard = standard_of(options_);
    if (finish_on_gpu<S>(system, krylov, standard, listener.on_progress, stop, tried)) {
        if (stays && tried.converged()) {
            given.deliver(system.gpu(), system.x());
            tried.x = std::vector<S>();
        } else system.unload(tried.x.of<S>());
        return;
    }
    system.unload(tried.x.of<S>());
    finish_iteration<S>(machine_.cpu, A, given.b(), krylov, standard,
                        gpu_iteration<S>(system, listener.on_progress, stop), stop, tried);
}

/// Where A x = b, or Aᴴ x = b, is solved on a GPU; else null.
template <Scalar S>
GpuSystem<S>* IterativeSolver<S>::system_for(const CsrView<S>* adjoint, const Plan& plan)
{
    if (!system_ || !adjoint) return system_.get();
    return adjoint_side(*adjoint, plan).system();
}

template <Scalar S>
bool IterativeSolver<S>::precondition_on_gpu(SystemVectors<S>& given, const CsrView<S>* adjoint, const Plan& plan)
{
    require(factored_, [] { return "there is no preconditioner"; });
    if (!system_ || !given.are_of(system_->gpu())) return false;
    GpuSystem<S>& system = *system_for(adjoint, plan);
    given.load(system.gpu(), system.b(), system.x());
    system.precondition(DeviceSpan<const S>(system.b()), system.x());
    given.deliver(system.gpu(), system.x());
    return true;
}

#define ILUX_INSTANTIATE(S)                                                                                             \
    template void          IterativeSolver<S>::solve_on_gpu(GpuSystem<S>&, const CsrView<S>&, SystemVectors<S>&,        \
                                                            const KrylovOptions&, const TryListener&, const StopToken&, \
                                                            Attempt&);                                                  \
    template GpuSystem<S>* IterativeSolver<S>::system_for(const CsrView<S>*, const Plan&);                              \
    template bool          IterativeSolver<S>::precondition_on_gpu(SystemVectors<S>&, const CsrView<S>*, const Plan&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
