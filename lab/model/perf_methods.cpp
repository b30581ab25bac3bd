#include "ilux/lab/model/perf_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/lu/refactor_choice.hpp"
#include "ilux/direct/published/refactor_right_plan.hpp"
#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"

namespace ilux {
namespace {

constexpr double warp_lanes = 32;
constexpr double device_warps = 64;    // of a multiprocessor, of any block
constexpr double glu1_blocks = 8;      // of detail::glu1_warps, on a multiprocessor
constexpr double value_sectors = 8;    // of 32 consecutive values
constexpr double block_barrier = 40;   // cycles
constexpr double stream_launches = 3;  // of a column in stream mode: divide, subtract, clear

double trips(double entries, double threads) { return std::ceil(entries / threads); }

/// What the caches hold of a pattern decides how long an access takes.
struct Accesses {
    double single = 0, wide = 0, step = 0;  // seconds: an access, one of 32 values, a multiply-add step of a warp
    double barrier = 0;

    Accesses(const LuPattern& P, const DeviceParameters& d)
    {
        const double miss = d.miss_rate(value_sectors, (sizeof(Index) + sizeof(double)) * double(P.nnz()));
        single = d.access_cycle(1, miss) / d.clock;
        wide = d.access_cycle(value_sectors, miss) / d.clock;
        step = 2 * wide + d.comp_latency / d.clock;
        barrier = block_barrier / d.clock;
    }
};

/// Right-looking work by column: rows of U, and the steps of 32 lanes along their subcolumns.
struct RightWork {
    std::vector<double> subcolumns, steps, longest;

    explicit RightWork(const LuPattern& P) : subcolumns(P.n, 0), steps(P.n, 0), longest(P.n, 0)
    {
        for (Index k = 0; k < P.n; ++k)
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
                const Index  j = P.row[p];
                const double below = double(P.col_ptr[k + 1] - p - 1);
                ++subcolumns[j];
                steps[j] += trips(below, warp_lanes);
                longest[j] = std::max(longest[j], below);
            }
    }
};

/// Quotients of L(:,j) by a block.
double divide_seconds(const LuPattern& P, const Accesses& a, Index j, double warps)
{
    return 3 * a.single + trips(P.lower_count(j), warp_lanes * warps) * a.wide;
}

/// By one block of so many warps, which take turns at the subcolumns.
double eliminate_seconds(const LuPattern& P, const Accesses& a, const RightWork& work, Index j, double warps)
{
    if (P.lower_count(j) == 0) return 0;
    const double divide = divide_seconds(P, a, j, warps);
    if (work.subcolumns[j] == 0) return divide;
    const double most = std::max(1., std::ceil(work.subcolumns[j] / warps));
    const double steps = work.steps[j] * most / work.subcolumns[j];
    return divide + most * 3 * a.single + steps * a.step + 2 * a.barrier;
}

/// A block a subcolumn, of which the device holds so many at a time.
double stream_seconds(const LuPattern& P, const DeviceParameters& d, const Accesses& a, const RightWork& work, Index j)
{
    if (P.lower_count(j) == 0) return 0;
    const double blocks = d.multiprocessors * device_warps / detail::large_warps;
    const double subtract = 3 * a.single + trips(work.longest[j], warp_lanes * detail::large_warps) * a.step;
    return stream_launches * d.launch + divide_seconds(P, a, j, detail::large_warps) +
           std::max(1., std::ceil(work.subcolumns[j] / blocks)) * subtract;
}

/// The columns of one launch: the longest, or all of them by `room` blocks at a time.
struct Launch {
    double longest = 0, all = 0;

    void   add(double seconds) { longest = std::max(longest, seconds), all += seconds; }
    double seconds(double room) const { return std::max(longest, all / room); }
};

}  // namespace

double glu1_seconds(const LuPattern& P, const DeviceParameters& device)
{
    const Accesses  a(P, device);
    const RightWork work(P);
    const double    room = device.multiprocessors * glu1_blocks;
    const LuLevels  levels =
        resource_aware_levels(P, DependencyRule::exact, std::max<Index>(1, static_cast<Index>(room)));
    double seconds = device.call;
    for (Index l = 0; l < levels.depth(); ++l) {
        Launch launch;
        for (Offset c = levels.level_ptr[l]; c < levels.level_ptr[l + 1]; ++c)
            launch.add(eliminate_seconds(P, a, work, levels.column[c], detail::glu1_warps));
        seconds += device.barrier + launch.seconds(room);
    }
    return seconds;
}

double glu3_seconds(const LuPattern& P, const DeviceParameters& device)
{
    const Accesses          a(P, device);
    const RightWork         work(P);
    const double            warps = device.multiprocessors * device_warps;
    const detail::RightPlan plan =
        detail::plan_right(P, {},
                           {.warps = static_cast<Index>(warps),
                            .blocks = static_cast<Index>(device.multiprocessors * glu1_blocks)});
    double seconds = device.call;
    for (const detail::RightStep& step : plan.steps) {
        Launch launch;
        for (Offset c = step.first; c < step.end; ++c) {
            const Index j = plan.levels.column[c];
            launch.add(step.stream ? stream_seconds(P, device, a, work, j)
                                   : eliminate_seconds(P, a, work, j, step.warps));
        }
        seconds +=
            device.barrier + launch.seconds(step.stream ? std::max<double>(1, plan.streams) : warps / step.warps);
    }
    return seconds;
}

double islu_seconds(const LuPattern& P, const DeviceParameters& device)
{
    constexpr std::array<double, 6> block{32, 64, 128, 256, 512, 1024};
    const Accesses                  a(P, device);
    const LuLevels                  levels = lu_levels(P, DependencyRule::left);
    double                          seconds = device.call;
    for (Index l = 0; l < levels.depth(); ++l) {
        std::array<Launch, block.size()> launch;
        for (Offset c = levels.level_ptr[l]; c < levels.level_ptr[l + 1]; ++c) {
            const Index                      k = levels.column[c];
            std::array<double, block.size()> steps{};
            double                           updates = 0;
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
                const double count = P.lower_count(P.row[p]);
                updates += count > 0;
                for (std::size_t s = 0; s < block.size(); ++s) steps[s] += trips(count, block[s]);
            }
            for (std::size_t s = 0; s < block.size(); ++s)
                launch[s].add(3 * a.single + trips(P.upper_count(k), warp_lanes) * 3 * a.single + updates * a.barrier +
                              steps[s] * a.step + trips(P.lower_count(k), block[s]) * a.wide);
        }
        double best = launch[0].seconds(device.multiprocessors * device_warps);
        for (std::size_t s = 1; s < block.size(); ++s)
            best = std::min(best, launch[s].seconds(device.multiprocessors * device_warps * warp_lanes / block[s]));
        seconds += device.barrier + best;
    }
    return seconds;
}

std::vector<MethodPrediction> predict_methods(const LuPattern& P, const DeviceParameters& device, int threads)
{
    const DataflowPrediction dots = predict_dataflow(P, static_cast<int>(device.multiprocessors));
    return {{RefactorMethod::automatic, device.call + dots.waits + dots.work},
            {RefactorMethod::cpu, detail::expected_seconds(P, threads)},
            {RefactorMethod::left, LeftModel(P, device).predict(0).seconds},
            {RefactorMethod::glu1, glu1_seconds(P, device)},
            {RefactorMethod::glu3, glu3_seconds(P, device)},
            {RefactorMethod::islu, islu_seconds(P, device)}};
}

}  // namespace ilux
