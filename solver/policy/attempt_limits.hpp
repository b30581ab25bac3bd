#pragma once
// How long a try may go on while the other strategy may do better: pure functions over forecasts and seconds.

#include <span>

#include "ilux/solver/policy/choice.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux {

/// Where a system stands when a try begins.
struct AttemptFacts {
    const SolverOptions&     options;
    const Rates&             rates;
    const Choice&            choice;
    std::span<const Attempt> tried;         ///< before, for the same system
    double                   seconds_left;  ///< of the time limit; infinite without one

    bool automatic() const { return options.strategy() == SolverMode::automatic; }
};

/// Seconds that LU is expected to take from now on, where something is known of it: analysis and factors, or other
/// pivots by entries where its own failed.
double seconds_of_lu(const AttemptFacts& facts);

/// Whether what is to be tried now may give way to the other strategy, of which something is known.
bool other_strategy_open(const AttemptFacts& facts, bool direct);

/// What a try may take of the time: all that is left, or half, where the other strategy is expected to fit into the
/// other half. An LU has half as much again as is expected of it in any case.
double share_of_time(const AttemptFacts& facts, bool direct);

/// What a factorization may take. While the other strategy is open and there would be time for it, no more than what
/// makes this one a mistake; then the other is tried. A preconditioner may take twice what was expected of the
/// iteration, but no less than half of what LU takes and no more than all of it; where an iteration is next to sure,
/// twice the larger of both.
double seconds_to_factor(const AttemptFacts& facts, bool direct);

/// Steps after which LU, where that is open, would have been the better choice. @param fill  of M; nnz  of A; gpu steps
/// are made there
Index most_steps(const AttemptFacts& facts, double fill, Offset nnz, bool gpu);

/// Whether an LU whose pivots fail may choose others by entries. It may not where an iteration that was not tried takes
/// less.
bool may_take_other_pivots(const AttemptFacts& facts);

/// Says of a factorization that ended before its time limit that it did so for the sake of the other strategy.
/// @param facts  as they are after it
void note_given_up(const AttemptFacts& facts, Attempt& tried);

/// Why an iteration with this M waits until LU was tried, or "": its own estimates call it hopeless.
std::string why_put_off(const AttemptFacts& facts, const Attempt& made);

}  // namespace ilux
