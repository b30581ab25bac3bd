// ilux doctor: what this machine and this build offer, and whether they compute rightly.

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "ilux/apps/attempt.hpp"
#include "ilux/apps/command.hpp"
#include "ilux/apps/machine.hpp"
#include "ilux/apps/units.hpp"
#include "ilux/base/gpu.hpp"
#include "ilux/base/spmv.hpp"

namespace ilux::app {
namespace {

std::string row(std::string_view head, std::string_view text) { return fmt::format("{:<12}{}\n", head, text); }

std::string machine_rows()
{
    std::string text = row("ilux", ILUX_VERSION);
    text += row("compiler", compiler_name());
    text += row("build", fmt::format("{}, flags:{}", ILUX_BUILD_TYPE, std::string_view(" " ILUX_BUILD_FLAGS)));
    text += row("processor", fmt::format("{}, {} threads (OMP_NUM_THREADS, or all)", cpu_name(), Cpu().threads()));
    text += row("memory", fmt::format("{}, {} available", bytes_text(double(memory_bytes())),
                                      bytes_text(double(memory_available()))));
    text += row("BLAS", blas_name());
    text += row("CUDA build", built_with_cuda() ? "yes" : "no; -DILUX_CUDA=ON with nvcc on PATH makes one");
    const int gpus = gpu_count();
    if (gpus == 0) text += row("GPU", "none found");
    for (int k = 0; k < gpus; ++k) {
        const GpuMemory memory = gpu_memory(k);
        text +=
            row(fmt::format("GPU {}", k), fmt::format("{}, {}, {} free", gpu_name(k), bytes_text(double(memory.total)),
                                                      bytes_text(double(memory.free))));
    }
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
    fmt::print("{}\n", machine_rows());
    const bool on_host = all_pass({}), on_gpu = all_pass_on_gpu();
    const bool all = on_host && on_gpu;
    if (!all) fmt::print(stderr, "ilux: the self-test failed; please report the lines above\n");
    return all ? success : our_fault;
}

}  // namespace ilux::app
