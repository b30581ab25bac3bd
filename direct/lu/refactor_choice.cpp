#include "ilux/direct/lu/refactor_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/dataflow/dense_tail.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/published/refactor_left_plan.hpp"
#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"

namespace ilux {

namespace {

using namespace refactor_rule;

template <Scalar S>
constexpr double dot_factor = is_complex<S> ? complex_by_dot_products : 1;
template <Scalar S>
constexpr double cpu_factor = is_complex<S> ? complex_on_cpu : 1;

double entries_of(const LuPattern& pattern) { return double(pattern.nnz()) + double(pattern.nnz_F()); }

template <Scalar S>
GpuCost dataflow_cost(const LuPattern& pattern, const DataflowPrediction& predicted)
{
    const double products = predicted.products, entries = entries_of(pattern);
    return {.seconds = transfer_seconds + dot_factor<S> * (call_seconds + predicted.waits + predicted.work),
            .setup = setup_start + entries * setup_entry + products * setup_product,
            .bytes = products * product_bytes + entries * (entry_bytes + sizeof(S) - sizeof(double))};
}

template <Scalar S>
GpuCost left_cost(const LuPattern& pattern, const DataflowPrediction& predicted)
{
    return {.method = RefactorMethod::left,
            .seconds = transfer_seconds + call_seconds + left_over_dots * (predicted.waits + predicted.work),
            .setup = double(pattern.nnz()) * left_setup_entry,
            .bytes = double(16 + sizeof(S)) * double(pattern.nnz()) + double(LeftTuning{}.work_bytes)};
}

/// Pivots of fronts that wait for one another.
Index longest_path(const FrontTree& tree)
{
    std::vector<Index> path(tree.fronts());
    Index              longest = 0;
    for (Index f = 0; f < tree.fronts(); ++f) {
        path[f] += tree.pivots(f);
        longest = std::max(longest, path[f]);
        if (const Index up = tree.parent[f]; up >= 0) path[up] = std::max(path[up], path[f]);
    }
    return longest;
}

/// Numbers that fronts leave to their parents, as many as there are at once: each is there until the level of its
/// parent is done.
double most_left(const FrontTree& tree)
{
    std::vector<Index>  level(tree.fronts());
    std::vector<double> change(static_cast<std::size_t>(tree.fronts()) + 2);
    for (Index f = 0; f < tree.fronts(); ++f)
        if (const Index up = tree.parent[f]; up >= 0) level[up] = std::max(level[up], level[f] + 1);
    for (Index f = 0; f < tree.fronts(); ++f)
        if (const Index up = tree.parent[f]; up >= 0) {
            const double left = double(tree.updates(f)) * tree.updates(f);
            change[level[f]] += left;
            change[level[up] + 1] -= left;
        }
    double now = 0, most = 0;
    for (const double of_level : change) most = std::max(most, now += of_level);
    return most;
}

/// Numbers of inverted diagonal blocks.
double inverted(const FrontTree& tree)
{
    double all = 0;
    for (Index f = 0; f < tree.fronts(); ++f) {
        const Index k = tree.pivots(f), rest = k % front_inverse_pivots;
        if (k <= front_warp_pivots && tree.size(f) <= front_warp_rows) continue;
        all += double(k - rest) * front_inverse_pivots + double(rest) * rest;
    }
    return all;
}

/// What GpuFrontRefactor and GpuFrontSolve have on the device.
template <Scalar S>
double bytes_of(const FrontPlan& plan)
{
    constexpr double together = is_complex<S> ? 2 : 4;  // right-hand sides that there is room for
    const FrontTree& tree = plan.tree;
    const double     rows = double(tree.row.size()), pivots = plan.n;
    const double     values = double(plan.in_source.size()) + double(plan.f_source.size());
    const double     numbers = double(plan.numbers()) + inverted(tree) + front_left_room * most_left(tree) + values +
                           together * (rows + 2 * pivots);
    return sizeof(S) * numbers + front_value_bytes * values + front_row_bytes * rows + front_pivot_bytes * pivots +
           front_bytes * tree.fronts();
}

template <Scalar S>
double flops_of(const FrontPlan& plan)
{
    return 2 * plan.multiply_adds * (is_complex<S> ? complex_flops : 1);
}

/// @param cpu  seconds of a refactorization there
std::string why_cpu(const GpuCost& gpu, double cpu, int threads, double systems, double free_bytes)
{
    if (gpu.bytes > free_bytes)
        return fmt::format("factors on a GPU would take about {:.2g} GB, {:.2g} GB are free", 1e-9 * gpu.bytes,
                           1e-9 * free_bytes);
    if (cpu <= gpu.seconds)
        return fmt::format("{} in about {:.2g} ms, a GPU in {:.2g} ms",
                           threads == 1 ? "one thread refactors" : fmt::format("{} threads refactor", threads),
                           1e3 * cpu, 1e3 * gpu.seconds);
    if (systems * (cpu - gpu.seconds) < gpu.setup)
        return fmt::format(
            "a GPU would save about {:.2g} ms a system, but {:.2g} s of preparation are too much for {:.0f} systems",
            1e3 * (cpu - gpu.seconds), gpu.setup, systems);
    return "";
}

}  // namespace

DataflowPrediction predict_dataflow(const LuPattern& P, int multiprocessors)
{
    const LuLevels    levels = lu_levels(P, DependencyRule::left);
    const TailColumns tail = choose_dense_tail(P, levels);
    Index             depth = 0;
    for (Index k = 0; k < P.n; ++k)
        if (k < tail.first || k >= tail.first + tail.size) depth = std::max(depth, levels.level_of[k] + 1);
    const double products = P.multiply_adds(), tasks = products / task_products + entries_of(P) / task_entries;
    return {.waits = depth * level_seconds + tail.size * tail_seconds,
            .work = tasks * task_seconds * usual_multiprocessors / multiprocessors,
            .products = products};
}

template <Scalar S>
GpuCost gpu_cost(const LuPattern& pattern, double free_bytes, int multiprocessors)
{
    const DataflowPrediction predicted = predict_dataflow(pattern, multiprocessors);
    const GpuCost            dataflow = dataflow_cost<S>(pattern, predicted);
    return dataflow.bytes <= free_bytes ? dataflow : left_cost<S>(pattern, predicted);
}

template <Scalar S>
std::string why_cpu(const LuPattern& pattern, int threads, double systems, double free_bytes, int multiprocessors)
{
    const GpuCost gpu = gpu_cost<S>(pattern, free_bytes, multiprocessors);
    // Threads are asked only where the memory is there.
    const double cpu = gpu.bytes > free_bytes ? 0 : cpu_factor<S> * detail::expected_seconds(pattern, threads);
    return why_cpu(gpu, cpu, threads, systems, free_bytes);
}

template <Scalar S>
GpuCost gpu_cost(const FrontPlan& plan)
{
    return {.seconds = front_start + front_pivot * longest_path(plan.tree) + flops_of<S>(plan) / front_flops,
            .setup = front_setup,
            .bytes = bytes_of<S>(plan)};
}

template <Scalar S>
std::string why_cpu(const FrontPlan& plan, int threads, double systems, double free_bytes)
{
    return why_cpu(gpu_cost<S>(plan), flops_of<S>(plan) / (threads * cpu_thread_flops), threads, systems, free_bytes);
}

#define ILUX_INSTANTIATE(S)                                                      \
    template GpuCost     gpu_cost<S>(const LuPattern&, double, int);             \
    template std::string why_cpu<S>(const LuPattern&, int, double, double, int); \
    template GpuCost     gpu_cost<S>(const FrontPlan&);                          \
    template std::string why_cpu<S>(const FrontPlan&, int, double, double);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
