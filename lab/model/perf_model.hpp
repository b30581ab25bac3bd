#pragma once
// How long a refactorization takes on a GPU: the parametric model of warps, and the analysis of the dependence graph,
// of [chen_wang_14, section 6 and appendix C]. Host only: nothing here asks a device.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "ilux/base/gpu/usual_device.hpp"
#include "ilux/direct/published/refactor_left_plan.hpp"

namespace ilux {

/// What the model knows of a device. The defaults were measured on an H200 (bench/results/lu_model_gpu.jsonl);
/// measure_device (device_parameters.hpp) finds those of the one at hand. An access is one load of a warp, transactions
/// the sectors of 32 bytes that it touches. Cache is the second level: the first is emptied whenever a column waits.
struct DeviceParameters {
    static constexpr std::array<double, 6> transactions{1, 2, 4, 8, 16, 32};
    /// In units of cache_bytes.
    static constexpr std::array<double, 8> working_sets{0.125, 0.25, 0.5, 0.75, 1, 2, 4, 8};
    using ByTransactions = std::array<double, transactions.size()>;

    double multiprocessors = usual_multiprocessors;
    double resident_warps = 32;       ///< of method left, on a multiprocessor, at most
    double clock = 1.98e9;            ///< cycles a second, under load
    double bandwidth = 3.7e12;        ///< bytes a second from and to memory
    double cache_bandwidth = 6.6e12;  ///< bytes a second out of the cache
    double cache_bytes = 63e6;
    double comp_cycle = 28.5;   ///< that a multiprocessor full of warps spends on one multiply-add step
    double comp_latency = 265;  ///< cycles that a lone warp does, besides its accesses
    double flag = 0.59e-6;      ///< seconds from a finished column to a warp that waits for it
    double launch = 0.99e-6;    ///< seconds that a small kernel takes as a node of a graph
    double barrier = 2.15e-6;   ///< the same of one that fills the device: what a level costs
    double call = 26e-6;        ///< seconds that a graph of five small kernels takes a host that waits for it

    ByTransactions cache_cycle{312, 320, 330, 340, 354, 379};  ///< of an access that hits
    ByTransactions global_cycle{721, 804, 889, 958, 1069, 1165};
    /// Shares of accesses, by working set.
    std::array<ByTransactions, working_sets.size()> miss{{{0, 0, 0, 0, 0, 0},
                                                          {0, 0, 0, 0, 0, 0},
                                                          {0, 0, 0, 0.01, 0.06, 0.19},
                                                          {0.08, 0.15, 0.32, 0.54, 0.66, 0.74},
                                                          {0.46, 0.62, 0.76, 0.85, 0.85, 0.86},
                                                          {0.74, 0.87, 0.92, 0.93, 0.93, 0.95},
                                                          {0.88, 0.94, 0.97, 0.97, 0.97, 0.99},
                                                          {0.95, 0.99, 1, 1, 1, 1}}};

    /// Linear between the entries of the tables, constant beyond them. @param working_set  bytes
    double miss_rate(double transactions_an_access, double working_set) const;
    /// mem_cycle [chen_wang_14, (1)] of one access.
    double access_cycle(double transactions_an_access, double miss_rate) const;
};

/// Numbers of DeviceParameters one by one, and its tables as spans; what prints and reads them walks these.
template <class Parameters, class Visit>
void numbers(Parameters& p, Visit&& visit)
{
    visit("multiprocessors", p.multiprocessors);
    visit("resident_warps", p.resident_warps);
    visit("clock", p.clock);
    visit("bandwidth", p.bandwidth);
    visit("cache_bandwidth", p.cache_bandwidth);
    visit("cache_bytes", p.cache_bytes);
    visit("comp_cycle", p.comp_cycle);
    visit("comp_latency", p.comp_latency);
    visit("flag", p.flag);
    visit("launch", p.launch);
    visit("barrier", p.barrier);
    visit("call", p.call);
}
template <class Parameters, class Visit>
void tables(Parameters& p, Visit&& visit)
{
    visit("cache_cycle", std::span(p.cache_cycle));
    visit("global_cycle", std::span(p.global_cycle));
    for (std::size_t s = 0; s < p.miss.size(); ++s) visit("miss", std::span(p.miss[s]));
}
/// @throws InvalidInput for a number that is not positive and finite, or a miss rate outside 0 … 1
void require_sensible(const DeviceParameters& parameters);

/// How warps share a multiprocessor while each repeats one memory period, [chen_wang_14, 6.1].
enum class WarpCase {
    computing = 1,  ///< enough warps to hide the latency, and enough bandwidth: figure 10a
    bandwidth = 2,  ///< 10b
    latency = 3,    ///< too few warps: 10c
};
/// Memory and compute periods of a warp, in cycles; the quantities of [chen_wang_14].
struct WarpPeriod {
    double mem_cycle = 0;
    double comp_cycle = 0;
    double comp_latency = 0;  ///< of a lone warp; the paper takes it for comp_cycle
    double mwp = 0;           ///< warps whose memory periods the bandwidth serves at once, (2)

