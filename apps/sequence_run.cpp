#include "ilux/apps/sequence_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/lu_device.hpp"
#include "ilux/apps/memory_guard.hpp"
#include "ilux/apps/retry.hpp"

namespace ilux::app {
namespace {

void note(const std::vector<std::string>& more, std::vector<std::string>& decisions)
{
    for (const std::string& decision : more)
        if (std::ranges::count(decisions, decision) == 0) decisions.push_back(decision);
}

/// Analyses once; then new numbers for the same pivots, as long as these serve.
class DirectSeries {
public:
    DirectSeries(Machine& machine, const SolveOptions& options, bool keep_structure)
        : machine_(machine), options_(options), keep_structure_(keep_structure)
    {}

    void solve(const SequenceInput& input, std::vector<double>& x, SystemReport& one, SequenceReport& all)
    {
        const CsrMatrix<double>& A = input.A();
        clock_ = Stopwatch();
        one.action = "factor";
        if (!lu_) analyse_once(A, all);
        const LuStepReport step = lu_->refactor_and_solve(A.val(), input.b(), x, lu_tolerance);
        const LuReport&    done = step.factors;
        note_precision(*lu_, *all.lu, all.decisions);
        one.action = name(done.action);
        if (done.action == LuAction::repivot && done.outcome != Outcome::converged) one.action = "failed_repivot";
        one.seconds_factor = done.seconds;  // of a GPU with the solution, where one launch does both
        one.seconds_solve = step.seconds - done.seconds;
        one.outcome = done.outcome;
        (done.outcome == Outcome::converged ? one.reason : one.detail) = done.reason;
        if (done.outcome == Outcome::time_limit)
            one.detail = fmt::format("given up after {:.3g} s: {}", clock_.seconds(), done.reason);
        if (done.outcome != Outcome::converged) {
            if (const Index rank = symbolic_->report.structural_rank; rank < A.rows())
                one.detail += fmt::format("; the pattern is structurally singular: rank {} of {}", rank, A.rows());
            return;
        }
        judge(input, x, step.solution, one);
        if (!chosen_) choose(input, all);
        if (one.converged()) one.warning = warning(A, one.action != "refactor");
        if (one.action != "refactor" || all.lu->nnz == 0) note_factors(*lu_, A.nnz(), *all.lu);
        const PivotMonitor& monitor = lu_->monitor();
        all.lu->refactor = lu_->refactor_method();
        all.lu->growth = one.growth = monitor.rgrowth;
        all.lu->rcond = one.rcond = monitor.rcond();
        all.lu->componentwise = one.componentwise_error;
        all.lu->refine_steps = one.steps;
        all.lu->repivots = lu_->repivots();
        all.fill = all.lu->fill;
    }

private:
    void analyse_once(const CsrMatrix<double>& A, SequenceReport& all)
    {
        if (!symbolic_) {
            Stopwatch clock;
            symbolic_ = analyse(view(A), within_memory(options_.lu));
            all.seconds_analyse = clock.seconds();
            all.lu = facts_before(*symbolic_);
        }
        require_memory(*symbolic_, options_.lu);
        lu_.emplace(machine_.cpu, symbolic_);
        if (machine_.gpu) lu_->use_gpu(*machine_.gpu);
        if (const double limit = options_.time_limit; limit > 0)
            lu_->stop_when([this, limit] { return clock_.seconds() > limit; });
        workspace_.emplace(A.rows());
    }

    /// An estimate of the condition takes as long as several solves. It is made for new pivots, and where the smallest pivot has
    /// since become much smaller: a singular A shows in its pivots.
    std::string warning(const CsrMatrix<double>& A, bool new_pivots)
    {
        constexpr double much = 0.1;
        const double     rcond = lu_->monitor().rcond();
        if (!new_pivots && !warned_ && rcond > much * rcond_estimated_) return "";
        rcond_estimated_ = rcond;
        const LuFactors& factors = lu_->factors();
        const double     condition = condition_estimate(machine_.cpu, factors, view(A), *workspace_);
        std::string      text = singularity_warning(machine_.cpu, factors, A, condition);
        warned_ = !text.empty();
        return text;
    }

    /// There are pivots, so that the rest of the series may go to a GPU.
    void choose(const SequenceInput& input, SequenceReport& all)
    {
        chosen_ = true;
        if (keep_structure_) all.structure = structure_of(*lu_);
        choose_refactor(machine_, options_, *lu_, input.systems() - 1.0, all.decisions);
        all.device = machine_.device();
    }

