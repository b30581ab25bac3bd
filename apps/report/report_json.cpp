#include "ilux/apps/report/report_json.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "ilux/apps/input/options_json.hpp"
#include "ilux/apps/program/exit_code.hpp"
#include "ilux/apps/report/advice.hpp"
#include "ilux/apps/report/report_text.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/solver/json/json_number.hpp"
#include "ilux/solver/json/report_json.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// In this order they are written.
constexpr std::array<const char*, 27> report_keys{"version",
                                                  "matrix",
                                                  "rhs",
                                                  "method",
                                                  "precond",
                                                  "device",
                                                  "outcome",
                                                  "exit_code",
                                                  "message",
                                                  "detail",
                                                  "warning",
                                                  "steps",
                                                  "relative_residual",
                                                  "backward_error",
                                                  "componentwise_error",
                                                  "estimated_error",
                                                  "forward_error",
                                                  "seconds",
                                                  "memory_bytes",
                                                  "mlilu",
                                                  "lu",
                                                  "gpu",
                                                  "choice",
                                                  "decisions",
                                                  "advice",
                                                  "attempts",
                                                  "options"};

/// Reports of several right-hand sides, in the order of the columns.
Json columns_json(const Run& run)
{
    Json all = Json::array();
    for (std::size_t k = 0; k < run.columns.size(); ++k) all.push_back(nullptr);
    for (const ColumnReport& one : run.columns) {
        const Attempt& result = one.report.result();
        all[one.column] = {{"column", one.column + 1},
                           {"outcome", name(one.report.outcome())},
                           {"exit_code", static_cast<int>(exit_code(one.report.outcome()))},
                           {"begun", one.report.begun},
                           {"message", outcome_line(one.report)},
                           {"method", field_text(result.plan.method)},
                           {"steps", result.report.steps},
                           {"relative_residual", json_number(result.report.relative_residual)},
                           {"backward_error", json_number(result.report.backward_error)},
                           {"componentwise_error", json_number(result.accuracy.rowwise)},
                           {"estimated_error", error_json(result.accuracy)},
                           {"attempts", one.report.attempts.size()},
                           {"seconds", one.report.seconds}};
    }
    return all;
}

/// What the program knows besides the solver's report.
Json program_json(const Run& run, const ProblemFacts& problem)
{
    Json json;
    json["version"] = ILUX_VERSION;
    json["matrix"] = {{"name", problem.name},
                      {"about", problem.about},
                      {"n", problem.n()},
                      {"nnz", problem.nnz},
                      {"complex", problem.complex},
                      {"symmetric", problem.symmetric},
                      {"hermitian", problem.hermitian},
                      {"pattern_symmetric", problem.pattern_symmetric}};
    json["rhs"] = problem.rhs;
    json["exit_code"] = static_cast<int>(exit_code(run.outcome()));
    json["message"] = outcome_line(run);
    json["forward_error"] = json_number(run.forward_error);
    json["advice"] = advice(run, problem);
    json["options"] = to_json(run.options);
    return json;
}

/// `more`, then the keys of `all`, whose values win.
Json behind(Json more, const Json& all)
{
    more.update(all);
    return more;
}

}  // namespace

std::string json_report(const Run& run, const ProblemFacts& problem)
{
    const Json mine = program_json(run, problem);
    Json       solved = ilux::to_json(run);
    solved["seconds"] = behind({{"read", problem.seconds_read}}, solved["seconds"]);
    solved["seconds"]["total"] = problem.seconds_read + run.seconds;
    solved["memory_bytes"] = behind({{"matrix", problem.matrix_bytes}}, solved["memory_bytes"]);
    Json json;
    for (const char* key : report_keys) json[key] = mine.contains(key) ? mine[key] : solved.at(key);
    if (!run.columns.empty()) json["columns"] = columns_json(run);
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ilux::app
