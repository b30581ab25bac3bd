// From b to the judged x in the iterative strategy.

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/engine/iterative_solver.hpp"
#include "ilux/engine/named_device.hpp"

namespace ilux {
namespace {

template <Scalar S>
std::string rank_warning(const PrecondFactors<S>& factors)
{
    const Index missing = factors.mlilu    ? factors.mlilu->report().deficiency
                          : factors.rounds ? factors.rounds->report().deficiency
                                           : 0;
    if (missing == 0) return "";
    return fmt::format("the factors lack rank {}: A is singular or nearly so, and x may be one of many", missing);
}

/// Whether no x solves the system, which the witness may know before anything is tried; then `tried` says so.
template <Scalar S>
bool is_without_solution(const Witness<S>& witness, SystemVectors<S>& given, const KrylovOptions& krylov,
                         Attempt& tried)
{
    if (!witness.doubts_b() || krylov.stop == StopTest::backward_error) return false;
    tried.explanation = witness.why_no_solution(given.b(), krylov.rtol);
    tried.no_solution = !tried.explanation.empty();
    if (tried.no_solution) tried.report.outcome = Outcome::singular;
    return tried.no_solution;
}

/// Whether an iteration in double may reach what one of mixed precision has not.
bool needs_double(const Attempt& tried, bool retry, const StopToken& stop)
{
    const Outcome outcome = tried.report.outcome;
    const bool    failed = tried.inaccurate || outcome == Outcome::stagnated || outcome == Outcome::breakdown ||
                        outcome == Outcome::not_finite || outcome == Outcome::diverged;
    return failed && retry && !stop.stopped();
}

}  // namespace

/// The witness of A's numbers. Where these are on a GPU alone, a proof of earlier ones may hold for them; else they are
/// brought.
template <Scalar S>
Witness<S>& IterativeSolver<S>::witness_of(const MatrixOrAdjoint<S>& A)
{
    const NullSpace<S>* const null_space = factors().null_space.get();
    if (A.is_adjoint()) {
        if (!adjoint_->witness) adjoint_->witness.emplace(machine_.cpu, A.solved(), null_space);
        return *adjoint_->witness;
    }
    if (awaited_.empty()) return witness_.of(machine_.cpu, *A_, null_space, Proof::once);
    if (Witness<S>* const kept = witness_.of(there_->gpu(), there_->matrix())) return *kept;
    bring_values();
    return witness_.of(machine_.cpu, *A_, null_space, Proof::kept);
}

template <Scalar S>
KrylovPlace<S>& IterativeSolver<S>::place_of(const MatrixOrAdjoint<S>& A, const Plan& plan)
{
    if (!A.is_adjoint() && there_) return *there_;
    if (!A.is_adjoint()) return *here_;
    if (adjoint_) return *adjoint_->place;
    const CsrView<S>&   adjoint = A.solved();
    const KrylovOptions krylov = fitted(options_.krylov, adjoint.rows());
    const Method        method = method_of(plan.method);
    Adjoint             made;
    if (there_) {
        GpuSystemOptions options = options_there(plan);
        options.arithmetic = KrylovPrecision::in_double;
        options.adjoint = true;
        made.place = std::make_unique<GpuSystem<S>>(machine_.cpu, *machine_.gpu, adjoint, method, krylov, options);
    } else {
        made.place = std::make_unique<HostSystem<S>>(machine_.cpu, method, krylov, KrylovPrecision::in_double, true);
        made.place->renew(adjoint);
    }
    made.place->put(factors());
    return *adjoint_.emplace(std::move(made)).place;
}

template <Scalar S>
void IterativeSolver<S>::solve(const MatrixOrAdjoint<S>& A, SystemVectors<S>& given, KrylovOptions krylov,
                               const AttemptListener& listener, const StopToken& stop, Attempt& tried)
{
    require(factored_, [] { return "there is no preconditioner"; });
    krylov.restart = fitted(options_.krylov, A_->rows()).restart;
    if (A.is_adjoint() && mixed())
        tried.decisions.emplace_back("krylov.precision=double for a system with the transpose of A");
    with_device_named(tried.device, [&] {
        KrylovPlace<S>& place = place_of(A, tried.plan);
        Witness<S>&     witness = witness_of(A);
        if (is_without_solution(witness, given, krylov, tried)) return given.read_guess(tried.x);
        const ProgressListener      on_progress = history_of(tried, listener, krylov);
        const std::function<void()> bring = [this] { bring_values(); };
        const Iterate<S>            how{A.solved(), krylov, standard_of(options_), on_progress, stop, witness, bring};
        const auto                  fails_in_single = [&, single = !A.is_adjoint() && mixed()] {
            return single && needs_double(tried, options_.retry, stop);
        };
        place.iterate(given, how, tried);
        const bool judged = !fails_in_single();
        if (judged) place.judge(given, how, tried);
        else place.fetch(tried);
        if (fails_in_single() && !go_on_in_double(given.b(), how, listener, tried)) return;
        const bool determined = witness.knows_more_than_M();
        if (tried.converged() && tried.action != SolverAction::lagged && !determined && !factors().null_space)
            tried.warn(rank_warning(factors()));
    });
}

/// From the x at hand, with the same factors and the steps that are left; what follows with these numbers is in double,
/// too.
/// @return whether it came to iterate: not where M had to be made anew on the host, and was not finished
template <Scalar S>
bool IterativeSolver<S>::go_on_in_double(std::span<const S> b, const Iterate<S>& single,
                                         const AttemptListener& listener, Attempt& tried)
{
    const IterationReport before = tried.report;
    tried.decisions.push_back(fmt::format("krylov.precision=double after {} steps of mixed, with residual {:.1e}: {}",
                                          before.steps, before.relative_residual, before.detail));
    needs_double_ = true;
    tried.inaccurate = false;
    if (here_) tried.factor_bytes -= here_->single_bytes();
    try {
        drop_place();
        if (machine_.gpu) begin_there(tried.plan);
        bool placed = place(tried);
        if (!placed) {
            maker_.drop();
            placed = make_and_place(listener, single.stop, tried);
        }
        if (!placed) release();
        if (!placed) return false;
    } catch (...) {
        release();
        throw;
    }
    const ProgressListener counted_on = [&](Progress now) {
        now.done += before.steps;
        now.total = single.krylov.max_steps;
        single.on_progress(now);
    };
    KrylovOptions rest = single.krylov;
    rest.max_steps = std::max<Index>(0, rest.max_steps - before.steps);
    KrylovPlace<S>&  place = place_of(*A_, tried.plan);
    SystemVectors<S> here(b, tried.x.of<S>());
    place.iterate(here, {*A_, rest, single.standard, counted_on, single.stop, single.witness, single.bring_values},
                  tried);
    add_work(before, tried.report);
    place.judge(here, single, tried);
    return true;
}

template <Scalar S>
void IterativeSolver<S>::apply(const MatrixOrAdjoint<S>& A, const Plan& plan, SystemVectors<S>& given)
{
    require(factored_, [] { return "there is no preconditioner"; });
    place_of(A, plan).apply(given);
}

#define ILUX_INSTANTIATE(S)                                                                                          \
    template Witness<S>&     IterativeSolver<S>::witness_of(const MatrixOrAdjoint<S>&);                              \
    template KrylovPlace<S>& IterativeSolver<S>::place_of(const MatrixOrAdjoint<S>&, const Plan&);                   \
    template void            IterativeSolver<S>::solve(const MatrixOrAdjoint<S>&, SystemVectors<S>&, KrylovOptions,  \
                                                       const AttemptListener&, const StopToken&, Attempt&);          \
    template bool IterativeSolver<S>::go_on_in_double(std::span<const S>, const Iterate<S>&, const AttemptListener&, \
                                                      Attempt&);                                                     \
    template void IterativeSolver<S>::apply(const MatrixOrAdjoint<S>&, const Plan&, SystemVectors<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
