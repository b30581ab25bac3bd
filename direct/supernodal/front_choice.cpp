#include "ilux/direct/supernodal/front_choice.hpp"

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/direct/supernodal/blas.hpp"

namespace ilux {
namespace {

// Fronts are dense, cost a little each, and have the flops of a symmetric pattern. Of 144 real matrices, those above
// the limit, which is divided by how many times the flops fronts take, were factored faster by fronts, but for one that
// lost 11 to 16 %.
constexpr double flops_an_entry = least_front_flops_an_entry, least_flops = least_front_flops;

// Seconds of a refactorization and a solve on an H200, where many systems let what is made before count for little.
// These rules put each of 60 real matrices with 3·10⁵ to 2·10⁹ flops where it was faster, but for one where both take
// the same time.
constexpr double gpu_entry_flop = 12.5e-12, gpu_front_flop = 2e-12, gpu_fronts = 1.5e-3;

bool many_on_gpu(const LuSymbolic& symbolic) { return symbolic.options.order_for == LuOrderFor::gpu; }

/// Why entries are expected to be faster than `front_flops` flops of fronts, of which only a lower bound may be known;
/// or "".
std::string why_entries(const LuSymbolic& symbolic, double front_flops)
{
    const auto&  report = symbolic.report;
    const double an_entry = report.nnz > 0 ? report.flops / report.nnz : 0;
    if (many_on_gpu(symbolic)) {
        const double entries = report.flops * gpu_entry_flop, fronts = gpu_fronts + front_flops * gpu_front_flop;
        if (entries < fronts)
            return fmt::format("{:.3g} flops, some {:.2g} ms on a GPU and {:.2g} by supernodes", report.flops,
                               1e3 * entries, 1e3 * fronts);
    } else if (report.flops < least_flops || an_entry < flops_an_entry) {
        return fmt::format("{:.3g} flops, {:.3g} an entry", report.flops, an_entry);
    } else if (an_entry * report.flops < flops_an_entry * front_flops) {
        return fmt::format("{:.3g} flops; supernodes, of a symmetric pattern, take {:.3g}", report.flops, front_flops);
    }
    return "";
}

}  // namespace

FrontChoice choose_fronts(Cpu& be, const LuSymbolic& symbolic, LuSupernodes wanted)
{
    const auto& report = symbolic.report;
    if (wanted == LuSupernodes::off) return {.plan = {}, .why = "by entries: lu.supernodes=off"};
    if (const RefactorMethod method = symbolic.options.refactor; is_of_gpu(method))
        return {.plan = {}, .why = fmt::format("by entries: lu.refactor={}", name(method))};
    const auto by_entries = [&](double front_flops) {
        return wanted == LuSupernodes::automatic ? why_entries(symbolic, front_flops) : "";
    };
    if (const std::string why = by_entries(0); !why.empty()) return {.plan = {}, .why = "by entries: " + why};
    if (const std::string why = blas::why_none(); !why.empty()) {
        if (wanted == LuSupernodes::on) throw InvalidOption("lu.supernodes=on: " + why);
        return {.plan = {}, .why = "by entries: " + why};
    }
    auto         plan = make_front_plan(be, symbolic);
    const double flops = 2 * plan->multiply_adds;
    if (const std::string why = by_entries(flops); !why.empty()) return {.plan = {}, .why = "by entries: " + why};
    return {.plan = plan,
            .why = fmt::format("by {} supernodes: {:.3g} flops on {:.3g} numbers, by entries {:.3g} on {:.3g}",
                               plan->fronts(), flops, static_cast<double>(plan->numbers()), report.flops, report.nnz)};
}

}  // namespace ilux
