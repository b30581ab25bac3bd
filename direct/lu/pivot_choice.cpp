#include "ilux/direct/lu/pivot_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/lu/host_lu.hpp"
#include "ilux/direct/lu/lu_words.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"

namespace ilux {

using namespace detail;

namespace {

constexpr std::size_t most_pivots = 3;        // sequences of them that are kept
constexpr std::size_t kept_bytes = 1U << 28;  // beyond, only the current pivots are kept
constexpr double      affordable = 3e8;       // flops of pivots among all rows: some tenths of a second

FrontChoice by_entries(const Error& why) { return {.plan = {}, .why = fmt::format("by entries: {}", why.what())}; }

}  // namespace

template <Scalar S>
void LuPlace<S>::use_gpu(Gpu& gpu)
{
    if (symbolic->options.refactor == RefactorMethod::cpu) throw InvalidOption("refactor cpu: not a method of a GPU");
    if (device && values->gpu() == &gpu) return;
    require(device == nullptr, [] { return "use_gpu: another GPU is in use"; });
    gpu.make_current();
    auto there = make_lu_device<S>(gpu, symbolic);
    values->use_gpu(gpu);
    device = std::move(there);
}

template <Scalar S>
void LuPlace<S>::leave_gpu()
{
    if (!device) return;
    device.reset();
    values->leave_gpu();
}

template <Scalar S>
void ChosenPivots<S>::go_to(const LuPlace<S>& place, const Cpu& host)
{
    if (place.device && !factored->of_gpu()) factored = place.device->hold(factored->chosen(), host);
}

/// On a GPU from the beginning, where there is one.
template <Scalar S>
std::unique_ptr<LuFactored<S>> PivotChoice<S>::by_fronts(LuPlace<S>& place, const StopToken& stop)
{
    LuFactors<S> fresh{.symbolic = symbolic_,
                       .pattern = front_pattern<S>(be_, *symbolic_, *fronts_.plan, options_, place.values->host())};
    fresh.fronts = fronts_.plan;
    fresh.monitor.stopped = stop.reason();
    if (fresh.monitor.stopped != StopReason::none) return std::make_unique<HostLu<S>>(be_, std::move(fresh));
    if (!place.device) return HostLu<S>::by_fronts(be_, std::move(fresh), *place.values, stop);
    auto made = place.device->hold(fresh, be_);
    made->refactor(*place.values, stop);
    return made;
}

/// A GPU that cannot hold fronts leaves them to the host, if other pivots would take long. @return null where there are
/// none
template <Scalar S>
std::unique_ptr<LuFactored<S>> PivotChoice<S>::made_by_fronts(LuPlace<S>& place, bool first, const StopToken& stop)
{
    if (fronts_.why.empty()) fronts_ = choose_fronts(be_, *symbolic_, options_.supernodes);
    while (fronts_.plan) {
        std::string why;
        try {
            return by_fronts(place, stop);
        } catch (const OutOfMemory& error) {
            why = error.what();
        } catch (const InvalidInput& error) {  // a front too large for a GPU's kernels
            why = error.what();
        }
        const bool left = place.device && first && symbolic_->report.flops >= affordable;
        if (left) place.leave_gpu();
        fronts_ = {.plan = left ? fronts_.plan : nullptr,
                   .why = (left ? fronts_.why + "; on the host: " : "by entries: ") + why};
    }
    return nullptr;
}

template <Scalar S>
std::optional<ChosenPivots<S>> PivotChoice<S>::within_fronts(LuPlace<S>& place, bool first, const StopToken& stop,
                                                             LuReport& report)
{
    std::unique_ptr<LuFactored<S>> fresh = made_by_fronts(place, first, stop);
    if (!fresh) return std::nullopt;
    const PivotMonitor& monitor = fresh->monitor();
    if (monitor.stopped != StopReason::none) {
        stopped(report, monitor.stopped, 0, symbolic_->n);
        return std::nullopt;
    }
    const double grown = growth(monitor);
    const bool   doubtful = monitor.replaced > 0 || !(grown <= options_.growth_limit);
    if (monitor.bad_column >= 0 || (doubtful && symbolic_->report.flops < affordable)) {
        fronts_ = {.plan = {},
                   .why = fmt::format("by entries: within supernodes {} pivots were next to 0, growth {:.1e}",
                                      monitor.replaced + (monitor.bad_column >= 0), grown)};
        return std::nullopt;
    }
    return ChosenPivots<S>{std::move(fresh), grown};
}

template <Scalar S>
bool PivotChoice<S>::fronts_fit(ChosenPivots<S>& pivots, const LuPlace<S>& place, LuReport& report)
{
    if (!place.device || !pivots.factored->fronts()) return true;
    try {
        pivots.go_to(place, be_);
        return true;
    } catch (const OutOfMemory& why) {
        fronts_ = by_entries(why);
    } catch (const InvalidInput& why) {
        fronts_ = by_entries(why);
    }
    out_of_memory(report, fronts_.why.c_str());
    return false;
}

template <Scalar S>
std::optional<ChosenPivots<S>> PivotChoice<S>::among_all_rows(const LuPlace<S>& place, double most_fill,
                                                              const StopToken& stop, LuReport& report)
{
    const auto   most = static_cast<Offset>(most_fill * symbolic_->report.nnz);
    LuFactors<S> fresh =
        gilbert_peierls<S>(symbolic_, options_, place.values->host(), stop, be_, {.most_entries = most});
    const PivotMonitor& monitor = fresh.monitor;
    const double        grown = growth(monitor);
    const Index         k = monitor.bad_column;
    if (k < 0) return ChosenPivots<S>{std::make_unique<HostLu<S>>(be_, std::move(fresh)), grown};
    if (monitor.stopped == StopReason::none && monitor.overfilled) {
        report.outcome = Outcome::out_of_memory;
        report.overfilled = true;
        report.pivot = k;
        report.reason = fmt::format(
            "after {} of {} columns L + U have more than {} entries, and {:.3g} were expected of all of them", k,
            symbolic_->n, most, symbolic_->report.nnz);
        return std::nullopt;
    }
    if (monitor.stopped != StopReason::none) {
        stopped(report, monitor.stopped, k, symbolic_->n);
        return std::nullopt;
    }
    const std::string before = std::move(report.reason);
    report.outcome = monitor.not_finite ? Outcome::not_finite : Outcome::singular;
    report.pivot = k;
    blame(report, fresh.pattern->row_perm[k], fresh.pattern->col_perm[k],
          monitor.not_finite ? "the numbers overflowed whatever the pivot" : "no pivot is left but 0");
    report.reason = joined(before, report.reason);
    return std::nullopt;
}

template <Scalar S>
void keep(ChosenPivots<S> pivots, std::vector<ChosenPivots<S>>& all)
{
    const std::size_t given = pivots.factored->chosen().symbolic->options.memory_limit.value;  // 0: none
    const std::size_t bytes = given > 0 ? std::min(kept_bytes, given) : kept_bytes;
    const auto&       rows = pivots.factored->pattern().row_perm;
    std::erase_if(all, [&](const ChosenPivots<S>& one) { return one.factored->pattern().row_perm == rows; });
    all.insert(all.begin(), std::move(pivots));
    const auto held = [&] {
        std::size_t sum = 0;
        for (const ChosenPivots<S>& one : all) sum += one.factored->bytes();
        return sum;
    };
    while (all.size() > 1 && (all.size() > most_pivots || held() > bytes)) all.pop_back();
}

#define ILUX_INSTANTIATE(S)          \
    template struct LuPlace<S>;      \
    template struct ChosenPivots<S>; \
    template class PivotChoice<S>;   \
    template void keep(ChosenPivots<S>, std::vector<ChosenPivots<S>>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
