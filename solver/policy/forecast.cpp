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

Forecast forecast_iterative(const IterationFacts& facts)
{
    constexpr double steps = 10;
    const double     shared = facts.rounds ? serial_share + (1 - serial_share) / facts.threads : 1;
    const double     on_host = iteration_per_entry * facts.entries;
    Forecast         ahead;
    if (!facts.rounds) ahead.factor = setup_per_entry * facts.entries;
    else if (facts.gpu_rounds) ahead.factor = gpu_rounds_seconds + gpu_rounds_per_entry * facts.entries;
    else ahead.factor = shared * rounds_per_entry * facts.entries;
    ahead.renew = (facts.rounds ? replay_share : 1) * ahead.factor / systems_a_preconditioner;
    ahead.solve = facts.gpu
                      ? steps * device_rule::launch_seconds + on_host * device_rule::host_rate / device_rule::gpu_rate
                      : shared * on_host;
    return ahead;
}

}  // namespace ilux
