#pragma once
// What a series has measured so far, and what that says of its next system.

#include <optional>
#include <span>
#include <string>

#include "ilux/engine/report/attempt.hpp"
#include "ilux/solver/policy/series_policy.hpp"

namespace ilux {

/// Measured seconds of both strategies, how an LU of earlier values served, and how M did.
struct SeriesRecord {
    double                 promised = 1;  ///< systems to come in all
    double                 begun = 0;     ///< systems whose values came
    StrategyRecord         direct, iterative;
    FormerLu               former_lu;
    Pause                  former_lu_pause;  ///< while it was of no use as preconditioner
    Index                  first_steps = 0;  ///< of the system that M, or its rounds, were made for
    std::string            why_refresh;      ///< why the next system needs another M, or ""
    std::optional<Outcome> last;             ///< of the last b since the last values

    StrategyRecord& of(bool of_direct) { return of_direct ? direct : iterative; }

    /// Seconds of this system, or that a strategy was of no use to it: for the choice of later ones.
    void remember(std::span<const Attempt> tried, bool of_direct, double seconds);
    /// Why the rest of the series should go by the other strategy, or "".
    /// @param forecast  of the other; nothing: unknown
    std::string reason_to_switch(bool from_direct, const std::optional<Forecast>& forecast);
    /// A solution by an M: how many steps, and whether that M serves another system.
    void note_steps(const Attempt& tried, bool lacks_rank, const RefreshLimits& limits);
};

/// Whether M was made for this system by the rounds of an earlier one.
bool replayed(const Attempt& tried);
/// Whether what an earlier system has left served this one.
inline bool by_former(const Attempt& tried)
{
    return tried.action == SolverAction::lagged || tried.action == SolverAction::stale || replayed(tried);
}
/// Why M was renewed, and by what. Nothing where nobody asked why.
std::string renewal(const std::string& why, const Attempt& renewed);

}  // namespace ilux
