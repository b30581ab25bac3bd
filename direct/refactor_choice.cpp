#include "ilux/direct/refactor_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/direct/levels.hpp"
#include "ilux/direct/refactor_left.hpp"
#include "ilux/direct/refactor_schedule.hpp"

namespace ilux {

namespace {

using namespace refactor_rule;

GpuCost dots_cost(const LuPattern& pattern, Index depth)
{
    const double products = pattern.multiply_adds(), entries = double(pattern.nnz()) + double(pattern.nnz_F());
    const double tasks = products / task_products + entries / task_entries;
    return {.seconds = call_seconds + depth * level_seconds + tasks * task_seconds,
            .setup = products * setup_product + entries * setup_entry,
            .bytes = products * product_bytes + entries * entry_bytes};
}

GpuCost left_cost(const LuPattern& pattern, Index depth)
{
    Index longest = 0;
    for (Index k = 0; k < pattern.n; ++k) longest = std::max(longest, pattern.upper_count(k));
    return {.method = RefactorMethod::left,
            .seconds =
                call_seconds + depth * left_level + longest * left_update + pattern.multiply_adds() * left_product,
            .setup = double(pattern.nnz()) * left_setup_entry,
            .bytes = 24.0 * double(pattern.nnz()) + double(LeftTuning{}.work_bytes)};
}

}  // namespace

GpuCost gpu_cost(const LuPattern& pattern, double free_bytes)
{
    const Index   depth = lu_levels(pattern, DependencyRule::left).depth();
    const GpuCost dots = dots_cost(pattern, depth);
    return dots.setup <= most_setup && dots.bytes <= free_bytes ? dots : left_cost(pattern, depth);
}

std::string why_cpu(const LuPattern& pattern, int threads, double systems, double free_bytes)
{
    const GpuCost gpu = gpu_cost(pattern, free_bytes);
    if (gpu.bytes > free_bytes)
        return fmt::format("factors on a GPU would take about {:.2g} GB, {:.2g} GB are free", 1e-9 * gpu.bytes,
                           1e-9 * free_bytes);
    const double cpu = detail::expected_seconds(pattern, threads);
    if (cpu <= gpu.seconds)
        return fmt::format("{} threads refactor in about {:.2g} ms, a GPU in {:.2g} ms", threads, 1e3 * cpu,
                           1e3 * gpu.seconds);
    if (systems * (cpu - gpu.seconds) < gpu.setup)
        return fmt::format(
            "a GPU would save about {:.2g} ms a system, but {:.2g} s of preparation are too much for {:.0f} systems",
            1e3 * (cpu - gpu.seconds), gpu.setup, systems);
    return "";
}

}  // namespace ilux
