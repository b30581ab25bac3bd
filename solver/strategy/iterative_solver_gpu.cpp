// A system of the iterative strategy on a GPU: other values in the place of the former ones, and from b to the judged x.

#include <fmt/core.h>

#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/solver/strategy/gpu_standard.hpp"
#include "ilux/solver/strategy/iterative_solver.hpp"

namespace ilux {

/// All but M goes there while M is factored.
template <Scalar S>
void IterativeSolver<S>::begin_on_gpu(const Plan& plan)
{
    system_ = std::make_unique<GpuSystem<S>>(*machine_.gpu, *A_, method_of(plan.method), krylov(A_->rows()),
                                             gpu_options(plan));
}

template <Scalar S>
GpuSystemOptions IterativeSolver<S>::gpu_options(const Plan& plan) const
{
    return {.precision = plan.precond.precision,
            .arithmetic = mixed() ? KrylovPrecision::mixed : KrylovPrecision::in_double,
            .engine = machine_.engine,
            .memory_limit = machine_.memory_limit};
}

template <Scalar S>
void IterativeSolver<S>::put_on_gpu(Attempt& tried)
{
    try {
        system_->put_factors(machine_.cpu, factors_);
        note_gpu(tried);
    } catch (const DeviceError& error) {
        throw DeviceError(fmt::format("{}: {}; --device cpu does without it", tried.device.name, error.what()));
    }
}

/// Whether A's values may take the place of those that are there.
template <Scalar S>
bool IterativeSolver<S>::system_serves(const CsrView<S>& A, const Plan& plan) const
{
    if (!system_ || options_.krylov.precision == KrylovPrecision::mixed) return false;
    const DeviceCsr<S>& there = system_->matrix();
    return there.rows() == A.rows() && there.nnz() == A.nnz() &&
           system_->serves(method_of(plan.method), gpu_options(plan));
}

/// Those that came from a GPU are there already.
template <Scalar S>
void IterativeSolver<S>::renew_on_gpu(const CsrView<S>& A)
{
    A_ = &A;
    if (awaited_.empty()) system_->renew(A);
}

template <Scalar S>
void IterativeSolver<S>::keep_on_gpu(const CsrView<S>& A, Attempt& tried)
{
    tried.device = machine_.device();
    with_device_named(tried, [&] {
        renew_on_gpu(A);
        system_->await_values();
    });
    note_gpu(tried);
}

template <Scalar S>
void IterativeSolver<S>::note_gpu(Attempt& tried) const
{
    tried.workspace_bytes = system_->report().workspace_bytes;
    if (!system_->report().remark.empty()) tried.decisions.push_back(system_->report().remark);
    tried.gpu = system_->report();
}

template <Scalar S>
std::optional<double> IterativeSolver<S>::take_values(Gpu& caller, DeviceSpan<const S> values, std::span<S> host)
{
    const bool there = factored_ && system_ && system_->gpu().device() == caller.device();
    if (!there || !system_->takes_device_values()) return {};
    system_->renew(caller, values);
    awaited_ = host;
    return norm2<S>(system_->gpu(), system_->matrix().val());
}

template <Scalar S>
void IterativeSolver<S>::bring_values()
{
    if (awaited_.empty()) return;
    const std::span<S> host = std::exchange(awaited_, {});
    download<S>(system_->gpu(), system_->matrix().val(), host);
}

template <Scalar S>
void IterativeSolver<S>::drop_system()
{
    bring_values();
    system_.reset();
}

/// Arrays of the host are brought first, and x is fetched when all is over; those of the GPU stay there unless x has to be looked at by
/// the host.
template <Scalar S>
void IterativeSolver<S>::solve_on_gpu(GpuSystem<S>& system, const CsrView<S>& A, Witness<S>* witness,
                                      SystemVectors<S>& given, const KrylovOptions& krylov, const TryListener& listener,
                                      const StopToken& stop, Attempt& tried)
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
    if (finish_on_gpu<S>(system, krylov, standard, witness, stop, tried)) {
        if (stays && tried.converged()) {
            given.deliver(system.gpu(), system.x());
            tried.x = std::vector<S>();
        } else system.unload(tried.x.of<S>());
        return;
    }
    system.unload(tried.x.of<S>());
    bring_values();
    finish_iteration<S>(machine_.cpu, A, given.b(), krylov, standard, gpu_iteration<S>(system, stop), witness, stop,
                        tried);
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

#define ILUX_INSTANTIATE(S)                                                                                          \
    template void IterativeSolver<S>::solve_on_gpu(GpuSystem<S>&, const CsrView<S>&, Witness<S>*, SystemVectors<S>&, \
                                                   const KrylovOptions&, const TryListener&, const StopToken&,       \
                                                   Attempt&);                                                        \
    template void IterativeSolver<S>::put_on_gpu(Attempt&);                                                          \
    template GpuSystem<S>*         IterativeSolver<S>::system_for(const CsrView<S>*, const Plan&);                   \
    template bool                  IterativeSolver<S>::system_serves(const CsrView<S>&, const Plan&) const;          \
    template void                  IterativeSolver<S>::renew_on_gpu(const CsrView<S>&);                              \
    template void                  IterativeSolver<S>::keep_on_gpu(const CsrView<S>&, Attempt&);                     \
    template void                  IterativeSolver<S>::note_gpu(Attempt&) const;                                     \
    template std::optional<double> IterativeSolver<S>::take_values(Gpu&, DeviceSpan<const S>, std::span<S>);         \
    template void                  IterativeSolver<S>::bring_values();                                               \
    template void                  IterativeSolver<S>::drop_system();                                                \
    template bool IterativeSolver<S>::precondition_on_gpu(SystemVectors<S>&, const CsrView<S>*, const Plan&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
