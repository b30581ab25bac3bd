#include "ilux/engine/stored_plan.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/report/lu_facts.hpp"

namespace ilux {
namespace {

FileTarget target_of(const std::string& file)
{
    FileTarget target(file);
    require(!target.direct(), [&] { return file + ": a plan is a regular file, which this is not"; });
    return target;
}

}  // namespace

template <Scalar S>
std::optional<LuPlan> load_plan(const CsrView<S>& A, const SolverOptions& options, std::vector<std::string>& decisions)
{
    const std::string& file = options.plan;
    if (file.empty()) return {};
    const FileTarget      target = target_of(file);
    const WallClock       clock;
    std::optional<LuPlan> plan = read_plan(target.path);
    if (!plan) {
        require_writable(target);
        return {};
    }
    require_plan_for<S>(*plan, view(A), within_memory(options.lu), file);
    decisions.push_back(fmt::format("plan: loaded from {} in {}; making it took {}", printable(file),
                                    time_text(clock.seconds()), time_text(plan->seconds)));
    return plan;
}

template <Scalar S>
std::string save_plan(const Lu<S>& lu, const LuSymbolic& symbolic, const LuOptions& made_with,
                      const SolverOptions& options, double seconds)
{
    const std::string name = printable(options.plan);
    if (!plan_serves(made_with, options.lu))
        return fmt::format("plan: {} was not written, as these pivots were chosen by other options than were asked for",
                           name);
    const FileTarget target = target_of(options.plan);
    if (std::filesystem::exists(target.path))
        return fmt::format("plan: {} was not written, as another process has done so meanwhile", name);
    LuSymbolic kept = symbolic;
    kept.options = options.lu;  // an analysis for a choice tries fewer orderings, and serves these options all the same
    LuPlan plan{.symbolic = std::make_shared<const LuSymbolic>(std::move(kept)), .pattern = {}};
    plan.seconds = symbolic.report.seconds;
    if (const LuPivots pivots = lu.pivots(); !pivots.fronts) {
        plan.pattern = pivots.pattern;
        plan.growth = pivots.growth;
        plan.seconds += seconds;
    }
    write_plan(target, plan);
    return fmt::format("plan: written to {}{}", name,
                       plan.pattern ? "" : ", without pivots, as numbers are by supernodes");
}

std::string no_plan_needed(const std::string& file)
{
    return fmt::format("plan: an iteration needs none, so {} has no effect unless an LU follows", printable(file));
}

#define ILUX_INSTANTIATE(S)                                                                                       \
    template std::optional<LuPlan> load_plan(const CsrView<S>&, const SolverOptions&, std::vector<std::string>&); \
    template std::string save_plan(const Lu<S>&, const LuSymbolic&, const LuOptions&, const SolverOptions&, double);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
