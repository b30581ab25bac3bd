#include "ilux/solver/policy/choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/solver/machine/memory_guard.hpp"
#include "ilux/solver/report/lu_facts.hpp"
#include "ilux/solver/strategy/analysis_limits.hpp"

namespace ilux {
namespace {

using namespace forecast_rule;

constexpr Offset tiny_nnz = 5000;          // of A; below, an LU is done before a choice is
constexpr Offset screened_nnz = 20'000;    // of A; from here on AMD alone is asked first
constexpr double nearly_symmetric = 0.95;  // share of mirrored entries
constexpr double flops_for_others = 5000;  // an entry of A; from here on the full analysis pays for a single system

/// ", for 3 systems of 100 right-hand sides each"
std::string amount(const Ahead& ahead)
{
    std::string text = ahead.systems > 1 ? fmt::format(", for {:g} systems", ahead.systems) : "";
    if (ahead.columns == 1) return text;
    return text + fmt::format("{} {:g} right-hand sides{}", text.empty() ? ", for" : " of", ahead.columns,
                              text.empty() ? "" : " each");
}

std::string figures(const Forecast& direct, const Forecast& iterative, const Ahead& ahead)
{
    return fmt::format("LU {}, multilevel ILU with its iteration {}{}", time_text(direct.of(ahead)),
                       time_text(iterative.of(ahead)), amount(ahead));
}

/// Seconds of an LU by another order than AMD's, at least. @param factor  seconds by AMD's
template <Scalar S>
double by_other_orders(const CsrView<S>& A, double factor)
{
    return analysis_per_entry * double(A.nnz()) + factor / ordering_gains;
}

/// Whether AMD's own counts leave LU no hope, whatever the ordering.
template <Scalar S>
bool hopeless(const CsrView<S>& A, const Ahead& ahead, const StopToken& stop, Choice& choice)
{
    if (A.nnz() < screened_nnz) return false;
    AmdCounts amd;
    fill_reducing_order({A.rows(), A.row_ptr(), A.col()}, Ordering::amd, &amd, stop);
    if (amd.symmetry < nearly_symmetric) return false;
    const double flops = 2 * amd.multiply_adds, factor = factor_per_flop * flops;
    const double least = std::min(factor, by_other_orders(A, factor));
    if (least < choice.iterative.of(ahead)) return false;
    choice.direct = false;
    choice.lu_at_best = least;
    choice.lu = Forecast{.analyse = analysis_per_entry * double(A.nnz()),
                         .factor = factor,
                         .renew = refactor_per_flop * flops,
                         .solve = solve_per_entry * 2 * amd.nnz_L};
    choice.decisions.push_back(fmt::format(
        "iterative: AMD's order leads to {:.2g} flops in an LU, {} even if another order has {:g} times fewer; about {} by "
        "multilevel ILU and iteration",
        flops, time_text(least), ordering_gains, time_text(choice.iterative.of(ahead))));
    return true;
}

/// By AMD first, where the ordering is left to us; then by all orderings, if that may change the answer or pays.
template <Scalar S>
void analyse_as_far_as_needed(const CsrView<S>& A, const SolverOptions& options, const Ahead& ahead,
                              const StopToken& stop, Choice& choice)
{
    const LuOptions& lu = options.lu;
    const Cpu        cpu(options.threads);
    LuOptions        first = within_memory(lu);
    const bool       automatic = lu.ordering == LuOrdering::automatic;
    if (automatic && ahead.systems == 1) first.ordering = LuOrdering::amd;
    choice.symbolic = analyse<S>(view(A), first, stop, cpu);
    choice.lu = forecast_direct(*choice.symbolic);
    if (first.ordering == lu.ordering) return;
    const double flops = choice.symbolic->report.flops;
    const bool   many = flops > flops_for_others * double(A.nnz());
    if (!many || by_other_orders(A, choice.lu->factor) > choice.iterative.of(ahead)) return;
    first.ordering = LuOrdering::automatic;
    const double before = choice.lu->analyse;
    choice.symbolic = analyse<S>(view(A), first, stop, cpu);
    choice.lu = forecast_direct(*choice.symbolic);
    choice.lu->analyse += before;
}

template <Scalar S>
void decide(const SolverOptions& options, const Ahead& ahead, Choice& choice)
{
    const LuSymbolicReport& report = choice.symbolic->report;
    const auto              no = [&](std::string why) {
        choice.direct = choice.direct_possible = false;
        choice.decisions.push_back("iterative: " + std::move(why));
    };
    if (report.structural_rank < choice.symbolic->n)
        return no(fmt::format("A is structurally singular, rank {} of {}, so that it has no LU", report.structural_rank,
                              choice.symbolic->n));
    if (const auto why = lack_of_memory([&] { require_memory(*choice.symbolic, options.lu, sizeof(S)); }))
        return no(*why);
    Forecast lu = *choice.lu;
    lu.analyse = 0;  // spent whatever follows
    choice.direct = lu.of(ahead) <= choice.iterative.of(ahead);
    choice.lu_at_best = lu.of(1);
    choice.decisions.push_back(fmt::format("{}: {:.3g} entries in L + U and {:.2g} flops, about {}",
                                           choice.direct ? "direct" : "iterative", report.nnz, report.flops,
                                           figures(lu, choice.iterative, ahead)));
}

template <Scalar S>
IterationFacts facts_of_iteration(const CsrView<S>& A, const SolverOptions& options, bool gpu)
{
    Cpu        cpu(options.threads);
    const bool mlilu = options.precond.kind == PrecondKind::mlilu;
    return {.entries = double(A.nnz()) + A.rows(),
            .rounds = mlilu && rounds_are_likely(cpu, A, options.precond.mlilu),
            .threads = cpu.threads(),
            .gpu = gpu,
            .gpu_rounds = gpu};
}

}  // namespace

template <Scalar S>
Choice choose_strategy(const CsrView<S>& A, const SolverOptions& options, const Ahead& ahead, bool gpu,
                       const StopToken& stop, std::shared_ptr<const LuSymbolic> stored)
{
    Choice choice;
    choice.iterative = forecast_iterative(facts_of_iteration(A, options, gpu));
    const auto no_lu = [&](std::string why) {
        choice.symbolic.reset();
        choice.direct = choice.direct_possible = false;
        choice.decisions.push_back("iterative: " + std::move(why));
    };
    if (has_fewer_entries_than_rows(A)) return choice;  // LU says so, and nothing else is tried
    if (A.nnz() <= tiny_nnz) {
        choice.decisions.push_back(
            fmt::format("direct: an LU of so small a system, nnz {}, takes no longer than a choice", A.nnz()));
        return choice;
    }
    try {
        const auto why = lack_of_memory([&] {
            if (stored) {
                choice.lu = forecast_direct(*stored);
                choice.symbolic = std::move(stored);
            } else {
                if (hopeless(A, ahead, stop, choice)) return;
                analyse_as_far_as_needed(A, options, ahead, stop, choice);
            }
            decide<S>(options, ahead, choice);
        });
        if (why) no_lu("the analysis of an LU found no memory: " + *why);
    } catch (const Stopped& told) {
        no_lu(told.what());
    }
    return choice;
}

#define ILUX_INSTANTIATE(S)                                                                                        \
    template Choice choose_strategy(const CsrView<S>&, const SolverOptions&, const Ahead&, bool, const StopToken&, \
                                    std::shared_ptr<const LuSymbolic>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
