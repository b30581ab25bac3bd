// krylov.precision=mixed in the iterative strategy, and what follows where single precision does not suffice.

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/solver/strategy/gpu_standard.hpp"
#include "ilux/solver/strategy/iterative_solver.hpp"

namespace ilux {

/// @return whether single precision can hold M
template <Scalar S>
bool IterativeSolver<S>::prepare_mixed(Method method, Attempt& tried)
{
    mixed_.reset();
    op_.reset();
    host_M_.reset();
    workspace_.reset();
    try {
        mixed_ = std::make_unique<MixedHost<S>>(machine_.cpu, *A_, factors_, method, krylov(A_->rows()));
    } catch (const InvalidInput& error) {
        tried.decisions.push_back(fmt::format("krylov.precision=double after all: {}", error.what()));
        needs_double_ = true;
        return false;
    }
    const std::size_t limit = options_.memory_limit.value, both = tried.factor_bytes + mixed_->factor_bytes();
    if (limit > 0 && both > limit) {
        mixed_.reset();
        tried.decisions.push_back(
            fmt::format("krylov.precision=double after all: memory_limit is {}, and M in both precisions takes {}",
                        bytes_text(double(limit)), bytes_text(double(both))));
        needs_double_ = true;
        return false;
    }
    tried.workspace_bytes = mixed_->workspace_bytes();
    tried.factor_bytes = both;
    return true;
}

/// Whether an iteration in double may reach what one of mixed precision has not.
template <Scalar S>
bool IterativeSolver<S>::needs_double(const Attempt& tried, const StopToken& stop) const
{
    const Outcome outcome = tried.report.outcome;
    const bool    failed = tried.inaccurate || outcome == Outcome::stagnated || outcome == Outcome::breakdown ||
                        outcome == Outcome::not_finite || outcome == Outcome::diverged;
    return failed && options_.retry && !stop.stopped();
}

/// For arrays of the GPU; a success stays there, and of all else x comes to the host. @return whether x was judged
template <Scalar S>
bool IterativeSolver<S>::solve_mixed_on_gpu(SystemVectors<S>& given, const KrylovOptions& krylov,
                                            const ProgressListener& on_progress, const StopToken& stop, Attempt& tried)
{
    GpuSystem<S>& system = *system_;
    given.load(system.gpu(), system.b(), system.x());
    tried.report = system.solve(krylov, on_progress, stop);
    const bool judged =
        !needs_double(tried, stop) && finish_on_gpu<S>(system, krylov, standard_of(options_), &witness(), stop, tried);
    if (judged && tried.converged() && !needs_double(tried, stop)) {
        given.deliver(system.gpu(), system.x());
        tried.x = std::vector<S>();
    } else system.unload(tried.x.of<S>());
    return judged;
}

/// From the x at hand, with the same factors and the steps that are left; what follows with these numbers is in double, too.
/// @return whether it came to iterate: not where M had to be made anew on the host, and was not finished
template <Scalar S>
bool IterativeSolver<S>::go_on_in_double(std::span<const S> b, const KrylovOptions& krylov,
                                         const ProgressListener& on_progress, const TryListener& listener,
                                         const StopToken& stop, Attempt& tried)
{
    const IterationReport single = tried.report;
    tried.decisions.push_back(fmt::format("krylov.precision=double after {} steps of mixed, with residual {:.1e}: {}",
                                          single.steps, single.relative_residual, single.detail));
    needs_double_ = true;
    tried.inaccurate = false;
    if (mixed_) tried.factor_bytes -= mixed_->factor_bytes();
    mixed_.reset();
    adjoint_.reset();
    drop_system();
    if (machine_.gpu) begin_on_gpu(tried.plan);
    place(tried);
    if (!machine_.gpu && factors_.rounds) {  // given up for want of memory, and the host cannot apply them
        factors_ = {};
        if (!build(listener, stop, tried)) return false;
        place(tried);
    }
    KrylovOptions rest = krylov;
    rest.max_steps = std::max<Index>(0, rest.max_steps - single.steps);
    const ProgressListener counted_on = [&](Progress now) {
        now.done += single.steps;
        now.total = krylov.max_steps;
        on_progress(now);
    };
    tried.report = iterate(b, tried.x.of<S>(), rest, counted_on, stop, method_of(tried.plan.method));
    add_work(single, tried.report);
    return true;
}

#define ILUX_INSTANTIATE(S)                                                                                          \
    template bool IterativeSolver<S>::prepare_mixed(Method, Attempt&);                                               \
    template bool IterativeSolver<S>::solve_mixed_on_gpu(SystemVectors<S>&, const KrylovOptions&,                    \
                                                         const ProgressListener&, const StopToken&, Attempt&);       \
    template bool IterativeSolver<S>::needs_double(const Attempt&, const StopToken&) const;                          \
    template bool IterativeSolver<S>::go_on_in_double(std::span<const S>, const KrylovOptions&,                      \
                                                      const ProgressListener&, const TryListener&, const StopToken&, \
                                                      Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
