// LinearSolver for arrays in device memory.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux {
namespace {

template <Scalar S>
std::vector<S> downloaded(Gpu& gpu, DeviceSpan<const S> device)
{
    std::vector<S> host(device.size());
    download<S>(gpu, device, host);
    return host;
}

}  // namespace

template <Scalar S>
FactorReport LinearSolver<S>::factor(Gpu& gpu, DeviceSpan<const S> values)
{
    return factor(downloaded<S>(gpu, values));
}

template <Scalar S>
FactorReport LinearSolver<S>::refactor(Gpu& gpu, DeviceSpan<const S> values)
{
    return refactor(downloaded<S>(gpu, values));
}

template <Scalar S>
SolverReport LinearSolver<S>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> x)
{
    std::vector<S> host_x = downloaded<S>(gpu, x);
    SolverReport   report = solve(downloaded<S>(gpu, b), host_x);
    upload<S>(gpu, host_x, x);
    return report;
}

template <Scalar S>
SolverReport LinearSolver<S>::refactor_and_solve(Gpu& gpu, DeviceSpan<const S> values, DeviceSpan<const S> b,
                                                 DeviceSpan<S> x)
{
    std::vector<S> host_x = downloaded<S>(gpu, x);
    SolverReport   report = refactor_and_solve(downloaded<S>(gpu, values), downloaded<S>(gpu, b), host_x);
    upload<S>(gpu, host_x, x);
    return report;
}

#define ILUX_INSTANTIATE(S)                                                                                   \
    template FactorReport LinearSolver<S>::factor(Gpu&, DeviceSpan<const S>);                                 \
    template FactorReport LinearSolver<S>::refactor(Gpu&, DeviceSpan<const S>);                               \
    template SolverReport LinearSolver<S>::solve(Gpu&, DeviceSpan<const S>, DeviceSpan<S>);                   \
    template SolverReport LinearSolver<S>::refactor_and_solve(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>, \
                                                              DeviceSpan<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
