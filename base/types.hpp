#pragma once
// The words every part shares: index types, what a solve may end in, and the report it returns.

#include <cstdint>

#include "ilux/base/enum_names.hpp"

/// Large sparse linear systems from PDEs and circuits.
namespace ilux {

using Index = std::int32_t;   ///< a row or a column
using Offset = std::int64_t;  ///< a position in the arrays: nnz, fill and operation counts pass 2³¹ long before n does

/// How a solve ended. Only `converged` is a success, and it is said of a recomputed b − A x, never of an estimate.
enum class Outcome {
    converged,      ///< the true residual meets the tolerance
    max_steps,      ///< the step limit was reached
    stagnated,      ///< whole cycles without progress
    breakdown,      ///< the method divided by (nearly) zero; IterationReport::detail names the quantity
    diverged,       ///< the residual grew beyond reason
    singular,       ///< the matrix or its preconditioner has no inverse
    not_finite,     ///< NaN or Inf appeared
    out_of_memory,  ///< the byte budget or the machine's memory was exhausted
    time_limit,     ///< the time allowed was over before there was a result
    cancelled,      ///< the caller asked to stop
};

constexpr auto names(Outcome)
{
    return words("converged", "max_steps", "stagnated", "breakdown", "diverged", "singular", "not_finite",
                 "out_of_memory", "time_limit", "cancelled");
}

/// Wall seconds spent inside a solve; `other` is what remains of `solve`.
struct SolveSeconds {
    double solve = 0;
    double spmv = 0;
    double precond = 0;
    double ortho = 0;
    double other() const { return solve - spmv - precond - ortho; }
};

/// What a Krylov method returns. Holds no owning memory, since solving allocates nothing.
struct [[nodiscard]] IterationReport {
    Outcome outcome = Outcome::max_steps;
    Index   steps = 0;              ///< matrix-preconditioner products spent on the search space
    Index   restarts = 0;           ///< completed cycles (GMRES, FGMRES)
    double  relative_residual = 0;  ///< ‖b − A x‖₂ / ‖b‖₂, recomputed; the absolute norm when b = 0
    double backward_error = 0;  ///< ‖b − A x‖₂ / (‖A‖_F ‖x‖₂ + ‖b‖₂); 0 when ‖A‖ was not given
    const char*  detail = "";  ///< a static string: which quantity broke down, and where
    SolveSeconds seconds;
};

}  // namespace ilux
