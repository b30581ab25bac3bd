// What is known of A besides M, in the iterative strategy: asked before an iteration for b, after it for x.

#include <fmt/core.h>

#include "ilux/base/instances.hpp"
#include "ilux/solver/strategy/iterative_solver.hpp"

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

}  // namespace

/// The witness of A's numbers. Where these are on a GPU alone, a proof of earlier ones may hold for them; else they are brought.
template <Scalar S>
Witness<S>& IterativeSolver<S>::witness()
{
    if (awaited_.empty()) return witness_.of(machine_.cpu, *A_, null_space_.get(), Proof::once);
    if (Witness<S>* const kept = witness_.of(system_->gpu(), system_->matrix())) return *kept;
    bring_values();
    return witness_.of(machine_.cpu, *A_, null_space_.get(), Proof::kept);
}

/// Whether no x solves the system, which the witness may know before anything is tried; then `tried` says so.
template <Scalar S>
bool IterativeSolver<S>::is_without_solution(const Witness<S>& witness, SystemVectors<S>& given,
                                             const KrylovOptions& krylov, Attempt& tried) const
{
    if (!witness.doubts_b() || krylov.stop == StopTest::backward_error) return false;
    tried.explanation = witness.why_no_solution(given.b(), krylov.rtol);
    tried.no_solution = !tried.explanation.empty();
    if (tried.no_solution) tried.report.outcome = Outcome::singular;
    return tried.no_solution;
}

template <Scalar S>
void IterativeSolver<S>::note_rank(Attempt& tried) const
{
    const Witness<S>* const witness = witness_.at_hand();
    const bool              determined = witness != nullptr && witness->knows_more_than_M();
    if (tried.converged() && tried.action != SolverAction::lagged && !determined && !null_space_)
        tried.warn(rank_warning(factors_));
}

#define ILUX_INSTANTIATE(S)                                                                                           \
    template Witness<S>& IterativeSolver<S>::witness();                                                               \
    template bool IterativeSolver<S>::is_without_solution(const Witness<S>&, SystemVectors<S>&, const KrylovOptions&, \
                                                          Attempt&) const;                                            \
    template void IterativeSolver<S>::note_rank(Attempt&) const;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
