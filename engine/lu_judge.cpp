#include "ilux/engine/lu_judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/instances.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

void note_refinement(const LuSolveReport& solved, Attempt& tried)
{
    const auto& seen = solved.refine.first_errors;
    tried.report.outcome = solved.outcome;
    tried.report.steps = tried.lu->refine_steps = solved.refine.steps;
    tried.lu->refine_errors.assign(seen.begin(), seen.begin() + std::min<Index>(solved.refine.steps + 1, seen.size()));
}

template <Scalar S>
LuJudge<S>::LuJudge(const Cpu& cpu, const SolverOptions& options, Index n) : cpu_(cpu), options_(options), workspace_(n)
{}

template <Scalar S>
void LuJudge<S>::substitute(Lu<S>& lu, std::span<const S> r, std::span<S> z, Transpose transpose)
{
    if (lu.on_gpu()) (void)lu.solve_as_factored(r, z, transpose, INFINITY);
    else lu_solve<S>(cpu_, lu.factors(), r, z, workspace_, transpose);
}

template <Scalar S>
double LuJudge<S>::condition(Lu<S>& lu, const CsrView<S>& A)
{
    const SolveInPlace<S> solve = [&](std::span<S> v, Transpose transpose) {
        if (lu.on_gpu() && lu.pivots().fronts) {  // many numbers, which stay there
            better_.assign(v.begin(), v.end());
            substitute(lu, better_, v, transpose);
        } else lu_solve<S>(cpu_, lu.factors(), v, v, workspace_, transpose);
    };
    const auto n = static_cast<std::size_t>(A.rows());
    return condition_estimate<S>(view(A), solve, std::span(workspace_.d).first(n), std::span(workspace_.r).first(n));
}

/// Estimates the error of x by one more substitution.
template <Scalar S>
void LuJudge<S>::estimate_error(Lu<S>& lu, const MatrixOrAdjoint<S>& A, Attempt& tried)
{
    if (!tried.accuracy.finite) return;
    const std::vector<S>& x = tried.x.of<S>();
    note_counting_rows<S>(A.solved(), x, residual_, tried.accuracy);
    error_.resize(x.size());
    substitute(lu, residual_.r, error_, A.transpose());
    note_error<S>(x, error_, residual_, tried.accuracy);
}

/// Refinement with residuals in the precision of x ends where small unknowns of an ill-conditioned A may have no right
/// digit yet. Residuals in twice the precision go on from there [demmel_06].
template <Scalar S>
void LuJudge<S>::improve(Lu<S>& lu, const MatrixOrAdjoint<S>& A, std::span<const S> b, Attempt& tried)
{
    const Standard  standard = standard_of_lu(options_);
    std::vector<S>& x = tried.x.of<S>();
    tried.accuracy = measure<S>(cpu_, A.solved(), x, b, residual_);
    estimate_error(lu, A, tried);
    if (!tried.accuracy.finite) return;
    for (Index step = 0; step < most_lu_corrections && excess(tried.accuracy, standard) > 1; ++step) {
        const Accuracy before = tried.accuracy;
        better_.swap(x);
        x.resize(better_.size());
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = better_[i] + times_power(error_[i], residual_.exponent);
        tried.accuracy = measure<S>(cpu_, A.solved(), x, b, residual_);
        estimate_error(lu, A, tried);
        ++tried.lu->refine_steps;
        if (halves_excess(tried.accuracy, before, standard)) continue;
        better_.swap(x);
        tried.accuracy = before;
        return;
    }
}

template <Scalar S>
void LuJudge<S>::judge(Lu<S>& lu, const MatrixOrAdjoint<S>& A, std::span<const S> b, double rtol,
                       const LuSolveReport& solved, Attempt& tried)
{
    note_refinement(solved, tried);
    if (solved.outcome != Outcome::converged && solved.outcome != Outcome::stagnated) {
        tried.explanation = solved.reason;
        if (!solved.refine.finite) tried.report.relative_residual = std::numeric_limits<double>::quiet_NaN();
        return;
    }
    improve(lu, A, b, tried);
    const std::vector<S>& x = tried.x.of<S>();
    tried.report.steps = tried.lu->refine_steps;
    const LuVerdict verdict = lu_verdict<S>(cpu_, lu, A.solved(), x, b, solved, tried.accuracy, rtol, A.transpose());
    tried.report.outcome = verdict.outcome;
    tried.explanation = verdict.detail;
    if (solved.repivoted && !tried.converged()) tried.reason = "by the former pivots x was no success either";
    tried.remark = verdict.remark;
    tried.report.relative_residual = tried.accuracy.relative_residual;
    tried.report.backward_error = tried.accuracy.backward_error;
    const Substitution<S> by_factors = [&](std::span<const S> r, std::span<S> z) {
        substitute(lu, r, z, A.transpose());
    };
    if (tried.converged())  // of unknowns that A leaves open, as its factors have it
        tried.warn(known_answer_warning<S>(cpu_, A.solved(), x, residual_, by_factors, known_));
    hold_to_etol(options_, static_cast<Index>(x.size()), tried);
}

#define ILUX_INSTANTIATE(S) template class LuJudge<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
