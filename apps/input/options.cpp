#include "ilux/apps/input/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace ilux::app {
namespace {

template <class F>
std::string choices(const F& field)
{
    std::string text;
    if constexpr (NamedEnum<F>)
        for (auto name : names(field)) text += (text.empty() ? "" : "|") + std::string(name);
    else if constexpr (std::is_same_v<F, bool>) text = "on|off";
    return text;
}

/// What an option of an iteration says nothing to, where some iteration was taken; or "".
std::string_view idle_in_iteration(std::string_view path, const StrategiesTaken& taken)
{
    constexpr std::array<std::string_view, 3> of_restarts{"krylov.restart", "krylov.ortho", "krylov.reorthogonalize"};
    if (!taken.iterative) return "";
    if (path == "krylov.side" && !taken.gmres) return "a method other than GMRES";
    if (std::ranges::count(of_restarts, path) > 0 && !taken.restarted) return "a method without restarts";
    const bool of_mlilu =
        (path.starts_with("precond.") || path == "near_null") && path != "precond.kind" && path != "precond.precision";
    return of_mlilu && !taken.mlilu ? "a preconditioner other than the multilevel ILU" : "";
}

}  // namespace

std::vector<std::string> files_read(const SolveOptions& options)
{
    std::vector<std::string> names{options.rhs};
    if (!options.near_null.empty()) names.push_back(options.near_null);
    if (!options.plan.empty()) names.push_back(options.plan);
    return names;
}

void assign(SolveOptions& options, std::string_view assignment)
{
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos)
        throw InvalidOption(fmt::format("-p {}: expected PATH=VALUE, such as precond.drop_tol=1e-3", assignment));
    const auto path = assignment.substr(0, equals);
    set_field(options, path, assignment.substr(equals + 1));
}

void StrategiesTaken::add(const Attempt& tried)
{
    (tried.plan.direct() ? direct : iterative) = true;
    const bool on_gpu = tried.device.kind == "gpu", fgmres = tried.plan.method == MethodChoice::fgmres;
    gpu = gpu || on_gpu;
    gpu_lu = gpu_lu || (tried.plan.direct() && on_gpu);
    mlilu = mlilu || (!tried.plan.direct() && tried.plan.precond.kind == PrecondKind::mlilu);
    gmres = gmres || tried.plan.method == MethodChoice::gmres;
    restarted = restarted || gmres || fgmres;
}

std::vector<std::string> options_without_effect(const SolveOptions& options, const StrategiesTaken& taken, bool series)
{
    const bool                    direct = taken.direct && !taken.iterative;
    std::vector<std::string_view> ignored;
    if (direct) ignored = {"krylov.", "precond.", "sptrsv.", "sequence.", "near_null"};
    else if (!taken.direct && options.strategy() == SolverMode::iterative) ignored = {"lu."};
    constexpr std::array<std::string_view, 3> of_a_gpu{"lu.index", "lu.dependencies", "lu.deterministic"};
    const auto                                given = describe(options), defaults = describe(SolveOptions());
    std::vector<std::string>                  remarks;
    for (std::size_t k = 0; k < given.size(); ++k) {
        const std::string &path = given[k].path, &value = given[k].value;
        if (value == defaults[k].value) continue;
        if (direct && path == "krylov.rtol")
            remarks.push_back(fmt::format(
                "krylov.rtol={}: a direct solution is refined as far as it goes, and judged by its componentwise "
                "backward error",
                value));
        else if (direct && path == "method" && value != "lu")
            remarks.push_back(fmt::format("method={} is of an iteration, and none was asked for", value));
        else if (!series && path.starts_with("sequence."))
            remarks.push_back(fmt::format("{}={} has no effect on a single system", path, value));
        else if (taken.direct && !taken.gpu_lu && std::ranges::count(of_a_gpu, path) > 0)
            remarks.push_back(fmt::format("{}={} has no effect on an LU on the host", path, value));
        else if (const auto idle = idle_in_iteration(path, taken); !idle.empty())
            remarks.push_back(fmt::format("{}={} has no effect on {}", path, value, idle));
        else if (path == "krylov.reorthogonalize" && !direct && options.krylov.ortho == Orthogonalization::cgs2)
            remarks.push_back(fmt::format("{}={} has no effect on krylov.ortho=cgs2", path, value));
        else if (path == "device_memory" && direct && !taken.gpu)
            remarks.push_back(fmt::format("{}={} has no effect on the host", path, value));
        else if (std::ranges::any_of(ignored, [&](std::string_view prefix) { return path.starts_with(prefix); }))
            remarks.push_back(
                fmt::format("{}={} has no effect on {}", path, value, direct ? "a direct solution" : "an iteration"));
    }
    return remarks;
}

std::span<const ShortName> short_names()
{
    static constexpr std::array<ShortName, 12> all{{
        {"--rhs", "rhs", "Problem", "FILE|ones|random:SEED|A1"},
        {"--near-null", "near_null", "Problem", "FILE"},
        {"--method", "method", "Method"},
        {"--precond", "precond.kind", "Method"},
        {"--rtol", "krylov.rtol", "Method"},
        {"--max-steps", "krylov.max_steps", "Method"},
        {"--restart", "krylov.restart", "Method"},
        {"--plan", "plan", "Method", "FILE"},
        {"--retry", "retry", "Method"},
        {"--time-limit", "time_limit", "Method"},
        {"--device", "device", "Machine"},
        {"--threads", "threads", "Machine"},
    }};
    return all;
}

std::vector<FieldHelp> describe(SolveOptions options)
{
    std::vector<FieldHelp> all;
    for_each_field(options, [&](const std::string& path, auto& field, Range, std::string_view help) {
        all.push_back({path, std::string(help), field_text(field), choices(field)});
    });
    return all;
}

std::vector<std::string> changed_options(const SolveOptions& options, const SolveOptions& defaults)
{
    const auto               given = describe(options), standard = describe(defaults);
    std::vector<std::string> changed;
    for (std::size_t k = 0; k < given.size(); ++k)
        if (given[k].value != standard[k].value) changed.push_back(given[k].path + "=" + given[k].value);
    return changed;
}

}  // namespace ilux::app
