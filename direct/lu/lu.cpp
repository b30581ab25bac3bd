#include "ilux/direct/lu/lu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "ilux/base/csr_checks.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
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
Lu<S>::Lu(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options)
    : be_(be), symbolic_(std::move(symbolic)), options_(options), numbers_(be, symbolic_), ws_(symbolic_->n)
{
    pivots_.reserve(most_pivots + 1);
}

template <Scalar S>
std::string_view Lu<S>::refactor_method() const
{
    return numbers_.method(pivots_.empty() ? nullptr : &pivots_.front().factors);
}

template <Scalar S>
LuReport Lu<S>::factor(std::span<const S> values)
{
    return run(Call::factor, values).report;
}

template <Scalar S>
LuReport Lu<S>::refactor_or_factor(std::span<const S> values)
{
    return run(Call::refactor_or_factor, values).report;
}

template <Scalar S>
LuReport Lu<S>::refactor(std::span<const S> values)
{
    require(!pivots_.empty(), [] { return "refactor: there are no pivots yet; call factor first"; });
    return run(Call::refactor, values).report;
}

template <Scalar S>
LuReport Lu<S>::factor(const MatrixView<S>& A)
{
    require_same_pattern<S>(*symbolic_, A);
    return factor(A.val);
}

template <Scalar S>
LuReport Lu<S>::refactor_or_factor(const MatrixView<S>& A)
{
    require_same_pattern<S>(*symbolic_, A);
    return refactor_or_factor(A.val);
}

template <Scalar S>
LuReport Lu<S>::refactor(const MatrixView<S>& A)
{
    require_same_pattern<S>(*symbolic_, A);
    return refactor(A.val);
}

template <Scalar S>
typename Lu<S>::Renewed Lu<S>::run(Call call, std::span<const S> values, const SystemToSolve<S>* system,
                                   DeviceSpan<const S> there)
{
    require(static_cast<Offset>(values.size()) == symbolic_->input_nnz,
            [&] { return fmt::format("{} values for a pattern of {} entries", values.size(), symbolic_->input_nnz); });
    const WallClock clock;
    const double    most_fill = std::exchange(most_fill_, 0);
    Renewed         renewed;
    LuReport&       report = renewed.report;
    try {
        numbers_.take(values, there);
        work(call, system, most_fill, renewed);
    } catch (const OutOfMemory& error) {
        out_of_memory(report, error.what());
    } catch (const std::bad_alloc&) {
        out_of_memory(report, memory_exhausted);
    }
    outcome_ = report.outcome;
    action_ = report.action;
    repivots_ += report.action == LuAction::repivot && report.outcome == Outcome::converged;
    report.seconds = clock.seconds();
    return renewed;
}

template <Scalar S>
void Lu<S>::work(Call call, const SystemToSolve<S>* system, double most_fill, Renewed& renewed)
{
    LuReport& report = renewed.report;
    if (call == Call::factor || pivots_.empty()) {
        if (!finite_values(report) || choose_within_fronts(report)) return;
        choose_pivots(report, most_fill);
        // What refactoring needs waits for the first refactorization, but a GPU has the numbers from the first
        // factorization on.
        if (report.outcome == Outcome::converged && (call != Call::factor || on_gpu()))
            numbers_.prepare(pivots_.front().factors);
        if (report.outcome == Outcome::converged) numbers_.settle(pivots_.front().factors);
        return;
    }
    report.action = LuAction::refactor;
    if (const StopReason why = stop_.reason(); why != StopReason::none) return stopped(report, why, 0, symbolic_->n);
    const bool usable = refactor_with(pivots_.front(), system, renewed);
    if (usable && (call == Call::refactor || holds(pivots_.front(), report))) return;
    if (pivots_.front().factors.monitor().stopped != StopReason::none) return;
    // NaN and Inf among the values end in factors that are not finite, so only now need they be looked for.
    if (!finite_values(report) || call == Call::refactor) return;

    report.outcome = Outcome::converged;
    report.action = LuAction::repivot;
    report.pivot = -1;
    if (earlier_pivots_hold(system, renewed)) {
        report.reason += "; the pivots of an earlier system hold";
        return;
    }
    choose_pivots(report);
    if (report.outcome != Outcome::converged) return;
    renewed.solved.reset();
    numbers_.prepare(pivots_.front().factors);
    numbers_.settle(pivots_.front().factors);
}

template <Scalar S>
bool Lu<S>::finite_values(LuReport& report) const
{
    const auto values = numbers_.values();
    if (all_finite<S>(values)) return true;
    const auto  bad = std::find_if(values.begin(), values.end(), [](S v) { return !is_finite(v); });
    const auto& ptr = symbolic_->input_ptr;
    const auto  p = bad - values.begin();
    const auto  major = static_cast<Index>(std::upper_bound(ptr.begin(), ptr.end(), p) - ptr.begin() - 1);
    const Index minor = symbolic_->input_idx[p];
    const bool  rows = symbolic_->layout == MatrixLayout::rows;
    report = {.outcome = Outcome::not_finite, .action = report.action};
    blame(report, rows ? major : minor, rows ? minor : major, fmt::format("the value is {}", detail::shown(*bad)));
    return false;
}

/// @return whether the factors are finite and have no zero pivot; otherwise the report is one of failure
template <Scalar S>
bool Lu<S>::refactor_with(Pivots& pivots, const SystemToSolve<S>* system, Renewed& renewed)
{
    if (!fronts_fit(pivots, renewed.report)) return false;
    renewed.solved = numbers_.refactor(pivots.factors, system, stop_);
    return usable(pivots.factors.pattern(), pivots.factors.monitor(), options_, renewed.report);
}