    double warp_exp() const { return mem_cycle / comp_cycle + 1; }  ///< (5)
    double mwp_req(double warps) const;                             ///< (4)
    /// @param warps  at work on a multiprocessor
    WarpCase which(double warps) const;
    /// Cycles that each of them takes for so many periods, (6) to (8); never less than a lone one.
    double cycles(double warps, double repeats) const;
};
/// (2), of bytes from memory, and of those out of the cache: whichever serves fewer warps.
double mwp(const DeviceParameters& device, double mem_cycle, double memory_bytes, double cache_bytes);

/// What the simulation predicts for one refactorization by `left`.
struct LeftPrediction {
    double   seconds = 0;
    Index    warps = 0;                  ///< in all, after LeftTuning's limits
    double   active = 0;                 ///< of them at work, not waiting, on a multiprocessor, on average
    double   miss = 0;                   ///< share of the accesses of a multiply-add step
    WarpCase which = WarpCase::latency;  ///< of a multiply-add step
    double   serial = 0;                 ///< seconds of all columns one after another
};

/// Method left (refactor_left.cu) on one pattern.
///
/// Every node of the graph of columns is as many as the warp goes through: begin and scatter, a multiply-add of L(:,i)
/// for each i ∈ U(:,k), divide and gather. Cycles of each are those of the parametric model; a multiply-add starts when
/// the one before has ended and column i is finished. A column goes to the warp that is free first: tickets.
class LeftModel {
public:
    /// O(nnz). `pattern` must outlive it. @throws InvalidOption as plan_left
    LeftModel(const LuPattern& pattern, const DeviceParameters& device, const LeftTuning& tuning = {});

    /// With so many warps in all, or as many as fit for 0, less where LeftTuning or the plan has it so; caches hold
    /// what the run before left. Only warps that are at work share a multiprocessor's cycles and bandwidth: a first
    /// pass, in which each has a multiprocessor of its own, tells how many. O(nnz(U) + n log warps) @throws
    /// InvalidOption for a negative number
    LeftPrediction predict(Index warps) const;
    /// The best of so many on every multiprocessor. @param each  not empty
    Index best_warps(std::span<const Index> each) const;

private:
    struct Sizes {
        double steps = 0;         ///< of 32 lanes, two entries each
        double transactions = 0;  ///< of an access, mean
        double bytes = 0;         ///< of a step, mean
    };
    struct Costs;
    struct Run {
        double seconds = 0, work = 0;
    };
    static Sizes sizes_of(std::span<const Index> rows);
    Costs        costs(double active, double miss) const;
    double       working_set(Index warps) const;
    template <bool waits>
    double begin_seconds(const Costs& cost, Index k) const;
    double column_seconds(const Costs& cost, Index k) const;
    double end_seconds(const Costs& cost, Index k) const;
    void   run_clusters(const Costs& cost, Index warps, Run& run) const;
    void   run_pipeline(const Costs& cost, Index warps, Run& run) const;
    Run    run(const Costs& cost, Index warps) const;

    const LuPattern&   pattern_;
    DeviceParameters   device_;
    LeftTuning         tuning_;
    detail::LeftPlan   plan_;
    std::vector<Sizes> lower_, column_;  ///< n; of L(:,k), of all of column k
    Sizes              mean_;            ///< of all multiply-add steps
    double             touched_ = 0;     ///< bytes of work vectors, had each column one of its own
};

}  // namespace ilux
