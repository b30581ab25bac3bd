#include "ilux/direct/lu/lu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "ilux/base/matrix/csr_checks.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/lu/host_lu.hpp"
#include "ilux/direct/lu/lu_words.hpp"

namespace ilux {

using namespace detail;

namespace {

constexpr Index       rhs_together = 8;
constexpr const char* memory_exhausted = "the machine's memory is exhausted";
// Fresh pivots may grow by themselves. Repivoting is not worth it below this multiple of what they did.
constexpr double fresh_growth_factor = 10;

template <Scalar S>
bool overlap(std::span<const S> b, std::span<const S> x)
{
    const std::less<const S*> before;
    return !b.empty() && !x.empty() && before(b.data(), x.data() + x.size()) && before(x.data(), b.data() + b.size());
}

/// Whether factors are finite and have no zero pivot; otherwise the report is one of failure.
bool usable(const LuPattern& pattern, const PivotMonitor& monitor, const LuOptions& options, LuReport& report)
{
    report.state = judge(monitor, options);
    const Index k = monitor.bad_column;
    if (k < 0) return true;
    if (monitor.stopped != StopReason::none) {
        stopped(report, monitor.stopped, 0, pattern.n);
        return false;
    }
    report.outcome = monitor.not_finite ? Outcome::not_finite : Outcome::singular;
    report.pivot = k;
    blame(report, pattern.row_perm[k], pattern.col_perm[k],
          monitor.not_finite ? "the numbers overflowed" : "the pivot is 0");
    return false;
}

/// Whether usable factors by former pivots are good enough; the reason where not.
/// A large multiplier alone does no harm: only together with growth does it bound the backward error.
bool hold(const LuPivots& pivots, const PivotMonitor& monitor, LuReport& report)
{
    if (report.state == PivotState::good) return true;
    const double limit = std::max(pivots.options.growth_limit, fresh_growth_factor * pivots.growth);
    if (growth(monitor) <= limit) return true;
    const bool  by_growth = 1 / monitor.rgrowth > limit;
    const Index k = by_growth ? monitor.growth_column : monitor.multiplier_column;
    blame(report, -1, k < 0 ? k : pivots.pattern->col_perm[k],
          by_growth ? fmt::format("growth {:.1e} > {:.1e}", 1 / monitor.rgrowth, limit)
                    : fmt::format("multiplier {:.1e}, with growth {:.1e}: product > {:.1e}", monitor.max_multiplier,
                                  1 / monitor.rgrowth, limit));
    return false;
}

/// @return whether there is neither NaN nor Inf; otherwise the report says where
template <Scalar S>
bool finite_values(const LuSymbolic& symbolic, std::span<const S> values, LuReport& report)
{
    if (all_finite<S>(values)) return true;
    const auto  bad = std::find_if(values.begin(), values.end(), [](S v) { return !is_finite(v); });
    const auto& ptr = symbolic.input_ptr;
    const auto  p = bad - values.begin();
    const auto  major = static_cast<Index>(std::upper_bound(ptr.begin(), ptr.end(), p) - ptr.begin() - 1);
    const Index minor = symbolic.input_idx[p];
    const bool  rows = symbolic.layout == MatrixLayout::rows;
    report = {.outcome = Outcome::not_finite, .action = report.action};
    blame(report, rows ? major : minor, rows ? minor : major, fmt::format("the value is {}", detail::shown(*bad)));
    return false;
}

template <Scalar S>
void require_vectors(std::size_t n, std::span<const S> b, std::span<S> x)
{
    require(b.size() == x.size() && (n == 0 ? b.empty() : b.size() % n == 0), [&] {
        return fmt::format("solve: b has {} and x {} entries; expected the same multiple of n = {}", b.size(), x.size(),
                           n);
    });
    require(!overlap<S>(b, x), [] { return "solve: b and x overlap; refinement needs both"; });
}

/// What can be said before a solution: the factors' outcome.
LuSolveReport begin_solve(const std::optional<Outcome>& factored)
{
    require(factored.has_value(), [] { return "solve: nothing was factored yet"; });
    LuSolveReport report{.outcome = *factored};
    if (report.outcome == Outcome::converged) return report;
    report.refine = {.backward_error = std::numeric_limits<double>::infinity(), .finite = false};
    report.reason = fmt::format("the values could not be factored: {}", name(*factored));
    return report;
}

/// For vectors of one system on the GPU where the factors are; nothing for others.
template <Scalar S>
std::optional<RefineReport> solve_there(LuFactored<S>& factored, const SystemValues<S>& values, const Array<const S>& b,
                                        const Array<S>& x, Transpose transpose)
{
    Gpu *const caller = b.gpu(), *const own = values.gpu();
    const auto n = static_cast<std::size_t>(factored.pattern().n);
    if (!own || own->device() != caller->device() || b.size() != n || x.size() != n || n == 0) return std::nullopt;
    if (own != caller) run_after(*own, *caller);
    const auto reached = factored.solve(values, b.there(), x.there(), transpose);
    if (own != caller) run_after(*caller, *own);
    return reached;
}

/// Lack of memory is an outcome.
template <class Work>
void guarded(LuReport& report, Work&& work)
{
    try {
        work();
    } catch (const OutOfMemory& error) {
        out_of_memory(report, error.what());
    } catch (const std::bad_alloc&) {
        out_of_memory(report, memory_exhausted);
    }
}

}  // namespace

LuReport judge_pivots(const LuPivots& pivots, const PivotMonitor& seen)
{
    LuReport report{.action = LuAction::refactor};
    if (usable(*pivots.pattern, seen, pivots.options, report) && !hold(pivots, seen, report))
        report.action = LuAction::repivot;
    return report;
}

void conclude(LuSolveReport& report, double tolerance)
{
    if (!report.refine.finite) {
        report.outcome = Outcome::not_finite;
        report.reason = "x or its residual is not finite";
    } else if (!(report.refine.backward_error <= tolerance)) {
        report.outcome = Outcome::stagnated;
        report.reason = fmt::format("componentwise backward error {:.1e} > {:.1e} after {} steps of refinement",
                                    report.refine.backward_error, tolerance, report.refine.steps);
    }
}

template <Scalar S>
Lu<S>::Lu(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic, const std::optional<LuOptions>& options,
          std::shared_ptr<SystemValues<S>> values)
    : be_(be),
      symbolic_(std::move(symbolic)),
      options_(options.value_or(symbolic_->options)),
      place_(values ? std::move(values)
                    : std::make_shared<SystemValues<S>>(static_cast<std::size_t>(symbolic_->input_nnz)),
             symbolic_),
      choice_(be, symbolic_, options_),
      ws_(symbolic_->n)
{}

template <Scalar S>
LuReport Lu<S>::refactor(const Array<const S>& values)
{
    require(!pivots_.empty(), [] { return "refactor: there are no pivots yet; call factor first"; });
    return run(Call::refactor, values).report;
}

template <Scalar S>
typename Lu<S>::Renewed Lu<S>::run(Call call, const Array<const S>& values, const SystemToSolve<S>* system)
{
    const WallClock clock;
    const double    most_fill = std::exchange(most_fill_, 0);
    Renewed         renewed;
    LuReport&       report = renewed.report;
    guarded(report, [&] {
        place_.values->take(values);
        outcome_.reset();  // what is thrown leaves no factors
        work(call, system, most_fill, renewed);
    });
    outcome_ = report.outcome;
    action_ = report.action;
    repivots_ += report.action == LuAction::repivot && report.outcome == Outcome::converged;
    report.seconds = clock.seconds();
    return renewed;
}

template <Scalar S>
void Lu<S>::work(Call call, const SystemToSolve<S>* system, double most_fill, Renewed& renewed)
{
    LuReport&              report = renewed.report;
    const SystemValues<S>& values = *place_.values;
    if (call == Call::factor || pivots_.empty()) {
        if (!finite_values<S>(*symbolic_, values.host(), report)) return;
        auto within = choice_.within_fronts(place_, pivots_.empty(), stop_, report);
        if (within) return keep(std::move(*within), pivots_);
        if (report.outcome != Outcome::converged || !choose_among_all_rows(report, most_fill)) return;
        // A GPU has the numbers from the first factorization on; the host may never refactor.
        pivots_.front().go_to(place_, be_);
        if (call != Call::factor) {
            now().prepare();
            (void)place_.values->next();
        }
        return now().settle(values);
    }
    report.action = LuAction::refactor;
    if (const StopReason why = stop_.reason(); why != StopReason::none) return stopped(report, why, 0, symbolic_->n);
    const bool usable = refactor_with(pivots_.front(), system, renewed);
    if (usable && (call == Call::refactor ||
                   hold(LuPivots{now().shared_pattern(), pivots_.front().growth, options_}, now().monitor(), report)))
        return;
    if (now().monitor().stopped != StopReason::none) return;
    // NaN and Inf among the values end in factors that are not finite, so only now need they be looked for.
    if (!finite_values<S>(*symbolic_, values.host(), report) || call == Call::refactor) return;

    report.outcome = Outcome::converged;
    report.action = LuAction::repivot;
    report.pivot = -1;
    if (earlier_pivots_hold(system, renewed)) {
        report.reason += "; the pivots of an earlier system hold";
        return;
    }
    if (!choose_among_all_rows(report)) return;
    renewed.solved.reset();
    pivots_.front().go_to(place_, be_);
    now().prepare();
    now().settle(values);
}

/// @return whether the factors are finite and have no zero pivot; otherwise the report is one of failure
template <Scalar S>
bool Lu<S>::refactor_with(ChosenPivots<S>& pivots, const SystemToSolve<S>* system, Renewed& renewed)
{
    if (!choice_.fronts_fit(pivots, place_, renewed.report)) return false;
    pivots.go_to(place_, be_);
    LuFactored<S>&         factored = *pivots.factored;
    const SystemValues<S>& values = *place_.values;
    if (system) renewed.solved = factored.refactor_and_solve(values, system->b, system->x, stop_);
    else factored.refactor(values, stop_);
    return usable(factored.pattern(), factored.monitor(), options_, renewed.report);
}

/// Circuits that switch alternate between a few sequences of pivots. Those that hold become the current ones.
template <Scalar S>
bool Lu<S>::earlier_pivots_hold(const SystemToSolve<S>* system, Renewed& renewed)
{
    for (auto earlier = pivots_.begin() + 1; earlier < pivots_.end(); ++earlier) {
        Renewed by_these;
        if (!refactor_with(*earlier, system, by_these)) continue;
        const LuPivots pivots{earlier->factored->shared_pattern(), earlier->growth, options_};
        if (!hold(pivots, earlier->factored->monitor(), by_these.report)) continue;
        std::rotate(pivots_.begin(), earlier, earlier + 1);
        renewed.solved = by_these.solved;
        return true;
    }
    return false;
}

/// @return whether there are factors; otherwise the report is one of failure
template <Scalar S>
bool Lu<S>::choose_among_all_rows(LuReport& report, double most_fill)
{
    auto chosen = choice_.among_all_rows(place_, most_fill, stop_, report);
    if (!chosen) return false;
    keep(std::move(*chosen), pivots_);
    return true;
}

template <Scalar S>
void Lu<S>::take_pivots(std::shared_ptr<const LuPattern> pattern, double growth)
{
    const LuPattern& P = *pattern;
    require(P.n == symbolic_->n && static_cast<Offset>(P.in_source.size()) == symbolic_->input_nnz, [&] {
        return fmt::format("pivots of order {} for {} entries where {} and {} were analysed", P.n, P.in_source.size(),
                           symbolic_->n, symbolic_->input_nnz);
    });
    const auto   nnz = static_cast<std::size_t>(P.nnz()), nnz_F = static_cast<std::size_t>(P.nnz_F());
    LuFactors<S> none{symbolic_, std::move(pattern), LuValues<S>(nnz), std::vector<S>(nnz_F), {}};
    keep<S>({std::make_unique<HostLu<S>>(be_, std::move(none)), growth}, pivots_);
    outcome_.reset();
}

/// The solution is computed where the numbers are.
template <Scalar S>
LuSolveReport Lu<S>::solve_as_factored(const Array<const S>& b, const Array<S>& x, Transpose transpose,
                                       double tolerance)
{
    const auto    n = static_cast<std::size_t>(symbolic_->n);
    LuSolveReport report = begin_solve(outcome_);
    require_one_memory(b, x, "solve: b", "x");
    if (!b.gpu()) require_vectors<S>(n, b.host(), x.host());
    if (report.outcome != Outcome::converged) return report;
    SystemValues<S>& values = *place_.values;
    const LuHost<S>  host{be_, ws_};
    if (!b.gpu()) {
        if (b.size() > n && ws_.y.size() <= n && !now().on_gpu()) ws_ = LuWorkspace<S>(symbolic_->n, rhs_together);
        report.refine = now().solve(host, values, b.host(), x.host(), transpose, tolerance);
    } else if (const auto there = solve_there(now(), values, b, x, transpose)) {
        report.refine = *there;
    } else {
        std::vector<S> host_b = on_host<S>(*b.gpu(), b.there()), host_x(x.size());
        require_vectors<S>(n, host_b, host_x);
        report.refine = now().solve(host, values, host_b, host_x, transpose, tolerance);
        upload<S>(*x.gpu(), host_x, x.there());
    }
    conclude(report, tolerance);
    return report;
}

template <Scalar S>
bool Lu<S>::may_choose_pivots() const
{
    return outcome_ == Outcome::converged && (action_ == LuAction::refactor || now().fronts());
}

template <Scalar S>
LuSolveReport Lu<S>::solve(std::span<const S> b, std::span<S> x, Transpose transpose, double tolerance)
{
    LuSolveReport report = solve_as_factored(b, x, transpose, tolerance);
    if (report.outcome == Outcome::converged || !may_choose_pivots()) return report;

    LuReport anew;
    guarded(anew, [&] { (void)choose_among_all_rows(anew); });
    const bool stopped = anew.outcome == Outcome::time_limit || anew.outcome == Outcome::cancelled;
    if (!stopped) action_ = LuAction::repivot;
    if (anew.outcome != Outcome::converged) {  // the former factors are still there, and so is their x
        report.reason += "; new pivots were not possible: " + anew.reason;
        return report;
    }
    ++repivots_;
    const std::string why = std::move(report.reason);
    report = solve_as_factored(b, x, transpose, tolerance);
    report.repivoted = true;
    if (report.outcome == Outcome::converged) report.reason = report.reason.empty() ? why : why + "; " + report.reason;
    else
        report.reason =
            report.reason == why ? why + ", with new pivots too" : why + "; with new pivots: " + report.reason;
    return report;
}

template <Scalar S>
LuSolveReport Lu<S>::solve(Cpu& be, std::span<const S> b, std::span<S> x, LuWorkspace<S>& ws, Transpose transpose,
                           double tolerance) const
{
    LuSolveReport report = begin_solve(outcome_);
    require_vectors<S>(static_cast<std::size_t>(symbolic_->n), b, x);
    if (report.outcome != Outcome::converged) return report;
    report.refine = lu_solve_refined<S>(be, now().on_host(), matrix(), b, x, ws, transpose);
    conclude(report, tolerance);
    return report;
}

template <Scalar S>
LuStepReport Lu<S>::refactor_and_solve(const Array<const S>& values, std::span<const S> b, std::span<S> x,
                                       double tolerance)
{
    const auto n = static_cast<std::size_t>(symbolic_->n);
    require_vectors<S>(n, b, x);
    const WallClock        clock;
    const SystemToSolve<S> system{b, x};
    LuStepReport           step;
    const Renewed          renewed = run(Call::refactor_or_factor, values, b.size() == n ? &system : nullptr);
    step.factors = renewed.report;
    step.solution = begin_solve(outcome_);
    if (step.solution.outcome == Outcome::converged) {
        if (renewed.solved) {
            step.solution.refine = *renewed.solved;
            conclude(step.solution, tolerance);
        }
        if (!renewed.solved || step.solution.outcome != Outcome::converged)
            step.solution = solve(b, x, Transpose::no, tolerance);
    }
    step.seconds = clock.seconds();
    return step;
}

template <Scalar S>
const LuFactors<S>& Lu<S>::factors() const
{
    require(outcome_ == Outcome::converged, [&] {
        return outcome_ ? fmt::format("no factors: the last factorization ended as {}", name(*outcome_))
                        : std::string("no factors: nothing was factored yet");
    });
    return now().on_host();
}

template <Scalar S>
LuPivots Lu<S>::pivots() const
{
    require(outcome_ == Outcome::converged, [] { return "pivots: the last values could not be factored"; });
    return {now().shared_pattern(), pivots_.front().growth, options_, now().fronts(), now().monitor()};
}

template <Scalar S>
LuStatus Lu<S>::status() const
{
    LuStatus status{.method = on_gpu() ? "none" : "cpu", .storage = choice_.storage(), .repivots = repivots_};
    if (!pivots_.empty() && now().of_gpu() == on_gpu()) status.method = now().method();
    status.bytes = place_.values->bytes() + ws_.bytes();
    status.device_bytes = place_.values->device_bytes() + (on_gpu() ? place_.device->bytes() : 0);
    for (const ChosenPivots<S>& one : pivots_) {
        status.bytes += one.factored->bytes();
        status.device_bytes += one.factored->device_bytes();
    }
    return status;
}

#define ILUX_INSTANTIATE(S) template class Lu<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
