#include "ilux/direct/supernodal/front_choice.hpp"

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/direct/supernodal/blas.hpp"

namespace ilux {
namespace {

// Fronts are dense, cost a little each, and have the flops of a symmetric pattern. The more flops there are for an entry, the larger the
// fronts and the faster their flops: of 144 real matrices, those above the limit were factored faster by fronts, but for one that lost
// 11 to 16 %.
constexpr double flops_an_entry = 50;  // divided by how many times the flops fronts take
constexpr double least_flops = 2e6;

}  // namespace

FrontChoice choose_fronts(Cpu& be, const LuSymbolic& symbolic, LuSupernodes wanted)
{
    const auto& report = symbolic.report;
    if (wanted == LuSupernodes::off) return {.plan = {}, .why = "by entries: lu.supernodes=off"};
    if (const RefactorMethod method = symbolic.options.refactor; is_of_gpu(method))
        return {.plan = {}, .why = fmt::format("by entries: lu.refactor={}", name(method))};
    const double an_entry = report.nnz > 0 ? report.flops / report.nnz : 0;
    if (wanted == LuSupernodes::automatic && (an_entry < flops_an_entry || report.flops < least_flops))
        return {.plan = {}, .why = fmt::format("by entries: {:.3g} flops, {:.3g} an entry", report.flops, an_entry)};
    if (const std::string why = blas::why_none(); !why.empty()) {
        if (wanted == LuSupernodes::on) throw InvalidOption("lu.supernodes=on: " + why);
        return {.plan = {}, .why = "by entries: " + why};
    }
    auto         plan = make_front_plan(be, symbolic);
    const double flops = 2 * plan->multiply_adds;
    if (wanted == LuSupernodes::automatic && an_entry * report.flops < flops_an_entry * flops)
        return {.plan = {},
                .why = fmt::format("by entries: {:.3g} flops; supernodes, of a symmetric pattern, take {:.3g}",
                                   report.flops, flops)};
    return {.plan = plan,
            .why = fmt::format("by {} supernodes: {:.3g} flops on {:.3g} numbers, by entries {:.3g} on {:.3g}",
                               plan->fronts(), flops, static_cast<double>(plan->numbers()), report.flops, report.nnz)};
}

}  // namespace ilux