    void judge(const SequenceInput& input, std::span<const double> x, const LuSolveReport& solved, SystemReport& one)
    {
        one.steps = solved.refine.steps;
        if (solved.repivoted) {
            one.action = name(LuAction::repivot);
            one.reason = solved.reason;
        } else if (solved.outcome == Outcome::converged && !solved.reason.empty())  // of precision
            one.reason += (one.reason.empty() ? "" : "; ") + solved.reason;
        one.outcome = solved.outcome;
        one.detail = solved.outcome == Outcome::converged ? "" : solved.reason;
        one.has_x = solved.outcome == Outcome::converged || solved.outcome == Outcome::stagnated;
        if (!one.has_x) return;
        const double    rtol = options_.krylov.rtol;
        const Errors    errors = measure(input.A(), x, input.b(), rtol);
        const LuVerdict verdict = lu_verdict(machine_.cpu, *lu_, input.A(), x, input.b(), solved, errors, rtol);
        one.outcome = verdict.outcome;
        one.detail = verdict.outcome == Outcome::converged ? verdict.remark : verdict.detail;
        if (solved.repivoted && !one.converged()) one.reason = "by the former pivots x was no success either";
        one.relative_residual = errors.relative_residual;
        one.backward_error = errors.backward_error;
        one.componentwise_error = errors.componentwise;
    }

    Machine&                          machine_;
    const SolveOptions&               options_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    std::optional<Lu>                 lu_;
    bool                              chosen_ = false;       // whether a GPU takes part
    std::optional<LuWorkspace>        workspace_;            // of condition estimates
    double                            rcond_estimated_ = 0;  // of the pivots at the last of them
    bool                              warned_ = false;       // by it
    bool                              keep_structure_;       // of the first factors
    Stopwatch                         clock_;                // since the system was there
};

/// Keeps the preconditioner while it serves: the next system gets a new one when steps have grown beyond refresh_factor times
/// those of the system that the last one was made for; the same system does when it fails with an older one.
class IterativeSeries {
public:
    IterativeSeries(Machine& machine, const SolveOptions& options, bool keep_structure)
        : machine_(machine), options_(options), keep_structure_(keep_structure)
    {}

    void solve(const SequenceInput& input, std::vector<double>& x, SystemReport& one, SequenceReport& all)
    {
        clock_ = Stopwatch();
        take(input);
        carried_.usable = carried_.usable && stale_.empty();
        one.reason = stale_;
        bool    lagged = carried_.usable;
        Attempt tried = attempt(lagged, one, all);
        if (lagged && tried.report.outcome != Outcome::converged && time_left() > 0) {
            one.reason =
                fmt::format("{} after {} steps with the former one", name(tried.report.outcome), tried.report.steps);
            lagged = carried_.usable = false;
            tried = attempt(lagged, one, all);
        }
        one.action = options_.precond.kind == PrecondKind::none ? "none" : lagged ? "lagged" : "refresh";
        judge(input, tried, one);
        if (!lagged) first_steps_ = tried.report.steps;
        stale_ = tried.report.outcome != Outcome::converged
                     ? fmt::format("the system before: {}", name(tried.report.outcome))
                 : tried.report.steps > limit()
                     ? fmt::format("steps grew from {} to {}", first_steps_, tried.report.steps)
                     : "";
        all.device = tried.device;
        if (!lagged) all.fill = tried.fill;
        note(tried.decisions, all.decisions);
        if (options_.sequence.reuse_x && one.converged()) carried_.x = tried.x;
        x = std::move(tried.x);
    }

private:
    void take(const SequenceInput& input)
    {
        if (problem_.A.rows() == 0) problem_.A = input.A();
        else std::ranges::copy(input.A().val(), problem_.A.val().begin());
        problem_.b.assign(input.b().begin(), input.b().end());
        const bool cg = options_.method == MethodChoice::cg;
        problem_.symmetric = cg && is_symmetric(problem_.A);
        problem_.positive_diagonal = cg && has_positive_diagonal(problem_.A);
    }

    Index limit() const
    {
        constexpr Index least = 5;  // steps more: 1 to 3 is no reason to factor
        return static_cast<Index>(
            std::max(options_.sequence.refresh_factor * first_steps_, double(first_steps_) + least));
    }

    double time_left() const { return options_.time_limit > 0 ? options_.time_limit - clock_.seconds() : INFINITY; }

    Attempt attempt(bool lagged, SystemReport& one, SequenceReport& all)
    {
        KrylovOptions krylov = options_.krylov;
        if (lagged) krylov.max_steps = std::min(krylov.max_steps, 4 * limit());  // beyond, a new one is cheaper
        std::vector<std::string> decisions;
        const Plan               plan = first_plan(options_, problem_.symmetric, problem_.positive_diagonal, decisions);
        ProgressLine             silent(false);
        Attempt tried = run_attempt(machine_, problem_, plan, krylov, norm_frobenius(problem_.A), silent,
                                    keep_structure_ && !all.structure, time_left(), &carried_);
        if (tried.mlilu && (!all.mlilu || tried.structure)) all.mlilu = tried.mlilu;  // of the structure's factors
        if (tried.structure) all.structure = std::move(tried.structure);
        note(decisions, all.decisions);
        one.steps += tried.report.steps;
        one.seconds_factor += tried.seconds_analyse + tried.seconds_factor;
        one.seconds_solve += tried.report.seconds.solve;
        return tried;
    }

