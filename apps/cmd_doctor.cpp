// ilux doctor: what this machine and this build offer, and whether they compute rightly.

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/report/environment.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/solver/calibration/calibration.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/engine/machine/host.hpp"
#include "ilux/engine/machine/machine_rates.hpp"

namespace ilux::app {
namespace {

std::string doctor_row(std::string_view head, std::string_view text) { return fmt::format("{:<12}{}\n", head, text); }

std::string machine_text()
{
    std::string text;
    for (const auto& [head, what] : environment_rows()) text += doctor_row(head, what);
    return text;
}

struct Check {
    std::string_view matrix;
    MethodChoice     method;
    PrecondKind      precond;
};

constexpr std::array<Check, 6> checks{{
    {"gallery:poisson2d:n=20", MethodChoice::gmres, PrecondKind::mlilu},
    {"gallery:poisson2d:n=20", MethodChoice::cg, PrecondKind::jacobi},
    {"gallery:poisson2d:n=20", MethodChoice::bicgstab, PrecondKind::ilu0},
    {"gallery:poisson2d:n=20", MethodChoice::fgmres, PrecondKind::none},
    {"gallery:poisson2d:n=20", MethodChoice::lu, PrecondKind::none},
    {"gallery:mna_random:n=200,decades=2", MethodChoice::lu, PrecondKind::none},
}};

/// Solves, then measures the error of x directly: x* = 1 is known, and the condition number is below 10³.
bool passes(DeviceChoice device, const Check& check, std::string& text)
{
    const Problem<> problem = load_problem(std::string(check.matrix), "A1");
    SolverOptions   options{.method = check.method, .device = device, .retry = false};
    options.precond.kind = check.precond;
    LinearSolver        solver(options);
    std::vector<double> x(problem.b.size());
    solver.analyse(problem.A);
    solver.factor();  // what became of it is told by solve
    const SolverReport report = solver.solve(problem.b, x);
    const Attempt&     tried = report.result();
    const double       error = forward_error(problem, x);
    const bool         passed = report.converged() && error <= 1e-4;
    const std::string  preconditioned = tried.plan.direct() ? "" : fmt::format(" with {}", field_text(check.precond));
    text = fmt::format("{}: {}{} on {}: {} in {} steps, error {:.1e}", tried.device.kind, field_text(check.method),
                       preconditioned, check.matrix, name(tried.report.outcome), tried.report.steps, error);
    return passed;
}

bool all_pass(DeviceChoice device)
{
    bool all = true;
    for (const Check& check : checks) {
        std::string text;
        const bool  passed = passes(device, check, text);
        write_out(doctor_row(passed ? "passed" : "FAILED", text));
        all = all && passed;
    }
    return all;
}

/// True as well where there is no GPU, or none that this build has code for.
bool all_pass_on_gpu()
{
    if (gpu_count() == 0) return true;
    try {
        const Gpu gpu;
    } catch (const DeviceError& error) {
        write_out(doctor_row("unusable", error.what()));
        return true;
    }
    try {
        return all_pass(DeviceChoice::gpu);
    } catch (const BrokenOutput&) {
        throw;
    } catch (const Error& error) {
        write_out(doctor_row("FAILED", error.what()));
        return false;
    }
}

/// Measures the rates of this machine, keeps them for later solves, and shows them.
void calibrate()
{
    const std::string file = rates_file();
    if (file.empty()) throw InvalidInput("neither XDG_CACHE_HOME nor HOME says where a calibration is to be kept");
    std::unique_ptr<Gpu> gpu;
    if (gpu_count() > 0) try {
            gpu = std::make_unique<Gpu>();
        } catch (const DeviceError& error) {
            write_out(doctor_row("unusable", error.what()));
        }
    Rates rates = calibrated(wall_clock_of_three(), gpu.get());
    save_rates(rates, file, cpu_name());
    const std::string text = doctor_row("calibrated", file);
    std::string       rows;
    for_each_field(rates, [&](const std::string& path, auto& value, Range, std::string_view help) {
        rows += doctor_row("", fmt::format("{:<17}{:<9.2g}{}", path, value, help));
    });
    write_out(text + rows);
}

}  // namespace

int doctor(Arguments arguments)
{
    auto app = parser("doctor",
                      "Says what this machine and this build offer, and solves small systems whose answers are known.");
    bool wants_rates = false;
    app->add_flag(
        "--calibrate", wants_rates,
        "measure, in a few seconds, what this machine takes for the work of each engine, and keep it in the user's "
        "cache folder: mode auto then chooses by these rates");
    if (!parse(*app, arguments)) return success;
    write_out(machine_text() + "\n");
    if (wants_rates) calibrate();
    else write_out(doctor_row("rates", machine_rates().origin));
    const bool on_host = all_pass(DeviceChoice::cpu), on_gpu = all_pass_on_gpu();
    const bool all = on_host && on_gpu;
    if (!all) complain("the self-test failed; please report the lines above");
    return all ? success : our_fault;
}

}  // namespace ilux::app
