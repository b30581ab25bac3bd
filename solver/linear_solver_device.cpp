// LinearSolver for arrays in device memory.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux {
namespace {

std::vector<double> downloaded(Gpu& gpu, DeviceSpan<const double> device)
{
    std::vector<double> host(device.size());
    download<double>(gpu, device, host);
    return host;
}

}  // namespace

FactorReport LinearSolver::factor(Gpu& gpu, DeviceSpan<const double> values) { return factor(downloaded(gpu, values)); }

FactorReport LinearSolver::refactor(Gpu& gpu, DeviceSpan<const double> values)
{
    return refactor(downloaded(gpu, values));
}

SolverReport LinearSolver::solve(Gpu& gpu, DeviceSpan<const double> b, DeviceSpan<double> x)
{
    std::vector<double> host_x = downloaded(gpu, x);
    SolverReport        report = solve(downloaded(gpu, b), host_x);
    upload<double>(gpu, host_x, x);
    return report;
}

SolverReport LinearSolver::refactor_and_solve(Gpu& gpu, DeviceSpan<const double> values, DeviceSpan<const double> b,
                                              DeviceSpan<double> x)
{
    std::vector<double> host_x = downloaded(gpu, x);
    SolverReport        report = refactor_and_solve(downloaded(gpu, values), downloaded(gpu, b), host_x);
    upload<double>(gpu, host_x, x);
    return report;
}

}  // namespace ilux
