#include "ilux/solver/policy/solver_state.hpp"

#include <fmt/format.h>

#include <utility>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/error.hpp"

namespace ilux {

std::string objection(SolverState state, SolverCall call)
{
    const bool solves = call == SolverCall::solve;
    if (solves && (state == SolverState::empty || state == SolverState::analysed))
        return "solve: nothing was factored yet; call factor() first";
    if (solves && state == SolverState::broken_off)
        return "solve: an exception broke the last factorization off, and there are no factors: factor() again";
    if (state == SolverState::empty && call != SolverCall::analyse)
        return fmt::format("{}: no matrix was analysed yet; call analyse(A) first", name(call));
    return "";
}

void require_allowed(SolverState state, SolverCall call)
{
    std::string why = objection(state, call);
    require(why.empty(), [&] { return std::move(why); });
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
        case SolverEvent::attempt_failed:
            return state == SolverState::analysed || state == SolverState::factored ? SolverState::broken_off : state;
        case SolverEvent::attempt_factored:
            return SolverState::factored;
        case SolverEvent::out_of_plans:
            return state == SolverState::analysed || state == SolverState::broken_off ? SolverState::failed : state;
        case SolverEvent::drop:
            return state == SolverState::factored ? SolverState::dropped : state;
    }
    return state;
}

}  // namespace ilux
