#include "ilux/solver/policy/forecast.hpp"

#include "ilux/solver/machine/device.hpp"

namespace ilux {

using namespace forecast_rule;

Forecast forecast_direct(const LuSymbolic& symbolic)
{
    const LuSymbolicReport& report = symbolic.report;
    const double            flops = report.flops * (report.matched ? pivoting_adds : 1);
    const double            entries = report.nnz + double(symbolic.input_nnz);
    return {.analyse = report.seconds,
            .factor = factor_per_flop * flops + (factor_per_entry + checks_per_entry) * entries,
            .renew = refactor_per_flop * flops + solve_per_entry * entries,
            .solve = solve_per_entry * entries};
}

Forecast forecast_iterative(const CsrView<double>& A, bool gpu)
{
    constexpr double steps = 10;
    const double     entries = double(A.nnz()) + A.rows();
    const double     on_host = iteration_per_entry * entries;
    return {.analyse = 0,
            .factor = setup_per_entry * entries,
            .renew = setup_per_entry * entries / systems_a_preconditioner,
            .solve =
                gpu ? steps * device_rule::launch_seconds + on_host * device_rule::host_rate / device_rule::gpu_rate
                    : on_host};
}

}  // namespace ilux
