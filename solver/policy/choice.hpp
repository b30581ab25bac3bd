#pragma once
// Direct or iterative: decided by facts before the first factorization.

#include <memory>
#include <string>
#include <vector>

#include "ilux/solver/machine/options.hpp"
#include "ilux/solver/policy/forecast.hpp"

namespace ilux {

/// Which strategy was chosen, and by which figures.
struct Choice {
    bool direct = true;
    bool direct_possible = true;                 ///< false: a structurally singular A, no memory for L and U, no time
    std::shared_ptr<const LuSymbolic> symbolic;  ///< where one was made; of use to a direct solution
    std::optional<Forecast>           lu;        ///< nothing: not looked at closely
    double                            lu_at_best = 0;  ///< seconds that one is still to take, at least
    Forecast                          iterative;
    std::vector<std::string>          decisions;  ///< sentences with the figures that decided
};

/// Looks no closer than the answer needs: a tiny system goes to LU at once; a symmetric pattern whose flops by AMD are
/// far too many goes to an iteration without an analysis; else the analysis decides, METIS being tried only where that
/// may change the answer.
/// @param ahead  what is to come with this pattern
/// @param gpu  an iteration would run there
/// @param stop  gives an analysis up, and with it LU
/// @param stored  an analysis that is there already decides in place of others; or null
template <Scalar S>
Choice choose_strategy(const CsrView<S>& A, const SolverOptions& options, const Ahead& ahead, bool gpu,
                       const StopToken& stop, std::shared_ptr<const LuSymbolic> stored = nullptr);

}  // namespace ilux
