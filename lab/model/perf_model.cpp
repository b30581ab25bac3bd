#include "ilux/lab/model/perf_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

constexpr double lanes = 32, sector_bytes = 32, sector_rows = 4;  // rows of a work vector that share a sector
constexpr double step_entries = lanes * detail::left_group;
// Transactions of an access to consecutive indices, and to consecutive values.
constexpr double index_transactions = 4, value_transactions = 8;
constexpr Index  batch = 32;  // updates whose whereabouts a warp loads together
// Accesses one after another, as refactor_left.cu has them. Before the scatter: column, bad, col_ptr; of a batch: bad,
// row, col_ptr. In the pipeline there is a ticket before, and a flag with each batch.
constexpr double begin_accesses = 3, batch_accesses = 3, pipeline_accesses = 1;
// What scatter before and monitor behind the columns move: an entry's value twice, source, scale and row.
constexpr double scattered_bytes = 40;

/// Where `value` lies among ascending `points`: before entry `at` + 1, a share of the way from entry `at`.
template <std::size_t count>
std::pair<std::size_t, double> place(const std::array<double, count>& points, double value)
{
    if (!(value > points.front())) return {0, 0};
    if (value >= points.back()) return {count - 2, 1};
    const auto at = static_cast<std::size_t>(std::ranges::upper_bound(points, value) - points.begin()) - 1;
    return {at, (value - points[at]) / (points[at + 1] - points[at])};
}

double at(const DeviceParameters::ByTransactions& table, double transactions)
{
    const auto [t, share] = place(DeviceParameters::transactions, transactions);
    return std::lerp(table[t], table[t + 1], share);
}

template <bool waits>
double batch_seconds(double single)
{
    return (batch_accesses + (waits ? pipeline_accesses : 0)) * single;
}

double full_sectors(double bytes) { return std::ceil(bytes / sector_bytes); }

}  // namespace

double DeviceParameters::miss_rate(double transactions_an_access, double working_set) const
{
    const auto [s, share] = place(working_sets, working_set / cache_bytes);
    return std::lerp(at(miss[s], transactions_an_access), at(miss[s + 1], transactions_an_access), share);
}

double DeviceParameters::access_cycle(double transactions_an_access, double miss_rate) const
{
    return at(global_cycle, transactions_an_access) * miss_rate +
           at(cache_cycle, transactions_an_access) * (1 - miss_rate);
}

void require_sensible(const DeviceParameters& parameters)
{
    const auto positive = [](std::string_view name, double value) {
        require(value > 0 && std::isfinite(value),
                [&] { return fmt::format("device parameters: {} = {}; expected a positive number", name, value); });
    };
    numbers(parameters, positive);
    tables(parameters, [&](std::string_view name, std::span<const double> values) {
        for (const double value : values)
            if (name != "miss") positive(name, value);
            else
                require(value >= 0 && value <= 1, [&] {
                    return fmt::format("device parameters: a miss rate of {}; expected a number from 0 to 1", value);
                });
    });
}

double WarpPeriod::mwp_req(double warps) const { return std::min(mem_cycle / comp_cycle, warps); }

WarpCase WarpPeriod::which(double warps) const
{
    if (mwp < mwp_req(warps)) return WarpCase::bandwidth;
    return warps >= warp_exp() ? WarpCase::computing : WarpCase::latency;
}

double WarpPeriod::cycles(double warps, double repeats) const
{
    const double alone = repeats * (comp_latency + mem_cycle);
    switch (which(warps)) {
        case WarpCase::computing:
            return std::max(alone, (repeats - 1) * comp_cycle * warps + comp_latency + mem_cycle);
        case WarpCase::bandwidth:
            return std::max(alone, repeats * mem_cycle * warps / mwp);
        case WarpCase::latency:
            break;
    }
    return alone;
}

double mwp(const DeviceParameters& device, double mem_cycle, double memory_bytes, double cache_bytes)
{
    const double seconds = std::max(memory_bytes / device.bandwidth, cache_bytes / device.cache_bandwidth);
    return seconds > 0 ? mem_cycle / (device.multiprocessors * device.clock * seconds)
                       : std::numeric_limits<double>::infinity();
}

/// Costs of one run: seconds, but for periods.
struct LeftModel::Costs {
    const DeviceParameters& device;
    double                  active = 1, miss = 0;
    double                  single = 0;   ///< of an access of one transaction
    std::vector<double>     update = {};  ///< n; multiply-add of L(:,i)

