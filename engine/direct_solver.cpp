#include "ilux/engine/direct_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/engine/machine/lu_device.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/engine/standard.hpp"

namespace ilux {
namespace {

SolverAction action_of(const LuReport& done)
{
    switch (done.action) {
        case LuAction::factor:
            return SolverAction::factor;
        case LuAction::refactor:
            return SolverAction::refactor;
        case LuAction::repivot:
            return done.outcome == Outcome::converged ? SolverAction::repivot : SolverAction::failed_repivot;
    }
    return SolverAction::factor;
}

constexpr double most_fill = 1.5;  // entries of L + U over those expected: few real matrices have more
/// Whether more fill than that is worth another order: orders are chosen, and the work takes some hundredths of a
/// second.
bool limits_fill(const LuSymbolic& symbolic)
{
    constexpr double least_flops = 2e7;
    return symbolic.options.ordering == LuOrdering::automatic && symbolic.report.ordering != LuOrdering::colamd &&
           symbolic.report.flops >= least_flops;
}

void add_reason(std::string& reason, const std::string& more)
{
    if (!more.empty()) reason += (reason.empty() ? "" : "; ") + more;
}

}  // namespace

template <Scalar S>
DirectSolver<S>::DirectSolver(Machine machine, const SolverOptions& options, double systems)
    : machine_(std::move(machine)), options_(options), systems_(systems), plan_due_(!options.plan.empty())
{}

template <Scalar S>
void DirectSolver<S>::analyse(const CsrView<S>& A, const LuOptions& lu, const StopToken& stop)
{
    take(ilux::analyse<S>(view(A), within_memory(lu), stop, machine_.cpu), lu);
}

template <Scalar S>
void DirectSolver<S>::take(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& lu)
{
    facts_ = facts_before(*symbolic);  // first: it may lack memory
    symbolic_ = std::move(symbolic);
    stored_pivots_.reset();
    gpu_side_.reset();
    given_ = lu;
    drop_factors();
    facts_->repivots = earlier_repivots_;
}

template <Scalar S>
void DirectSolver<S>::take(const LuPlan& stored, const LuOptions& lu)
{
    take(stored.symbolic, lu);
    stored_pivots_ = stored.pattern;
    stored_growth_ = stored.growth;
    plan_due_ = false;
}

template <Scalar S>
void DirectSolver<S>::choose_pivots_by(const LuOptions& lu)
{
    if (chooses_pivots_by(lu)) return;
    given_.pivot_tol = lu.pivot_tol;
    stored_pivots_.reset();
    drop_factors();
    facts_->repivots = earlier_repivots_;
}

/// Reports count through the whole series.
template <Scalar S>
void DirectSolver<S>::drop_factors()
{
    if (lu_) earlier_repivots_ += lu_->repivots();
    lu_.reset();
    factored_ = false;
    release_batch();
    no_batch_for_.reset();
}

template <Scalar S>
void DirectSolver<S>::release()
{
    drop_factors();
    gpu_side_.reset();
    workspace_.reset();
}

/// What every call for new numbers begins with.
template <Scalar S>
void DirectSolver<S>::begin(const StopToken& stop, Attempt& tried)
{
    clock_ = WallClock();
    factored_ = false;
    tried.device = machine_.device();
    tried.action = SolverAction::factor;
    tried.lu = facts_;
    if (lu_) return lu_->heed(stop);
    require_memory(*symbolic_, given_, sizeof(S));
    workspace_.emplace(symbolic_->n);
    LuOptions now = symbolic_->options;
    now.pivot_tol = given_.pivot_tol;
    lu_.emplace(machine_.cpu, symbolic_, now);
    lu_->heed(stop);
    const bool fronts = symbolic_->options.supernodes != LuSupernodes::off;
    if (!machine_.gpu && fronts)
        take_gpu_for_fronts(machine_, options_, work_of(*symbolic_, is_complex<S>), tried.decisions);
    if (machine_.gpu) try {
            lu_->use_gpu(*machine_.gpu);
        } catch (...) {  // the next call begins anew
            lu_.reset();
            throw;
        }
}

/// The first factors leave their plan behind.
template <Scalar S>
void DirectSolver<S>::keep_plan(Attempt& tried)
{
    if (!std::exchange(plan_due_, false)) return;
    tried.decisions.push_back(save_plan(*lu_, *symbolic_, given_, options_, tried.seconds_factor));
}

/// What became of the numbers. @return whether there are factors
template <Scalar S>
bool DirectSolver<S>::took(const LuReport& done, Attempt& tried)
{
    tried.action = action_of(done);
    tried.seconds_factor = done.seconds;
    factored_ = done.outcome == Outcome::converged;
    if (done.action != LuAction::refactor) condition_known_ = false;
    if (factored_) {
        tried.reason = done.reason;
        return true;
    }
    const bool late = done.outcome == Outcome::time_limit || done.outcome == Outcome::cancelled;
    tried.fail(done.outcome,
               late ? fmt::format("given up after {:.3g} s: {}", clock_.seconds(), done.reason) : done.reason);
    if (const Index rank = symbolic_->report.structural_rank; rank < symbolic_->n)
        tried.failure += fmt::format("; A is structurally singular: rank {} of {}", rank, symbolic_->n);
    return false;
}

/// Facts of the factors, which for new pivots take a pass or two over them.
template <Scalar S>
void DirectSolver<S>::note(const CsrView<S>& A, Attempt& tried)
{
    if (!chosen_ && systems_ > 1) choose_refactor(machine_, options_, *lu_, systems_ - 1, tried.decisions);
    chosen_ = true;
    if (!lu_->on_gpu()) machine_.gpu.reset();  // it could not hold them
    tried.device = machine_.device();
    if (lu_->storage() != storage_told_) tried.decisions.push_back("numbers of L and U " + lu_->storage());
    storage_told_ = lu_->storage();
    if (tried.action != SolverAction::refactor || facts_->nnz == 0) note_factors(*lu_, A.nnz(), *facts_);
    const PivotMonitor& monitor = lu_->monitor();
    facts_->refactor = lu_->refactor_method();
    facts_->growth = monitor.rgrowth;
    facts_->rcond = monitor.rcond();
    facts_->repivots = earlier_repivots_ + lu_->repivots();
    tried.lu = facts_;
    tried.fill = facts_->fill;
    tried.factor_bytes = lu_->bytes();
    tried.workspace_bytes = workspace_->bytes();
}

/// Orders the columns anew (COLAMD), where pivots have filled more than their order foresaw and that expects less.
template <Scalar S>
LuReport DirectSolver<S>::reordered(const CsrView<S>& A, const LuReport& filled, const StopToken& stop, Attempt& tried)
{
    const WallClock clock, began = clock_;
    const double    extrapolated = most_fill * symbolic_->report.nnz * A.rows() / std::max(1, filled.pivot);
    LuOptions       by_columns = within_memory(given_);
    by_columns.ordering = LuOrdering::colamd;
    by_columns.supernodes = LuSupernodes::off;  // fronts cannot take pivots from all rows
    std::shared_ptr<const LuSymbolic> other;
    const auto                        lack = lack_of_memory([&] {
        other = ilux::analyse<S>(view(A), by_columns, stop, machine_.cpu);
        require_memory(*other, given_, sizeof(S));
    });
    const bool                        fewer = !lack && other->report.nnz < extrapolated;
    tried.decisions.push_back(
        fmt::format("{}, which makes {:.3g} of all; colamd {}", filled.reason, extrapolated,
                    lack ? "lacks memory: " + *lack
                         : fmt::format("expects {:.3g}: {}", other->report.nnz, fewer ? "taken" : "not taken")));
    if (fewer) {
        const auto decisions = tried.decisions;
        take(other, given_);
        begin(stop, tried);
        clock_ = began;
        tried.decisions = decisions;
    }
    LuReport done = lu_->factor(A.val());
    done.seconds = filled.seconds + clock.seconds();
    return done;
}

template <Scalar S>
bool DirectSolver<S>::factor(const CsrView<S>& A, bool anew, const StopToken& stop, Attempt& tried)
{
    begin(stop, tried);
    if (stored_pivots_) {
        anew = false;
        lu_->take_pivots(std::exchange(stored_pivots_, nullptr), stored_growth_);
    }
    if (limits_fill(*symbolic_)) lu_->limit_fill(most_fill);
    LuReport done = anew ? lu_->factor(A.val()) : refactored(A);
    if (done.overfilled) done = reordered(A, done, stop, tried);
    if (!took(done, tried)) return false;
    keep_plan(tried);
    note(A, tried);
    return true;
}

/// An estimate takes as long as several solves: it is made for new pivots.
template <Scalar S>
void DirectSolver<S>::estimate_condition(const CsrView<S>& A, Attempt& tried)
{
    if (tried.action == SolverAction::refactor && condition_known_) return;
    condition_known_ = true;
    const SolveInPlace<S> solve = [&](std::span<S> v, Transpose turn) {
        if (lu_->on_gpu() && lu_->pivots().fronts) {  // many numbers, which stay there
            better_.assign(v.begin(), v.end());
            substitute(better_, v, turn);
        } else lu_solve<S>(machine_.cpu, lu_->factors(), v, v, *workspace_, turn);
    };
    const auto n = static_cast<std::size_t>(A.rows());
    tried.lu->condition = facts_->condition =
        condition_estimate<S>(view(A), solve, std::span(workspace_->d).first(n), std::span(workspace_->r).first(n));
}

/// A success is warned of the unknowns that A leaves open, as its factors have it.
template <Scalar S>
void DirectSolver<S>::warn_of_open_unknowns(const TurnedMatrix<S>& A, Attempt& tried)
{
    if (!tried.converged()) return;
    const Substitution<S> substitution = [&](std::span<const S> r, std::span<S> z) { substitute(r, z, A.turn()); };
    tried.warn(known_answer_warning<S>(machine_.cpu, A.solved(), tried.x.of<S>(), residual_, substitution, known_));
}

template <Scalar S>
void DirectSolver<S>::substitute(std::span<const S> r, std::span<S> z, Transpose turn)
{
    if (lu_->on_gpu()) (void)lu_->solve(r, z, turn, INFINITY);
    else lu_solve<S>(machine_.cpu, lu_->factors(), r, z, *workspace_, turn);
}

template <Scalar S>
void DirectSolver<S>::apply(const CsrView<S>& A, SystemVectors<S>& given, Transpose turn)
{
    if (apply_on_gpu(A, given, turn)) return;
    std::vector<S> z(given.b().size());
    substitute(given.b(), z, turn);
    given.deliver(z);
}

/// By one more substitution.
template <Scalar S>
void DirectSolver<S>::estimate_error(const TurnedMatrix<S>& A, Attempt& tried)
{
    if (!tried.accuracy.finite) return;
    note_counting_rows<S>(A.solved(), tried.x.of<S>(), residual_, tried.accuracy);
    error_.resize(tried.x.of<S>().size());
    substitute(residual_.r, error_, A.turn());
    note_error<S>(tried.x.of<S>(), error_, residual_, tried.accuracy);
}

/// Refinement with residuals in the precision of x ends where small unknowns of an ill-conditioned A may have no right
/// digit yet. Residuals in twice the precision go on from there [demmel_06].
template <Scalar S>
void DirectSolver<S>::improve(const TurnedMatrix<S>& A, std::span<const S> b, Attempt& tried)
{
    constexpr Index most = DirectBatch<S>::most_corrections;
    const Standard  standard = DirectBatch<S>::standard(options_);
    const auto      far = [&](const Accuracy& one) { return excess(one, standard); };
    estimate_error(A, tried);
    if (!tried.accuracy.finite) return;
    for (Index step = 0; step < most && far(tried.accuracy) > 1; ++step) {
        const Accuracy before = tried.accuracy;
        better_.swap(tried.x.of<S>());
        tried.x.of<S>().resize(better_.size());
        for (std::size_t i = 0; i < better_.size(); ++i)
            tried.x.of<S>()[i] = better_[i] + times_power(error_[i], residual_.exponent);
        tried.accuracy = measure<S>(machine_.cpu, A.solved(), tried.x.of<S>(), b, residual_);
        estimate_error(A, tried);
        ++tried.lu->refine_steps;
        if (far(tried.accuracy) <= far(before) / 2) continue;
        better_.swap(tried.x.of<S>());
        tried.accuracy = before;
        return;
    }
}

template <Scalar S>
void DirectSolver<S>::note_refinement(const LuSolveReport& solved, Attempt& tried)
{
    tried.lu = facts_;
    tried.report.steps = tried.lu->refine_steps = solved.refine.steps;
    const auto& seen = solved.refine.first_errors;
    tried.lu->refine_errors.assign(seen.begin(), seen.begin() + std::min<Index>(solved.refine.steps + 1, seen.size()));
    tried.report.outcome = solved.outcome;
}

template <Scalar S>
void DirectSolver<S>::judge(const TurnedMatrix<S>& A, std::span<const S> b, double rtol, const LuSolveReport& solved,
                            Attempt& tried)
{
    if (solved.repivoted) {
        tried.action = SolverAction::repivot;
        tried.reason = solved.reason;
        note(A.factored(), tried);
    } else if (solved.outcome == Outcome::converged) add_reason(tried.reason, solved.reason);
    note_refinement(solved, tried);
    if (solved.outcome != Outcome::converged && solved.outcome != Outcome::stagnated) {
        tried.explanation = solved.reason;
        if (!solved.refine.finite) tried.report.relative_residual = std::numeric_limits<double>::quiet_NaN();
        return;
    }
    tried.accuracy = measure<S>(machine_.cpu, A.solved(), tried.x.of<S>(), b, residual_);
    improve(A, b, tried);
    tried.report.steps = tried.lu->refine_steps;
    const LuVerdict verdict =
        lu_verdict<S>(machine_.cpu, *lu_, A.solved(), tried.x.of<S>(), b, solved, tried.accuracy, rtol, A.turn());
    tried.report.outcome = verdict.outcome;
    tried.explanation = verdict.detail;
    if (solved.repivoted && !tried.converged()) tried.reason = "by the former pivots x was no success either";
    tried.remark = verdict.remark;
    tried.report.relative_residual = tried.accuracy.relative_residual;
    tried.report.backward_error = tried.accuracy.backward_error;
    warn_of_open_unknowns(A, tried);
    hold_to_etol(options_, static_cast<Index>(tried.x.of<S>().size()), tried);
}

template <Scalar S>
void DirectSolver<S>::solve(const TurnedMatrix<S>& A, SystemVectors<S>& given, double rtol, const StopToken& stop,
                            bool patient, Attempt& tried)
{
    clock_ = WallClock();
    lu_->heed(stop);
    const std::span<const S> b = given.b();
    const LuSolveReport      solved = lu_->solve_as_factored(b, tried.x.of<S>(), A.turn(), lu_tolerance);
    tried.report.seconds.solve = clock_.seconds();
    judge(A, b, rtol, solved, tried);
    const bool others = solved.outcome != Outcome::converged && !tried.converged() && lu_->may_choose_pivots();
    tried.pivots_left = others && !patient;
    if (others && patient) judge(A, b, rtol, lu_->solve(b, tried.x.of<S>(), A.turn(), lu_tolerance), tried);
    estimate_condition(A.factored(), tried);
}

template <Scalar S>
void DirectSolver<S>::step(const CsrView<S>& A, std::span<const S> b, double rtol, const StopToken& stop,
                           Attempt& tried, Attempt& factors)
{
    begin(stop, tried);
    const LuStepReport step = lu_->refactor_and_solve(A.val(), b, tried.x.of<S>(), lu_tolerance);
    tried.report.seconds.solve = step.seconds - step.factors.seconds;
    if (!took(step.factors, tried)) return;
    note(A, tried);
    factors = tried;
    judge(A, b, rtol, step.solution, tried);
    estimate_condition(A, tried);
}

#define ILUX_INSTANTIATE(S) template class DirectSolver<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
