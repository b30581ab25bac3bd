#pragma once
// A finished solve, as the reports see it.

#include <string>
#include <vector>

#include "ilux/apps/attempt.hpp"
#include "ilux/apps/options.hpp"
#include "ilux/apps/problem.hpp"

namespace ilux::app {

struct Run {
    SolveOptions             options;   ///< as given
    std::vector<Attempt>     attempts;  ///< one at least
    std::size_t              best = 0;  ///< the one whose x is handed out
    std::vector<std::string> decisions;
    std::string              stopped;            ///< after a failure: why there was no further attempt
    double                   forward_error = 0;  ///< NaN when unknown
    double                   seconds = 0;        ///< all attempts

    const Attempt& result() const { return attempts[best]; }
    /// Of the result; `singular` where it failed for a matrix in which numerical rank is missing.
    Outcome outcome() const;
};

}  // namespace ilux::app
