#include "ilux/apps/sequence_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>

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
    DirectSeries(Machine& machine, const SolveOptions& options) : machine_(machine), options_(options) {}

    void solve(const SequenceInput& input, std::vector<double>& x, SystemReport& one, SequenceReport& all)
    {
        const CsrMatrix<double>& A = input.A();
        one.action = "factor";
        if (!lu_) analyse_once(A, all);
        const LuReport done = lu_->refactor_or_factor(A.val());
        one.action = name(done.action);
        one.seconds_factor = done.seconds;
        one.outcome = done.outcome;
        (done.outcome == Outcome::converged ? one.reason : one.detail) = done.reason;
        if (done.outcome != Outcome::converged) {
            if (const Index rank = symbolic_->report.structural_rank; rank < A.rows())
                one.detail += fmt::format("; the pattern is structurally singular: rank {} of {}", rank, A.rows());
            return;
        }
        solve_factored(input, x, one);
        if (one.action != "refactor" || all.lu->nnz == 0) note_factors(*lu_, A.nnz(), *all.lu);
        const PivotMonitor& monitor = lu_->factors().monitor;
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
            symbolic_ = analyse(view(A), within_memory(options_.lu.direct));
            all.seconds_analyse = clock.seconds();
            all.lu = facts_before(*symbolic_);
        }
        require_memory(*symbolic_, options_.lu.direct);
        lu_.emplace(machine_.cpu, symbolic_);
    }

    void solve_factored(const SequenceInput& input, std::vector<double>& x, SystemReport& one)
    {
        Stopwatch           clock;
        const LuSolveReport solved = lu_->solve(input.b(), x, Transpose::no, lu_tolerance);
        one.seconds_solve = clock.seconds();
        one.steps = solved.refine.steps;
        if (solved.repivoted) {
            one.action = name(LuAction::repivot);
            one.reason = solved.reason;
        }
        one.outcome = solved.outcome;
        one.detail = solved.outcome == Outcome::converged ? "" : solved.reason;
        one.has_x = solved.outcome == Outcome::converged || solved.outcome == Outcome::stagnated;
        if (!one.has_x) return;
        const double    rtol = options_.krylov.rtol;
        const Errors    errors = measure(input.A(), x, input.b(), rtol);
        const LuVerdict verdict = lu_verdict(machine_.cpu, *lu_, input.A(), x, input.b(), solved, errors, rtol);
        one.outcome = verdict.outcome;
        one.detail = verdict.outcome == Outcome::converged ? verdict.remark : verdict.detail;
        one.relative_residual = errors.relative_residual;
        one.backward_error = errors.backward_error;
        one.componentwise_error = errors.componentwise;
    }

    Machine&                          machine_;
    const SolveOptions&               options_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    std::optional<Lu>                 lu_;
};

/// Keeps the preconditioner while it serves: the next system gets a new one when steps have grown beyond refresh_factor times
/// those of the system that the last one was made for; the same system does when it fails with an older one.
class IterativeSeries {
public:
    IterativeSeries(Machine& machine, const SolveOptions& options) : machine_(machine), options_(options) {}

    void solve(const SequenceInput& input, std::vector<double>& x, SystemReport& one, SequenceReport& all)
    {
        take(input);
        carried_.usable = carried_.usable && stale_.empty();
        one.reason = stale_;
        bool    lagged = carried_.usable;
        Attempt tried = attempt(lagged, one, all);
        if (lagged && tried.report.outcome != Outcome::converged) {
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

    Attempt attempt(bool lagged, SystemReport& one, SequenceReport& all)
    {
        KrylovOptions krylov = options_.krylov;
        if (lagged) krylov.max_steps = std::min(krylov.max_steps, 4 * limit());  // beyond, a new one is cheaper
        std::vector<std::string> decisions;
        const Plan               plan = first_plan(options_, problem_.symmetric, problem_.positive_diagonal, decisions);
        ProgressLine             silent(false);
        Attempt tried = run_attempt(machine_, problem_, plan, krylov, norm_frobenius(problem_.A), silent, false,
                                    std::numeric_limits<double>::infinity(), &carried_);
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
    std::string         stale_;  // why the next system needs a new preconditioner, or ""
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
        if (there) try {
                series.solve(input, x, one, all);
            } catch (const OutOfMemory& error) {
                one.outcome = Outcome::out_of_memory;
                one.detail = error.what();
            } catch (const std::bad_alloc&) {
                one.outcome = Outcome::out_of_memory;
                one.detail = "the machine's memory is exhausted";
            }
        if (one.has_x && input.rhs() == "A1") one.forward_error = distance_from_ones(x);
        count(one, all);
        each(one, one.has_x ? std::span<const double>(x) : std::span<const double>());
    }
}

}  // namespace

SequenceReport run_sequence(SequenceInput& input, const SolveOptions& options, Machine& machine,
                            std::vector<std::string> decisions, const SystemListener& each)
{
    Stopwatch      clock;
    SequenceReport all;
    all.options = options;
    all.device = machine.device();
    all.decisions = std::move(decisions);
    all.options.rhs = input.rhs();
    if (all.options.method == MethodChoice::automatic) all.options.method = MethodChoice::lu;
    if (all.options.method == MethodChoice::lu) run(DirectSeries(machine, all.options), input, each, all);
    else run(IterativeSeries(machine, all.options), input, each, all);
    all.seconds = clock.seconds();
    return all;
}

}  // namespace ilux::app
