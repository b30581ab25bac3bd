#pragma once
// What x is held to, and how an iteration goes on where it is not yet reached.

#include <limits>
#include <span>
#include <string>

#include "ilux/krylov/krylov.hpp"
#include "ilux/engine/report/attempt.hpp"
#include "ilux/engine/krylov_system.hpp"
#include "ilux/engine/witness/witness.hpp"

namespace ilux {

/// Limits on Accuracy; Inf: not asked for.
struct Standard {
    double residual = std::numeric_limits<double>::infinity();
    double backward_error = std::numeric_limits<double>::infinity();
    double rowwise = std::numeric_limits<double>::infinity();
    double error = std::numeric_limits<double>::infinity();  ///< of error and worst_error, which then must be settled
};
/// The standard that krylov.stop names. Mode auto asks for residual, row-wise and estimated error, whichever strategy
/// it takes. Rows are then held to 1e-12, unless a Witness knows that less will do.
Standard standard_of(const SolverOptions& options);

/// How far the worst of what is asked for is from its limit: 1 and less is good. Inf where x is not finite.
double excess(const Accuracy& accuracy, const Standard& standard);
/// The rule of every correction of x: one that does not halve the excess is taken back, and is the last.
bool halves_excess(const Accuracy& now, const Accuracy& before, const Standard& standard);
/// "the row-wise backward error is 1.2e-03, not 1e-08", or whatever is not reached; "" where all is.
std::string shortfall(const Accuracy& accuracy, const Standard& standard, Index n);
/// What a success by the residual does not tell: where row-wise and estimated error disagree with it; or "".
std::string accuracy_warning(const Accuracy& accuracy, Index n);

/// What a success by rows has to tell where hardly a digit of b is met, or "".
std::string lost_b_warning(const Accuracy& accuracy);

/// M that leaves many steps to do knows little of the error: so many of them, on the equation of the error, tell more;
/// 0: M knows enough.
Index steps_of_estimate(const Attempt& tried);
/// Whether rounding limits an iteration that ended without success: every row that counts is solved to LU's tolerance,
/// and the error is estimated as small.
bool is_at_rounding(const Attempt& tried, double etol);

/// What follows a direct solution's verdict: krylov.stop=error may refuse x all the same, and a success is warned of.
void hold_to_etol(const SolverOptions& options, Index n, Attempt& tried);

inline void add_seconds(const SolveSeconds& done, SolveSeconds& all)
{
    all.solve += done.solve;
    all.spmv += done.spmv;
    all.precond += done.precond;
    all.ortho += done.ortho;
}
/// Counts the steps, restarts and seconds of `done` in `all`.
inline void add_work(const IterationReport& done, IterationReport& all)
{
    all.steps += done.steps;
    all.restarts += done.restarts;
    add_seconds(done.seconds, all.seconds);
}

/// What becomes of an iteration that is over: its x is measured in twice the precision, its error estimated by M. Where
/// the residual meets its tolerance and the rest of the standard is not met, it goes on: corrections d of D A d = D (b
/// − A x) are solved for, where D makes (|A||x| + |b|)_i equal in all rows, until it is, or a correction no longer
/// halves the excess. An x at the limit of rounding, every row solved to 1e-12 of its terms and the estimated error
/// within krylov.etol, has converged whatever its residual is: that is the rule of an LU, too.
/// @param krylov  of the iteration; its steps count on  @param correction  by the M of the iteration  @param witness
/// asked for what M cannot know; or null
/// @param stop  of the iteration  @param tried  in: x and report of the iteration; out: of all
/// An x whose residual is small enough may miss the standard: then the outcome is stagnated, time_limit or cancelled,
/// and `inaccurate` is set. An x so large that b − A x cancels to rounding noise has passed its test by
/// luck, and did not converge.
template <Scalar S>
void finish_iteration(Cpu& cpu, const CsrView<S>& A, std::span<const NotDeduced<S>> b, const KrylovOptions& krylov,
                      const Standard& standard, Correction<Cpu, NotDeduced<S>>& correction,
                      Witness<NotDeduced<S>>* witness, const StopToken& stop, Attempt& tried);

}  // namespace ilux
