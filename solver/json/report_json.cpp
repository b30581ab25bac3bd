#include "ilux/solver/json/report_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "ilux/base/fields.hpp"
#include "ilux/solver/json/json_number.hpp"
#include "ilux/engine/machine/machine_rates.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

Json level_json(const MlIluLevelReport& level)
{
    return {{"n", level.n},
            {"accepted", level.accepted},
            {"postponed", level.postponed},
            {"rounds", level.rounds},
            {"nnz_L", level.nnz_L},
            {"nnz_U", level.nnz_U},
            {"nnz_G", level.nnz_G},
            {"nnz_F", level.nnz_F},
            {"inverse_L", json_number(level.inverse_L)},
            {"inverse_U", json_number(level.inverse_U)},
            {"depth_L", level.depth_L},
            {"depth_U", level.depth_U}};
}

Json seconds_json(const RoundSeconds& seconds)
{
    return {{"sets", seconds.sets},
            {"eliminate", seconds.eliminate},
            {"assemble", seconds.assemble},
            {"tail", seconds.tail}};
}

Json mlilu_json(const MlIluReport& report)
{
    Json levels = Json::array();
    for (const MlIluLevelReport& level : report.levels) levels.push_back(level_json(level));
    return {{"fill", json_number(report.fill)},
            {"dense", report.dense},
            {"damping", report.damping},
            {"structural_rank", report.structural_rank ? Json(*report.structural_rank) : Json(nullptr)},
            {"deficiency", report.deficiency},
            {"replayed", report.replayed},
            {"seconds", seconds_json(report.seconds_rounds)},
            {"levels", levels}};
}

std::string precond_of(const Plan& plan)
{
    return plan.method == MethodChoice::lu ? "none" : field_text(plan.precond.kind);
}

Json gpu_json(const GpuReport& report)
{
    Json systems = Json::array();
    for (const auto& [facts, engine] : report.systems)
        systems.push_back({{"engine", field_text(engine)},
                           {"n", facts.n},
                           {"nnz", facts.nnz},
                           {"depth", facts.depth},
                           {"longest_row", facts.longest_row}});
    return {{"precision", field_text(report.precision)}, {"systems", systems}, {"dense", report.dense}};
}

Json attempt_json(const Attempt& tried)
{
    return {{"change", tried.plan.change},
            {"device", tried.device.kind},
            {"method", field_text(tried.plan.method)},
            {"precond", precond_of(tried.plan)},
            {"drop_tol", tried.plan.precond.mlilu.drop_tol},
            {"schur_drop_tol", tried.plan.precond.mlilu.tau_S()},
            {"inverse_bound", json_number(tried.plan.precond.mlilu.inverse_bound)},
            {"outcome", name(tried.report.outcome)},
            {"detail", tried.why()},
            {"steps", tried.report.steps},
            {"relative_residual", json_number(tried.report.relative_residual)},
            {"fill", json_number(tried.fill)},
            {"seconds", tried.seconds}};
}

Json seconds_json(const SolverReport& report)
{
    const Attempt&      result = report.result();
    const SolveSeconds& solve = result.report.seconds;
    return {{"analyse", result.seconds_analyse},
            {"factor", result.seconds_factor},
            {"transfer", result.gpu ? result.gpu->seconds_transfer : 0.0},
            {"solve", solve.solve},
            {"spmv", solve.spmv},
            {"precond", solve.precond},
            {"ortho", solve.ortho},
            {"other", solve.other()},
            {"total", report.seconds}};
}

/// Facts of the result, or else of the last try that has them: both strategies may have been tried.
template <class Facts>
std::optional<Facts> last_of(const SolverReport& report, std::optional<Facts> Attempt::*facts)
{
    if (report.result().*facts) return report.result().*facts;
    for (auto tried = report.attempts.rbegin(); tried != report.attempts.rend(); ++tried)
        if ((*tried).*facts) return (*tried).*facts;
    return std::nullopt;
}

}  // namespace

nlohmann::ordered_json error_json(const Accuracy& accuracy)
{
    if (std::isnan(accuracy.error)) return nullptr;
    return {{"max_norm", json_number(accuracy.error)},
            {"worst", json_number(accuracy.worst_error)},
            {"worst_unknown", accuracy.worst < 0 ? Json(nullptr) : Json(accuracy.worst)},
            {"uncertain", accuracy.uncertain}};
}