template <Scalar S>
bool Lu<S>::holds(const Pivots& pivots, LuReport& report) const
{
    return hold({pivots.factors.shared_pattern(), pivots.growth, options_}, pivots.factors.monitor(), report);
}

/// Circuits that switch alternate between a few sequences of pivots. Those that hold become the current ones.
template <Scalar S>
bool Lu<S>::earlier_pivots_hold(const SystemToSolve<S>* system, Renewed& renewed)
{
    for (auto earlier = pivots_.begin() + 1; earlier < pivots_.end(); ++earlier) {
        Renewed by_these;
        if (!refactor_with(*earlier, system, by_these) || !holds(*earlier, by_these.report)) continue;
        std::rotate(pivots_.begin(), earlier, earlier + 1);
        renewed.solved = by_these.solved;
        return true;
    }
    return false;
}

/// The solution is computed where the numbers are.
template <Scalar S>
LuSolveReport Lu<S>::solve_as_factored(std::span<const S> b, std::span<S> x, Transpose transpose, double tolerance)
{
    LuSolveReport report = begin_solve(b, x);
    if (report.outcome != Outcome::converged) return report;
    const auto n = static_cast<std::size_t>(symbolic_->n);
    Pivots&    now = pivots_.front();
    if (b.size() > n && ws_.y.size() <= n && !now.factors.on_gpu()) ws_ = LuWorkspace<S>(symbolic_->n, rhs_together);
    report.refine = numbers_.solve(now.factors, b, x, ws_, transpose, tolerance);
    conclude(report, tolerance);
    return report;
}

template <Scalar S>
bool Lu<S>::may_choose_pivots() const
{
    return outcome_ == Outcome::converged && (action_ == LuAction::refactor || pivots_.front().factors.by_fronts());
}

template <Scalar S>
LuSolveReport Lu<S>::solve(std::span<const S> b, std::span<S> x, Transpose transpose, double tolerance)
{
    LuSolveReport report = solve_as_factored(b, x, transpose, tolerance);
    if (report.outcome == Outcome::converged || !may_choose_pivots()) return report;

    LuReport anew;
    try {
        choose_pivots(anew);
    } catch (const OutOfMemory& error) {
        out_of_memory(anew, error.what());
    } catch (const std::bad_alloc&) {
        out_of_memory(anew, memory_exhausted);
    }
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
void Lu<S>::require_vectors(std::span<const S> b, std::span<S> x) const
{
    const auto n = static_cast<std::size_t>(symbolic_->n);
    require(b.size() == x.size() && (n == 0 ? b.empty() : b.size() % n == 0), [&] {
        return fmt::format("solve: b has {} and x {} entries; expected the same multiple of n = {}", b.size(), x.size(),
                           n);
    });
    require(!overlap<S>(b, x), [] { return "solve: b and x overlap; refinement needs both"; });
}

/// What can be said before: that the arguments suit one another, and the factors' outcome.
template <Scalar S>
LuSolveReport Lu<S>::begin_solve(std::span<const S> b, std::span<S> x) const
{
    require(outcome_.has_value(), [] { return "solve: nothing was factored yet"; });
    require_vectors(b, x);
    LuSolveReport report{.outcome = *outcome_};
    if (report.outcome == Outcome::converged) return report;
    report.refine = {.backward_error = std::numeric_limits<double>::infinity(), .finite = false};
    report.reason = fmt::format("the values could not be factored: {}", name(*outcome_));
    return report;
}

template <Scalar S>
LuSolveReport Lu<S>::solve(Cpu& be, std::span<const S> b, std::span<S> x, LuWorkspace<S>& ws, Transpose transpose,
                           double tolerance) const
{
    LuSolveReport report = begin_solve(b, x);
    if (report.outcome != Outcome::converged) return report;
    report.refine = numbers_.solve_on_host(be, pivots_.front().factors, b, x, ws, transpose);
    conclude(report, tolerance);
    return report;
}

template <Scalar S>
LuStepReport Lu<S>::refactor_and_solve(std::span<const S> values, std::span<const S> b, std::span<S> x,
                                       double tolerance)
{
    require_vectors(b, x);
    const WallClock        clock;
    const SystemToSolve<S> system{b, x};
    const bool             single = b.size() == static_cast<std::size_t>(symbolic_->n);
    LuStepReport           step;
    const Renewed          renewed = run(Call::refactor_or_factor, values, single ? &system : nullptr);
    step.factors = renewed.report;
    step.solution = begin_solve(b, x);
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
    return numbers_.on_host(pivots_.front().factors);
}

template <Scalar S>
const PivotMonitor& Lu<S>::monitor() const
{
    require(outcome_ == Outcome::converged, [] { return "monitor: the last values could not be factored"; });
    return pivots_.front().factors.monitor();
}

template <Scalar S>
LuPivots Lu<S>::pivots() const
{
    require(outcome_ == Outcome::converged, [] { return "pivots: the last values could not be factored"; });
    const auto& now = pivots_.front();
    return {now.factors.shared_pattern(), now.growth, options_, now.factors.fronts()};
}

template <Scalar S>
std::size_t Lu<S>::bytes() const
{
    std::size_t sum = sizeof(S) * static_cast<std::size_t>(symbolic_->input_nnz) + ws_.bytes();
    for (const Pivots& one : pivots_) sum += one.factors.bytes();
    return sum;
}

template <Scalar S>
std::size_t Lu<S>::device_bytes() const
{
    std::size_t sum = numbers_.device_bytes();
    for (const Pivots& one : pivots_) sum += one.factors.device_bytes();
    return sum;
}

#define ILUX_INSTANTIATE(S) template class Lu<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