    void judge(const SequenceInput& input, const Attempt& tried, SystemReport& one) const
    {
        one.outcome = tried.report.outcome;
        one.detail = tried.why();
        one.warning = tried.warning;
        one.has_x = tried.failure.empty();
        if (!one.has_x) return;
        one.relative_residual = tried.report.relative_residual;
        one.backward_error = tried.report.backward_error;
        one.componentwise_error = measure(input.A(), tried.x, input.b(), options_.krylov.rtol).componentwise;
    }

    Machine&            machine_;
    const SolveOptions& options_;
    Problem             problem_;
    Carried             carried_;
    Index               first_steps_ = 0;
    Stopwatch           clock_;           // since the system was there
    std::string         stale_;           // why the next system needs a new preconditioner, or ""
    bool                keep_structure_;  // of the first factors
};

double distance_from_ones(std::span<const double> x)
{
    double error = 0;
    for (const double value : x) error = std::max(error, std::isfinite(value) ? std::abs(value - 1) : INFINITY);
    return error;
}

void count(const SystemReport& one, SequenceReport& all)
{
    auto action = std::ranges::find(all.actions, one.action, &SequenceReport::Action::name);
    if (action == all.actions.end()) action = all.actions.insert(action, {.name = one.action});
    ++action->count;
    action->seconds += one.seconds_factor;
    ++all.systems;
    all.converged += one.converged();
    if (one.code() > all.code) {
        all.code = one.code();
        all.outcome = one.result();
    }
    const auto note = [&](SequenceReport::Noted& noted, std::string text) {
        if (noted.count++ == 0) noted = {.count = 1, .first = one.index, .name = one.name, .text = std::move(text)};
    };
    if (!one.converged())
        note(all.failed, fmt::format("{}{}{}", one.result(), one.detail.empty() ? "" : ", ", one.detail));
    if (!one.warning.empty()) note(all.warned, one.warning);
    const auto keep = [&](double value, SequenceReport::Worst& worst) {
        if (!std::isnan(value) && (worst.system < 0 || value > worst.value)) worst = {value, one.index};
    };
    keep(one.relative_residual, all.residual);
    keep(one.backward_error, all.backward);
    keep(one.componentwise_error, all.componentwise);
    all.steps += one.steps;
    all.seconds_read += one.seconds_read;
    all.seconds_factor += one.seconds_factor;
    all.seconds_solve += one.seconds_solve;
}

template <class Series>
void run(Series series, SequenceInput& input, const SystemListener& each, SequenceReport& all)
{
    Cpu                 serial(1);
    std::vector<double> x(static_cast<std::size_t>(input.A().rows()));
    for (Index k = 0; k < input.systems(); ++k) {
        SystemReport one;
        one.index = k;
        one.name = input.label(k);
        Stopwatch reading;
        bool      there = true;
        try {
            input.read(k);
        } catch (const InvalidInput& error) {
            one.detail = error.what();
            there = false;
        }
        one.seconds_read = reading.seconds();
        if (there)
            if (const auto why = lack_of_memory([&] { series.solve(input, x, one, all); })) {
                one.outcome = Outcome::out_of_memory;
                one.detail = *why;
            }
        one.has_x = one.has_x && is_finite(serial, x);
        if (one.has_x && input.rhs() == "A1") one.forward_error = distance_from_ones(x);
        count(one, all);
        each(one, one.has_x ? std::span<const double>(x) : std::span<const double>());
    }
}

}  // namespace

SequenceReport run_sequence(SequenceInput& input, const SolveOptions& options, Machine& machine,
                            std::vector<std::string> decisions, const SystemListener& each, bool keep_structure)
{
    Stopwatch      clock;
    SequenceReport all;
    all.options = options;
    all.device = machine.device();
    all.decisions = std::move(decisions);
    all.made_up_rhs = options.rhs == "auto" && input.rhs() == "A1";
    if (all.made_up_rhs) all.decisions.emplace_back("rhs A1: the series brings no right-hand sides along");
    all.options.rhs = input.rhs();
    if (all.options.method == MethodChoice::automatic) all.options.method = MethodChoice::lu;
    for (std::string& remark : options_without_effect(all.options, all.options.method, true))
        all.decisions.push_back(std::move(remark));
    if (all.options.method == MethodChoice::lu)
        run(DirectSeries(machine, all.options, keep_structure), input, each, all);
    else run(IterativeSeries(machine, all.options, keep_structure), input, each, all);
    all.seconds = clock.seconds();
    return all;
}

}  // namespace ilux::app