nlohmann::ordered_json lu_json(const LuFacts& lu)
{
    return {{"nnz", lu.nnz},
            {"nnz_F", lu.nnz_F},
            {"fill", lu.fill},
            {"flops", lu.flops},
            {"levels", lu.levels},
            {"refactor", lu.refactor},
            {"repivots", lu.repivots},
            {"growth", json_number(lu.growth)},
            {"rcond", json_number(lu.rcond)},
            {"condition", json_number(lu.condition)},
            {"refine_steps", lu.refine_steps},
            {"ordering", field_text(lu.symbolic.ordering)},
            {"matched", lu.symbolic.matched},
            {"structural_rank", lu.symbolic.structural_rank},
            {"blocks", lu.symbolic.blocks},
            {"largest_block", lu.symbolic.largest_block},
            {"predicted_nnz", lu.symbolic.nnz},
            {"predicted_flops", lu.symbolic.flops}};
}

/// Facts and, by the rates in use, what follows from them.
Json choice_json(const ChoiceFacts& facts)
{
    const Expected expected = expect(facts, machine_rates());
    const auto     seconds = [](const Forecast& one) {
        return Json{{"analyse", one.analyse}, {"factor", one.factor}, {"renew", one.renew}, {"solve", one.solve}};
    };
    const auto& [lu, iteration, place, ahead, estimated] = facts;
    return {{"direct", expected.take_lu},
            {"odds", expected.odds},
            {"rates", machine_rates().origin},
            {"place", {{"threads", place.threads}, {"gpu", place.gpu}}},
            {"lu",
             {{"seconds", seconds(expected.lu)},
              {"entries", lu.entries},
              {"arcs", lu.arcs},
              {"nnz", lu.nnz},
              {"flops", lu.flops},
              {"complex", lu.complex},
              {"matched", lu.matched},
              {"estimated", estimated},
              {"analysed", lu.analysis_seconds >= 0}}},
            {"iteration",
             {{"seconds", seconds(expected.iterative)},
              {"entries", iteration.entries},
              {"rounds", iteration.rounds},
              {"gpu_rounds", iteration.gpu_rounds},
              {"coarse", iteration.coarse},
              {"dominant", iteration.dominant},
              {"heavy", iteration.heavy},
              {"positive", iteration.positive},
              {"fill", iteration.fill},
              {"hopeless", iteration.hopeless},
              {"coupling", json_number(iteration.coupling)},
              {"complex", iteration.complex},
              {"rows", iteration.rows},
              {"radius", iteration.radius},
              {"hermitian", iteration.hermitian},
              {"jacobi", iteration.jacobi}}}};
}

nlohmann::ordered_json to_json(const SolverReport& report)
{
    const Attempt&         result = report.result();
    const IterationReport& solve = result.report;
    Json                   json;
    json["method"] = field_text(result.plan.method);
    json["precond"] = precond_of(result.plan);
    json["device"] = {{"kind", result.device.kind}, {"name", result.device.name}, {"threads", result.device.threads}};
    json["outcome"] = name(report.outcome());
    json["detail"] = report.why();
    json["warning"] = result.warning;
    json["steps"] = solve.steps;
    json["relative_residual"] = json_number(solve.relative_residual);
    json["backward_error"] = json_number(solve.backward_error);
    json["componentwise_error"] = json_number(result.accuracy.rowwise);
    json["estimated_error"] = error_json(result.accuracy);
    json["seconds"] = seconds_json(report);
    json["memory_bytes"] = {{"factors", result.factor_bytes},
                            {"workspace", result.workspace_bytes},
                            {"peak_device", result.gpu ? result.gpu->peak_bytes : 0}};
    const auto mlilu = last_of(report, &Attempt::mlilu);
    const auto lu = last_of(report, &Attempt::lu);
    json["mlilu"] = mlilu ? mlilu_json(*mlilu) : Json(nullptr);
    json["lu"] = lu ? lu_json(*lu) : Json(nullptr);
    json["gpu"] = result.gpu ? gpu_json(*result.gpu) : Json(nullptr);
    json["choice"] = report.choice ? choice_json(*report.choice) : Json(nullptr);
    json["decisions"] = all_decisions(report);
    json["attempts"] = Json::array();
    for (const Attempt& tried : report.attempts) json["attempts"].push_back(attempt_json(tried));
    return json;
}

}  // namespace ilux
