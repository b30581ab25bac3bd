#pragma once
// What a series does with new values: pure functions over what was measured, measurements in, a decision out.

#include <optional>
#include <string>
#include <string_view>

#include "ilux/base/types.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/solver/policy/solver_state.hpp"
#include "ilux/solver/policy/strategy_history.hpp"

namespace ilux {

/// Whether the next values begin by the first plan again: the last ones have no factors, or the last b was not solved.
/// @param last  the outcome of the last b since the last values; nothing: none was asked for
bool begins_anew(SolverState state, std::optional<Outcome> last);

// ---- another strategy ----

/// The strategy not taken at present, which would have to be set up.
struct OtherStrategy {
    std::string_view        name;  ///< direct or iterative
    const StrategyRecord*   record = nullptr;
    std::optional<Forecast> forecast;  ///< nothing: unknown
};

/// Why the rest of the series should go by the other strategy, with the figures; or "". Measured seconds beat
/// forecasts, and a forecast must promise half the seconds, a measurement a fifth less.
/// @param left  systems to come
std::string reason_to_switch(const StrategyRecord& now, std::string_view name, const OtherStrategy& other, double left);

/// With the one that has begun. @param promised  in all; 1: nobody said how many, and then as many as there were
double systems_left(double promised, double begun);

// ---- new values ----

/// What is done for new values before their first b.
enum class ValuesStep {
    refactor,             ///< direct: by the former pivots, or others
    keep_lu,              ///< direct: the LU of earlier values is the preconditioner of an iteration
    keep_preconditioner,  ///< iterative: M of an earlier system serves
    refresh,              ///< iterative: M is made anew
};

/// An LU of earlier values as preconditioner: what it costs, as last measured.
struct FormerLu {
    double refactor = 0, solve = 0;  ///< seconds
};

/// Steps that cost half of a refactorization; 0 where there is nothing to gain.
Index steps_worth(const FormerLu& lu, Index restart);

/// What is there when new values come.
struct ValuesFacts {
    bool direct = true;         ///< the strategy taken
    bool lu_may_serve = false;  ///< mode auto, and an LU of earlier values on the host that was not of no use lately
    FormerLu    lu = {};
    Index       restart = 30;
    bool        has_preconditioner = false;
    std::string why_refresh = {};  ///< why M serves no other system, or ""
};
ValuesStep step_for_values(const ValuesFacts& facts);

// ---- after a solution ----

/// What an iteration's preconditioner may cost.
struct RefreshLimits {
    double refresh_factor = 2;  ///< infinite: M is never made anew
    Index  max_steps = 1000;
};

inline RefreshLimits refresh_limits(const SolverOptions& options)
{
    return {.refresh_factor = options.sequence.refresh_factor, .max_steps = options.krylov.max_steps};
}

/// Steps beyond which M is made anew for the next system. @param first  steps of the system that M, or its rounds, were
/// made for
Index most_kept_steps(Index first, const RefreshLimits& limits);
/// Steps after which an iteration with a kept M ends: from there on a new one is cheaper.
Index most_steps_with_kept(Index first, Index max_steps, const RefreshLimits& limits);

/// How M served a system.
struct PreconditionerUse {
    Outcome outcome = Outcome::converged;
    Index   steps = 0, first_steps = 0;  ///< of this system, and of the one that M, or its rounds, were made for
    bool    lacks_rank = false;
};
/// Why M does not serve another system, or "".
std::string reason_to_refresh(const PreconditionerUse& use, const RefreshLimits& limits);

/// How a try ended that used what an earlier system has left.
struct FormerUse {
    Outcome outcome = Outcome::converged;
    bool    former = false;    ///< it did: a kept M, kept rounds of one, or a kept LU
    bool    given_up = false;  ///< for the sake of the other strategy
    double  seconds_left = 0;
};
/// Whether the system is tried again with factors of its own before anything else is.
bool needs_own_factors(const FormerUse& use);

}  // namespace ilux
