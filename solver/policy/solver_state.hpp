#pragma once
// The phases of a LinearSolver: what may be called in each, and what leads from one to another.

#include <string>

#include "ilux/base/enum_names.hpp"

namespace ilux {

/// What a LinearSolver has at hand. "The last values" are those of the last call that brought values.
///
///   state       analyse  factor, refactor, refactor_and_solve, solve_batch, device  solve
///   empty       yes      throws                                                     throws
///   analysed    yes      yes                                                        throws
///   factored    yes      yes                                                        yes
///   failed      yes      yes                                                        yes: tells the failure again
///   dropped     yes      yes                                                        yes, by the first plan
///   broken_off  yes      yes                                                        throws
///
/// matrix(), lu(), preconditioner(), state() and listen() are allowed in every state; solve_columns() and
/// precondition() where solve() is, the latter only where there are factors.
///
///   call                  leaves, when it returns           leaves, when it throws
///   analyse               analysed                          what there was
///   factor, refactor      factored or failed                what there was, for values that it refused; else analysed
///                                                           (no try for values has ended yet), broken_off or factored
///   solve                 factored, failed or dropped       what there was, or dropped
///   refactor_and_solve    factored, failed or dropped       as refactor, then as solve
///   solve_batch           what there was, or as             the same
///                         refactor_and_solve for the last
///                         member that was solved alone
enum class SolverState {
    empty,       ///< no matrix was analysed
    analysed,    ///< no values were factored yet
    factored,    ///< the last values have factors
    failed,      ///< the last values have none: every try failed
    dropped,     ///< they had some, but tries for a b gave them up for others that failed
    broken_off,  ///< an exception ended the call that brought the last values before there were factors
};

/// A call that not every state allows.
enum class SolverCall { analyse, factor, refactor, refactor_and_solve, solve_batch, device, solve };
constexpr auto names(SolverCall)
{
    return words("analyse", "factor", "refactor", "refactor_and_solve", "solve_batch", "device", "solve");
}

/// Why this call is not allowed in this state, or "".
std::string objection(SolverState state, SolverCall call);
/// @throws InvalidInput with that objection
void require_allowed(SolverState state, SolverCall call);

/// What happens to a LinearSolver within a call.
enum class SolverEvent {
    analysis,          ///< analyse() was a success
    new_values,        ///< a call brings values: whatever there is belongs to former ones
    attempt_failed,    ///< a try has ended without factors
    attempt_factored,  ///< a try has made factors, or has found that former ones serve
    out_of_plans,      ///< a try has failed, and no other is to follow
    drop,              ///< the factors are given up, since they did not solve for a b
};

/// The state is always the one that an exception may leave: new values make it broken_off until a try has factored.
///
///   event         empty  analysed    factored    failed      dropped     broken_off
///   analysis      analysed, from every state
///   new_values    -      analysed    broken_off  broken_off  broken_off  broken_off
///   attempt_failed    -      broken_off  broken_off  failed      dropped     broken_off
///   attempt_factored  factored, from every other state
///   out_of_plans  -      failed      factored    failed      dropped     failed
///   drop          -      analysed    dropped     failed      dropped     broken_off
SolverState next_state(SolverState state, SolverEvent event);

}  // namespace ilux
