#include "ilux/solver/compare/strategy_row.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ilux/base/instances.hpp"
#include "ilux/solver/json/json_number.hpp"
#include "ilux/engine/report/accuracy.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

/// What a run cannot change, whatever its program answers.
constexpr std::array<std::string_view, 9> fixed{"matrix",    "n",   "nnz",      "complex", "symmetric",
                                                "hermitian", "rhs", "strategy", "device"};

/// Setup is all that comes before the first solve.
void add_sums(Json& seconds)
{
    const auto sum = [&](std::initializer_list<const char*> parts) {
        Json total;
        for (const char* part : parts)
            if (seconds[part].is_number())
                total = seconds[part].get<double>() + (total.is_null() ? 0 : total.get<double>());
        return total;
    };
    seconds["setup"] = sum({"analyse", "factor", "transfer"});
    seconds["total"] = seconds["solve"].is_null() ? Json() : sum({"setup", "solve"});
}

}  // namespace

Json strategy_row(const Strategy& strategy)
{
    const bool direct = strategy.name == "direct";
    Json       row{{"strategy", strategy.name},
             {"method", direct ? Json("lu") : Json(nullptr)},
             {"precond", direct                     ? Json("none")
                               : strategy.precond.empty() ? Json(nullptr)
                                                          : Json(strategy.precond)},
             {"device", strategy.device}};
    for (const char* key : {"outcome", "detail", "steps", "relative_residual", "backward_error", "tested_residual"})
        row[key] = nullptr;
    for (const char* part : {"analyse", "factor", "transfer", "setup", "refactor", "solve", "total"})
        row["seconds"][part] = nullptr;
    return row;
}

void add_finding(Json& row, const Json& finding)
{
    for (const auto& [key, value] : finding.items()) {
        if (key == "begin" || std::ranges::count(fixed, key) > 0) continue;
        if (key == "seconds" && value.is_object()) row["seconds"].update(value);
        else if (key != "seconds") row[key] = value;
    }
    add_sums(row["seconds"]);
}

template <Scalar S>
void judge(Json& row, const CsrView<S>& A, std::span<const NotDeduced<S>> b, std::span<const NotDeduced<S>> x,
           double rtol)
{
    const Accuracy errors = measure<S>(A, x, b);
    row["relative_residual"] = errors.finite ? json_number(errors.relative_residual) : Json(nullptr);
    row["backward_error"] = errors.finite ? json_number(errors.backward_error) : Json(nullptr);
    const bool holds = errors.finite && errors.relative_residual <= rtol;
    if (holds) row["outcome"] = name(Outcome::converged);
    else if (row["outcome"] == name(Outcome::converged)) {
        row["outcome"] = name(errors.finite ? Outcome::stagnated : Outcome::not_finite);
        row["detail"] = fmt::format("it called itself converged, but ‖b − A x‖₂ is not ≤ {:g}·‖b‖₂", rtol);
    }
}

#define ILUX_INSTANTIATE(S) \
    template void judge(Json&, const CsrView<S>&, std::span<const S>, std::span<const S>, double);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
