// ilux doctor: what this machine and this build offer, and whether they compute rightly.

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "ilux/apps/attempt.hpp"
#include "ilux/apps/command.hpp"
#include "ilux/apps/environment.hpp"
#include "ilux/base/gpu.hpp"
#include "ilux/base/spmv.hpp"

namespace ilux::app {
namespace {

std::string row(std::string_view head, std::string_view text) { return fmt::format("{:<12}{}\n", head, text); }

std::string machine_text()
{
    std::string text;
    for (const auto& [head, what] : environment_rows()) text += row(head, what);
    return text;
}

struct Check {
    std::string_view matrix;
    MethodChoice     method;
    PrecondKind      precond;
};

constexpr std::array<Check, 4> checks{{
    {"gallery:poisson2d:n=20", MethodChoice::gmres, PrecondKind::mlilu},
    {"gallery:poisson2d:n=20", MethodChoice::cg, PrecondKind::jacobi},
    {"gallery:poisson2d:n=20", MethodChoice::bicgstab, PrecondKind::ilu0},
    {"gallery:poisson2d:n=20", MethodChoice::fgmres, PrecondKind::none},
}};

/// Solves, then measures the error of x directly: x* = 1 is known, and the condition number is below 10³.
bool passes(Machine& machine, const Check& check, std::string& text)
{
    const Problem problem = load_problem(std::string(check.matrix), "A1");
    ProgressLine  silent(false);
    Plan          plan{.method = check.method, .precond = {}, .change = ""};
    plan.precond.kind = check.precond;
    const Attempt tried = run_attempt(machine, problem, plan, {}, norm_frobenius(problem.A), silent, false);
    const double  error = forward_error(problem, tried.x);
    const bool    passed = tried.report.outcome == Outcome::converged && error <= 1e-4;
    text =
        fmt::format("{}: {} with {} on {}: {} in {} steps, error {:.1e}", tried.device.kind, field_text(check.method),
                    field_text(check.precond), check.matrix, name(tried.report.outcome), tried.report.steps, error);
    return passed;
}

bool all_pass(Machine machine)
{
    bool all = true;
    for (const Check& check : checks) {
        std::string text;
        const bool  passed = passes(machine, check, text);
        fmt::print("{}", row(passed ? "passed" : "FAILED", text));
        all = all && passed;
    }
    return all;
}

/// True as well where there is no GPU, or none that this build has code for.
bool all_pass_on_gpu()
{
    if (gpu_count() == 0) return true;
    Machine machine;
    try {
        machine.gpu = std::make_unique<Gpu>();
    } catch (const DeviceError& error) {
        fmt::print("{}", row("unusable", error.what()));
        return true;
    }
    try {
        return all_pass(std::move(machine));
    } catch (const Error& error) {
        fmt::print("{}", row("FAILED", error.what()));
        return false;
    }
}

}  // namespace

int doctor(Arguments arguments)
{
    auto app = parser("doctor",
                      "Says what this machine and this build offer, and solves small systems whose answers are known.");
    if (!parse(*app, arguments)) return success;
    fmt::print("{}\n", machine_text());
    const bool on_host = all_pass({}), on_gpu = all_pass_on_gpu();
    const bool all = on_host && on_gpu;
    if (!all) fmt::print(stderr, "ilux: the self-test failed; please report the lines above\n");
    return all ? success : our_fault;
}

}  // namespace ilux::app
