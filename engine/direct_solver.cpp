#include "ilux/engine/direct_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
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
DirectSolver<S>::DirectSolver(Machine machine, const SolverOptions& options, double systems,
                              std::shared_ptr<SystemValues<S>> values)
    : machine_(std::move(machine)),
      options_(options),
      series_{.systems = systems, .plan_due = !options.plan.empty()},
      values_(std::move(values)),
      batches_(machine_, options_)
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
    stored_.reset();
    given_ = lu;
    release();
    facts_->repivots = series_.repivots;
}

template <Scalar S>
void DirectSolver<S>::take(const LuPlan& stored, const LuOptions& lu)
{
    take(stored.symbolic, lu);
    if (stored.pattern) stored_ = {stored.pattern, stored.growth};
    series_.plan_due = false;
}

template <Scalar S>
void DirectSolver<S>::choose_pivots_by(const LuOptions& lu)
{
    if (chooses_pivots_by(lu)) return;
    given_.pivot_tol = lu.pivot_tol;
    stored_.reset();
    drop_factors();
    facts_->repivots = series_.repivots;
}

/// Reports count through the whole series.
template <Scalar S>
void DirectSolver<S>::drop_factors()
{
    if (lu_) series_.repivots += lu_->status().repivots;
    lu_.reset();
    factored_ = false;
    batches_.forget();
}

template <Scalar S>
void DirectSolver<S>::release()
{
    drop_factors();
    judge_there_.reset();
    judge_.reset();
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
    if (lu_) return lu_->stop_by(stop);
    require_memory(*symbolic_, given_, sizeof(S));
    judge_.emplace(machine_.cpu, options_, symbolic_->n);
    LuOptions now = symbolic_->options;
    now.pivot_tol = given_.pivot_tol;
    lu_.emplace(machine_.cpu, symbolic_, now, values_);
    lu_->stop_by(stop);
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

/// What became of the numbers. @return whether there are factors
template <Scalar S>
bool DirectSolver<S>::took(const LuReport& done, Attempt& tried)
{
    tried.action = action_of(done);
    tried.seconds_factor = done.seconds;
    factored_ = done.outcome == Outcome::converged;
    if (done.action != LuAction::refactor) series_.condition_known = false;
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
    if (!series_.device_chosen && series_.systems > 1)
        choose_refactor(machine_, options_, *lu_, series_.systems - 1, tried.decisions);
    series_.device_chosen = true;
    if (!lu_->on_gpu()) {  // it could not hold them
        judge_there_.reset();
        machine_.gpu.reset();
    }
    tried.device = machine_.device();
    const LuStatus status = lu_->status();
    if (status.storage != series_.storage)
        tried.decisions.push_back(fmt::format("numbers of L and U {}", status.storage));
    series_.storage = status.storage;
    if (tried.action != SolverAction::refactor || facts_->nnz == 0) note_factors(*lu_, A.nnz(), *facts_);
    const PivotMonitor monitor = lu_->pivots().monitor;
    facts_->refactor = status.method;
    facts_->growth = monitor.rgrowth;
    facts_->rcond = monitor.rcond();
    facts_->repivots = series_.repivots + status.repivots;
    tried.lu = facts_;
    tried.fill = facts_->fill;
    tried.factor_bytes = status.bytes;
    tried.workspace_bytes = judge_->bytes();
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
    if (stored_) {
        anew = false;
        lu_->take_pivots(stored_->pattern, stored_->growth);
        stored_.reset();
    }
    if (limits_fill(*symbolic_)) lu_->limit_fill(most_fill);
    LuReport done = anew ? lu_->factor(A.val()) : lu_->refactor_or_factor(A.val());
    if (done.overfilled) done = reordered(A, done, stop, tried);
    if (!took(done, tried)) return false;
    if (std::exchange(series_.plan_due, false))  // the first factors leave their plan behind
        tried.decisions.push_back(save_plan(*lu_, *symbolic_, given_, options_, tried.seconds_factor));
    note(A, tried);
    return true;
}

/// An estimate takes as long as several solves: it is made for new pivots.
template <Scalar S>
void DirectSolver<S>::note_condition(const CsrView<S>& A, Attempt& tried)
{
    if (tried.action == SolverAction::refactor && series_.condition_known) return;
    series_.condition_known = true;
    tried.lu->condition = facts_->condition = judge_->condition(*lu_, A);
}

/// The judge on the GPU where the factors and these arrays are; null where they are elsewhere, or it has no room.
template <Scalar S>
GpuLuJudge<S>* DirectSolver<S>::judge_there(const CsrView<S>& A, const SystemVectors<S>& given)
{
    if (!machine_.gpu || !lu_->on_gpu() || !given.are_of(*machine_.gpu)) return nullptr;
    try {
        if (!judge_there_) judge_there_.emplace(*machine_.gpu, A);
    } catch (const OutOfMemory&) {
        return nullptr;
    }
    return &*judge_there_;
}

template <Scalar S>
void DirectSolver<S>::apply(const CsrView<S>& A, SystemVectors<S>& given, Transpose transpose)
{
    GpuLuJudge<S>* const there = judge_there(A, given);
    if (there && there->apply(*lu_, transpose, given)) return;
    std::vector<S> z(given.b().size());
    judge_->substitute(*lu_, given.b(), z, transpose);
    given.deliver(z);
}

template <Scalar S>
void DirectSolver<S>::judge(const MatrixOrAdjoint<S>& A, std::span<const S> b, double rtol, const LuSolveReport& solved,
                            Attempt& tried)
{
    if (solved.repivoted) {
        tried.action = SolverAction::repivot;
        tried.reason = solved.reason;
        note(A.factored(), tried);
    } else if (solved.outcome == Outcome::converged) add_reason(tried.reason, solved.reason);
    tried.lu = facts_;
    judge_->judge(*lu_, A, b, rtol, solved, tried);
}

template <Scalar S>
void DirectSolver<S>::solve(const CsrView<S>& A, Transpose transpose,
                            const std::function<MatrixOrAdjoint<S>()>& host_matrix, SystemVectors<S>& given,
                            double rtol, const StopToken& stop, bool patient, Attempt& tried)
{
    clock_ = WallClock();
    tried.lu = facts_;
    GpuLuJudge<S>* const there = judge_there(A, given);
    if (there && there->solve(*lu_, A, transpose, given, rtol, options_, tried)) return note_condition(A, tried);
    const MatrixOrAdjoint<S> system = host_matrix();
    clock_ = WallClock();
    lu_->stop_by(stop);
    const std::span<const S> b = given.b();
    std::vector<S>&          x = tried.x.of<S>();
    const LuSolveReport      solved = lu_->solve_as_factored(b, x, transpose, lu_tolerance);
    tried.report.seconds.solve = clock_.seconds();
    judge(system, b, rtol, solved, tried);
    const bool others = solved.outcome != Outcome::converged && !tried.converged() && lu_->may_choose_pivots();
    tried.pivots_left = others && !patient;
    if (others && patient) judge(system, b, rtol, lu_->solve(b, x, transpose, lu_tolerance), tried);
    note_condition(A, tried);
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
    note_condition(A, tried);
}

#define ILUX_INSTANTIATE(S) template class DirectSolver<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
