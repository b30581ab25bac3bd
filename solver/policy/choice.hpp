#pragma once
// Direct or iterative: decided by facts before the first factorization.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/machine/forecast.hpp"

namespace ilux {

/// Which strategy was chosen, and by which figures.
struct Choice {
    bool direct = true;
    /// Whether LU comes before all else.
    bool begins_direct() const { return direct && quick == 0; }
    bool direct_possible = true;                 ///< false: a structurally singular A, no memory for L and U, no time
    std::shared_ptr<const LuSymbolic> symbolic;  ///< where one was made; of use to a direct solution
    std::optional<Forecast>           lu;        ///< nothing: not looked at
    Forecast                          iterative;
    std::optional<IterationFacts>     by_diagonal;  ///< where an iteration needs no more than the diagonal, and why
    /// What worth_a_quick_attempt() says. Above 0 the choice is by an estimate, and is made again after that try.
    double                     quick = 0;
    std::optional<ChoiceFacts> facts;      ///< nothing: the answer needed none
    std::vector<std::string>   decisions;  ///< sentences with the figures that decided
};

/// Looks no closer than the answer needs: a tiny system goes to LU at once; else parts of A tell how much an LU is
/// likely to fill, and only where that does not speak for an iteration an analysis decides, which ends as soon as its
/// best order has too many flops.
/// @param ahead  what is to come with this pattern
/// @param has_gpu  whether there is one that may be used; asked only where it may decide, since a driver takes its time
/// to start
/// @param stop  gives an analysis up, and with it LU
/// @param stored  an analysis that is there already decides in place of others; or null
/// @param estimated  the facts of a choice by an estimate, after a quick try that has failed; or null
template <Scalar S>
Choice choose_strategy(const CsrView<S>& A, const SolverOptions& options, const Ahead& ahead,
                       const std::function<bool()>& has_gpu, const Rates& rates, const StopToken& stop,
                       std::shared_ptr<const LuSymbolic> stored = nullptr, const ChoiceFacts* estimated = nullptr);

}  // namespace ilux