    WarpPeriod period(double mem_cycle, double bytes) const
    {
        return {.mem_cycle = mem_cycle,
                .comp_cycle = device.comp_cycle,
                .comp_latency = device.comp_latency,
                .mwp = mwp(device, mem_cycle, bytes * miss, bytes)};
    }
    double seconds(const WarpPeriod& period, double repeats) const
    {
        return repeats > 0 ? period.cycles(active, repeats) / device.clock : 0;
    }
    /// The row of an entry, then x there; its value at the same time. Gathering does the same.
    WarpPeriod multiply_add(const Sizes& of) const
    {
        return period(device.access_cycle(index_transactions, miss) + device.access_cycle(of.transactions, miss),
                      of.bytes);
    }
    /// Row and value together; x is only written.
    WarpPeriod scatter(const Sizes& of) const
    {
        return period(device.access_cycle(value_transactions, miss), of.bytes);
    }
};

LeftModel::Sizes LeftModel::sizes_of(std::span<const Index> rows)
{
    const double entries = double(rows.size());
    double       sectors = 0;
    for (std::size_t p = 0; p < rows.size(); ++p)
        if (p % std::size_t(lanes) == 0 || rows[p] / Index(sector_rows) != rows[p - 1] / Index(sector_rows)) ++sectors;
    if (rows.empty()) return {};
    const double steps = std::ceil(entries / step_entries);
    const double bytes =
        sector_bytes * (full_sectors(entries * sizeof(Index)) + full_sectors(entries * sizeof(double)) +
                        2 * sectors);  // x is read and written
    return {.steps = steps, .transactions = sectors / std::ceil(entries / lanes), .bytes = bytes / steps};
}

LeftModel::LeftModel(const LuPattern& pattern, const DeviceParameters& device, const LeftTuning& tuning)
    : pattern_(pattern), device_(device), tuning_(tuning), plan_(detail::plan_left(pattern, tuning))
{
    const auto         n = static_cast<std::size_t>(pattern.n);
    std::vector<Index> used(n, 0);  // updates by L(:,i)
    lower_.resize(n);
    column_.resize(n);
    for (Index k = 0; k < pattern.n; ++k) {
        const std::span rows(pattern.row);
        const Offset    begin = pattern.col_ptr[k], diag = pattern.diag[k], end = pattern.col_ptr[k + 1];
        column_[k] = sizes_of(rows.subspan(begin, end - begin));
        lower_[k] = sizes_of(rows.subspan(diag + 1, end - diag - 1));
        touched_ += sector_bytes * column_[k].transactions * std::ceil(double(end - begin) / lanes);
        for (Offset p = begin; p < diag; ++p) ++used[pattern.row[p]];
    }
    for (Index i = 0; i < pattern.n; ++i) {
        const double steps = used[i] * lower_[i].steps;
        mean_.steps += steps;
        mean_.transactions += steps * lower_[i].transactions;
        mean_.bytes += steps * lower_[i].bytes;
    }
    if (mean_.steps == 0) return;
    mean_.transactions /= mean_.steps;
    mean_.bytes /= mean_.steps;
}

/// The pattern, the values, and what the work vectors have of both ends: a vector a warp, or a few sectors a column.
double LeftModel::working_set(Index warps) const
{
    const double entries = (sizeof(Index) + sizeof(double)) * double(pattern_.nnz());
    const double columns = (2 * sizeof(Offset) + 2 * sizeof(Index)) * double(pattern_.n);
    return entries + columns + std::min(touched_, double(warps) * double(pattern_.n) * sizeof(double));
}

LeftModel::Costs LeftModel::costs(double active, double miss) const
{
    Costs cost{.device = device_, .active = active, .miss = miss};
    cost.single = device_.access_cycle(1, miss) / device_.clock;
    cost.update.reserve(lower_.size());
    for (const Sizes& of : lower_) cost.update.push_back(cost.seconds(cost.multiply_add(of), of.steps));
    return cost;
}

template <bool waits>
double LeftModel::begin_seconds(const Costs& cost, Index k) const
{
    const double accesses = begin_accesses + (waits ? pipeline_accesses : 0);
    return accesses * cost.single + cost.seconds(cost.scatter(column_[k]), column_[k].steps);
}

/// Seconds of a column that waits for nobody.
double LeftModel::column_seconds(const Costs& cost, Index k) const
{
    const Offset begin = pattern_.col_ptr[k], diag = pattern_.diag[k];
    double       seconds = begin_seconds<false>(cost, k) + end_seconds(cost, k);
    seconds += std::ceil(double(diag - begin) / batch) * batch_seconds<false>(cost.single);
    for (Offset p = begin; p < diag; ++p) seconds += cost.update[pattern_.row[p]];
    return seconds;
}

