#pragma once
// What became of values that were to be factored.

#include <string>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/types.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"

namespace ilux {

/// What was done with new values.
enum class LuAction {
    factor,    ///< pivots chosen for them
    refactor,  ///< the former pivots held
    repivot,   ///< the former pivots were found stale, so others were taken
};
constexpr auto names(LuAction) { return words("factor", "refactor", "repivot"); }

/// What became of new values.
struct [[nodiscard]] LuReport {
    /// converged: usable factors; singular; not_finite; out_of_memory; time_limit; cancelled
    Outcome    outcome = Outcome::converged;
    LuAction   action = LuAction::factor;
    PivotState state = PivotState::good;  ///< what the monitors said of the former pivots; good where there were none
    /// Why it repivoted or failed, with figures and the caller's row and column (counted from 1, as in every message);
    /// or ""
    std::string reason = {};
    Index       row = -1, column = -1;  ///< of the caller, where one is to blame; −1: none
    Index       pivot = -1;             ///< number of the failing pivot in the order of elimination
    bool        overfilled = false;     ///< it was ended by limit_fill; the outcome is out_of_memory
    double      seconds = 0;
};

}  // namespace ilux
