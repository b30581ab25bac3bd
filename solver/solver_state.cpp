#include "ilux/solver/solver_state.hpp"

#include <string>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

const char* nothing_analysed(SolverCall call)
{
    switch (call) {
        case SolverCall::analyse:
            return nullptr;
        case SolverCall::factor:
            return "factor: no matrix was analysed yet";
        case SolverCall::refactor:
            return "refactor: no matrix was analysed yet";
        case SolverCall::refactor_and_solve:
            return "refactor_and_solve: no matrix was analysed yet";
        case SolverCall::device:
            return "device: no matrix was analysed yet";
        case SolverCall::solve:
            return "solve: nothing was factored yet";
    }
    return nullptr;
}

}  // namespace

const char* objection(SolverState state, SolverCall call)
{
    if (state == SolverState::empty) return nothing_analysed(call);
    if (call != SolverCall::solve) return nullptr;
    if (state == SolverState::analysed) return "solve: nothing was factored yet";
    if (state == SolverState::broken_off)
        return "solve: an exception broke the last factorization off, and there are no factors: factor() again";
    return nullptr;
}

void require_allowed(SolverState state, SolverCall call)
{
    const char* why = objection(state, call);
    require(why == nullptr, [why] { return std::string(why); });
}

SolverState next_state(SolverState state, SolverEvent event)
{
    if (event == SolverEvent::analysis) return SolverState::analysed;
    ILUX_ASSERT(state != SolverState::empty);
    switch (event) {
        case SolverEvent::analysis:
            break;
        case SolverEvent::new_values:
            return state == SolverState::analysed ? state : SolverState::broken_off;
        case SolverEvent::try_failed:
            return state == SolverState::analysed || state == SolverState::factored ? SolverState::broken_off : state;
        case SolverEvent::try_factored:
            return SolverState::factored;
        case SolverEvent::out_of_plans:
            return state == SolverState::analysed || state == SolverState::broken_off ? SolverState::failed : state;
        case SolverEvent::drop:
            return state == SolverState::factored ? SolverState::dropped : state;
    }
    return state;
}

}  // namespace ilux