/// The pivot, and quotients.
double LeftModel::end_seconds(const Costs& cost, Index k) const
{
    return cost.single + cost.seconds(cost.multiply_add(column_[k]), column_[k].steps);
}

/// A launch a level; its columns strided over the warps.
void LeftModel::run_clusters(const Costs& cost, Index warps, Run& run) const
{
    std::vector<double> busy;
    for (std::size_t l = 0; l + 1 < plan_.cluster_ptr.size(); ++l) {
        const Index first = plan_.cluster_ptr[l], columns = plan_.cluster_ptr[l + 1] - first;
        busy.assign(static_cast<std::size_t>(std::min(warps, columns)), 0);
        for (Index c = 0; c < columns; ++c) {
            const double seconds = column_seconds(cost, plan_.column[first + c]);
            busy[c % busy.size()] += seconds;
            run.work += seconds;
        }
        run.seconds += device_.barrier + std::ranges::max(busy);
    }
}

/// A queue of tasks for each warp; the next column goes to the warp whose queue ends first [chen_wang_14, C.2].
void LeftModel::run_pipeline(const Costs& cost, Index warps, Run& run) const
{
    const Index first = plan_.cluster_ptr.back();
    if (first == pattern_.n) return;
    using Free = std::pair<double, Index>;  // when, and which warp
    std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
    const double                                                 start = run.seconds + device_.launch;
    for (Index w = 0; w < std::min(warps, pattern_.n - first); ++w) free.emplace(start, w);
    std::vector<double> finish(static_cast<std::size_t>(pattern_.n), 0);
    std::vector<Index>  owner(static_cast<std::size_t>(pattern_.n), -1);
    for (Index c = first; c < pattern_.n; ++c) {
        const Index k = plan_.column[c];
        const auto [begin, warp] = free.top();
        free.pop();
        double       now = begin + begin_seconds<true>(cost, k), waited = 0;
        const Offset begin_U = pattern_.col_ptr[k];
        for (Offset p = begin_U; p < pattern_.diag[k]; ++p) {
            if ((p - begin_U) % batch == 0) now += batch_seconds<true>(cost.single);
            const Index i = pattern_.row[p];
            if (lower_[i].steps == 0) continue;
            const double known = finish[i] + (owner[i] >= 0 && owner[i] != warp ? device_.flag : 0);
            waited += std::max(0., known - now);
            now = std::max(now, known) + cost.update[i];
        }
        finish[k] = now + end_seconds(cost, k);
        owner[k] = warp;
        free.emplace(finish[k], warp);
        run.seconds = std::max(run.seconds, finish[k]);
        run.work += finish[k] - begin - waited;
    }
}

LeftModel::Run LeftModel::run(const Costs& cost, Index warps) const
{
    Run run;
    run_clusters(cost, warps, run);
    run_pipeline(cost, warps, run);
    return run;
}

LeftPrediction LeftModel::predict(Index warps) const
{
    if (warps < 0) throw InvalidOption(fmt::format("left: {} warps; expected at least 0", warps));
    LeftTuning tuning = tuning_;
    tuning.warps = warps;
    const auto     resident = static_cast<Index>(device_.multiprocessors * device_.resident_warps);
    LeftPrediction found{.warps = detail::left_warps(plan_, tuning, resident)};
    found.miss = device_.miss_rate(mean_.transactions, working_set(found.warps));
    const double each = double(found.warps) / device_.multiprocessors;
    const Run    alone = run(costs(std::min(1., each), found.miss), found.warps);
    found.active = alone.seconds > 0 ? std::min(each, alone.work / alone.seconds / device_.multiprocessors) : 0;
    const Costs cost = costs(found.active, found.miss);
    const Run   shared = run(cost, found.warps);
    found.seconds = device_.call + scattered_bytes * double(pattern_.nnz()) / device_.bandwidth + shared.seconds;
    found.serial = shared.work;
    found.which = cost.multiply_add(mean_).which(found.active);
    return found;
}

Index LeftModel::best_warps(std::span<const Index> each) const
{
    Index  best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const Index e : each) {
        const auto           all = static_cast<Index>(e * device_.multiprocessors);
        const LeftPrediction found = predict(all);
        if (found.seconds >= least) continue;
        least = found.seconds;
        best = all;
    }
    return best;
}

}  // namespace ilux
