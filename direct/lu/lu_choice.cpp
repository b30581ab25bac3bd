// Which pivots a system is factored by: those within supernodes, or all rows' choice; and which are kept.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/lu/lu_words.hpp"

namespace ilux {

using namespace detail;

namespace {

constexpr std::size_t kept_bytes = 1U << 28;  // beyond, only the current pivots are kept
constexpr double      affordable = 3e8;       // flops of pivots among all rows: some tenths of a second

FrontChoice by_entries(const Error& why) { return {.plan = {}, .why = fmt::format("by entries: {}", why.what())}; }

}  // namespace

/// Makes factors by fronts where these are chosen. A GPU that cannot hold them leaves them to the host, if other pivots
/// would take long.
/// @return nothing where there are none
template <Scalar S>
auto Lu<S>::made_by_fronts() -> std::optional<typename LuNumbers<S>::Factors>
{
    if (fronts_.why.empty()) fronts_ = choose_fronts(be_, *symbolic_, options_.supernodes);
    while (fronts_.plan) {
        std::string why;
        try {
            return numbers_.by_fronts(fronts_.plan, options_, stop_);
        } catch (const OutOfMemory& error) {
            why = error.what();
        } catch (const InvalidInput& error) {  // a front too large for a GPU's kernels
            why = error.what();
        }
        const bool left = on_gpu() && pivots_.empty() && symbolic_->report.flops >= affordable;
        if (left) numbers_.leave_gpu();
        fronts_ = {.plan = left ? fronts_.plan : nullptr,
                   .why = (left ? fronts_.why + "; on the host: " : "by entries: ") + why};
    }
    return std::nullopt;
}

/// Factors the values by fronts, where that is chosen and these pivots will do. Where others would take long,
/// refinement judges them: it mends growth of 1e9 in a few steps.
/// @return whether that was the end of it: there are factors, or it was stopped
template <Scalar S>
bool Lu<S>::choose_within_fronts(LuReport& report)
{
    std::optional<typename LuNumbers<S>::Factors> made = made_by_fronts();
    if (!made) return false;
    auto&               fresh = *made;
    const PivotMonitor& monitor = fresh.monitor();
    if (monitor.stopped != StopReason::none) {
        stopped(report, monitor.stopped, 0, symbolic_->n);
        return true;
    }
    const double grown = growth(monitor);
    const bool   doubtful = monitor.replaced > 0 || !(grown <= options_.growth_limit);
    if (monitor.bad_column >= 0 || (doubtful && symbolic_->report.flops < affordable)) {
        fronts_ = {.plan = {},
                   .why = fmt::format("by entries: within supernodes {} pivots were next to 0, growth {:.1e}",
                                      monitor.replaced + (monitor.bad_column >= 0), grown)};
        return false;
    }
    keep({std::move(fresh), grown});
    return true;
}

/// Fronts that the host began with move to a GPU that came later.
/// @return false where they cannot; then systems are factored by entries from now on
template <Scalar S>
bool Lu<S>::fronts_fit(Pivots& pivots, LuReport& report)
{
    if (!on_gpu() || !pivots.factors.by_fronts()) return true;
    try {
        numbers_.prepare(pivots.factors);
        return true;
    } catch (const OutOfMemory& why) {
        fronts_ = by_entries(why);
    } catch (const InvalidInput& why) {
        fronts_ = by_entries(why);
    }
    out_of_memory(report, fronts_.why.c_str());
    return false;
}

/// Factors the values with pivots of their own, chosen among all rows of a block.
/// @param report  holds what was found before: action, state and reason, to which a failure's is added
/// @param most_fill  the limit that limit_fill() sets; 0: none
template <Scalar S>
void Lu<S>::choose_pivots(LuReport& report, double most_fill)
{
    const auto   most = static_cast<Offset>(most_fill * symbolic_->report.nnz);
    LuFactors<S> fresh = gilbert_peierls<S>(symbolic_, options_, numbers_.values(), stop_, be_, {.most_entries = most});
    const PivotMonitor& monitor = fresh.monitor;
    if (const Index k = monitor.bad_column; k >= 0) {
        if (monitor.stopped == StopReason::none && monitor.overfilled) {
            report.outcome = Outcome::out_of_memory;
            report.overfilled = true;
            report.pivot = k;
            report.reason = fmt::format(
                "after {} of {} columns L + U have more than {} entries, and {:.3g} were expected of all of them", k,
                symbolic_->n, most, symbolic_->report.nnz);
            return;
        }
        if (monitor.stopped != StopReason::none) return stopped(report, monitor.stopped, k, symbolic_->n);
        const std::string before = std::move(report.reason);
        report.outcome = monitor.not_finite ? Outcome::not_finite : Outcome::singular;
        report.pivot = k;
        blame(report, fresh.pattern->row_perm[k], fresh.pattern->col_perm[k],
              monitor.not_finite ? "the numbers overflowed whatever the pivot" : "no pivot is left but 0");
        report.reason = joined(before, report.reason);
        return;
    }
    const double grown = growth(monitor);
    keep({typename LuNumbers<S>::Factors(std::move(fresh)), grown});
}

/// As the current ones; others are kept as long as they are few and small.
template <Scalar S>
void Lu<S>::keep(Pivots pivots)
{
    const auto& rows = pivots.factors.pattern().row_perm;
    std::erase_if(pivots_, [&](const Pivots& one) { return one.factors.pattern().row_perm == rows; });
    pivots_.insert(pivots_.begin(), std::move(pivots));
    const std::size_t given = symbolic_->options.memory_limit.value;  // 0: none
    const std::size_t limit = given > 0 ? std::min(kept_bytes, given) : kept_bytes;
    while (pivots_.size() > 1 && (pivots_.size() > most_pivots || bytes() > limit)) pivots_.pop_back();
}

#define ILUX_INSTANTIATE(S)                                                               \
    template auto Lu<S>::made_by_fronts()->std::optional<typename LuNumbers<S>::Factors>; \
    template bool Lu<S>::choose_within_fronts(LuReport& report);                          \
    template bool Lu<S>::fronts_fit(Pivots& pivots, LuReport& report);                    \
    template void Lu<S>::choose_pivots(LuReport& report, double most_fill);               \
    template void Lu<S>::keep(Pivots pivots);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
