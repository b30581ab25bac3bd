#pragma once
// After a failure: what to try next, and when to stop trying.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux {

/// What the methods for symmetric matrices ask of A.
struct SymmetryFacts {
    bool                     hermitian = false;          ///< Aᴴ = A: of real values, symmetric
    bool                     symmetric = false;          ///< Aᵀ = A
    bool                     positive_diagonal = false;  ///< and hermitian
    bool                     complex = false;            ///< its values are
    bool                     rounded = false;            ///< these hold but for rounding
    std::optional<Asymmetry> of_adjoint = {};            ///< A against Aᴴ, where that was asked

    const char* word() const { return complex ? "Hermitian" : "symmetric"; }
};
/// @param hermitian, symmetric  what is asked for
template <Scalar S>
SymmetryFacts symmetry_facts(Cpu& cpu, const CsrView<S>& A, bool hermitian, bool symmetric);

/// The first try of a strategy. An iteration: A symmetric (complex: Hermitian) with positive diagonal → CG, otherwise
/// GMRES, where the method is left to us. For a method that needs a symmetric M, the multilevel ILU keeps it so:
/// `definite` for CG and, where the diagonal is not positive, `absolute` for MINRES; no matching for SQMR and COCG.
Plan first_plan(const SolverOptions& options, bool direct, const SymmetryFacts& A, std::vector<std::string>& decisions);

/// The next try of the same strategy after all of `tried` failed, or nothing, and then `why_not` says why. In turn: a
/// coarse space that `precond.coarse=auto` chose goes; CG chosen by us gives way to GMRES; a simpler preconditioner to
/// the multilevel ILU; rounds that `precond.setup=auto`
/// chose to Crout's sweep, for good; then τ and τ_S are divided by 10, three times, and from the second time on κ is
/// doubled as well; last, where n ≤ 10⁴, nothing is dropped at all. A direct solution whose backward error stayed too
/// large is scaled by a matching (lu.scaling = matching); then, with the scaling asked for, it takes the largest pivots
/// (lu.pivot_tol = 1). No further try after running out of memory or time, at a residual of rounding size, or when a
/// try as long as the last one would pass the time limit.
/// @param elapsed  seconds since the first try began
std::optional<Plan> next_plan(const SolverOptions& options, std::span<const Attempt> tried, double elapsed,
                              std::string& why_not);

/// What mode auto knows beside the tries.
struct OtherStrategies {
    bool direct_possible = true;  ///< not known to be impossible
    std::optional<double>
         lu;  ///< seconds, from now to its factors; nothing: not looked at, as A is small; infinite: given up
    Plan first_iterative;
};

/// The next plan of mode auto, which may change its strategy: from a direct solution, once other pivots are of no use,
/// to an iteration; from an iteration to LU, where that is expected to take no longer than a tighter preconditioner, or
/// there is none; then back to tighter preconditioners. A factorization given up for the sake of the other strategy
/// gets all the time that is left in the end.
std::optional<Plan> next_plan_of_either_strategy(const SolverOptions& options, const OtherStrategies& strategies,
                                                 std::span<const Attempt> tried, double elapsed, std::string& why_not);

/// Why iterating with this M had better not be tried while LU was not, or "": rank is missing from it, or the estimated
/// norms of its inverse factors are so large that M⁻¹ drowns the residual in rounding.
std::string why_hopeless(const MlIluReport& report);

/// LU found A singular, so no x is right beyond the residual: where none has converged, the last one that has as far as
/// that goes becomes a solution, unless `asked` wants more than a residual says. Solutions are told to be perhaps one
/// of many.
void accept_what_can_be_known(StopTest asked, std::span<Attempt> tried);

/// The one whose x is handed out: converged, else the smallest finite residual; where there is none, the last try that
/// was not given up for the sake of another.
std::size_t best_attempt(std::span<const Attempt> tried);

}  // namespace ilux
