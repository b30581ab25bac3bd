#include "ilux/apps/compare/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/json/json_number.hpp"
#include "ilux/solver/report/lu_facts.hpp"

namespace ilux::app {
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

SolveOptions compare_defaults()
{
    SolveOptions options;
    options.rhs = "auto";
    return options;
}

std::string why_no_complex(const Strategy& strategy)
{
    return strategy.name == "cusp" ? "CUSP's program takes real values alone, and these are complex" : "";
}

AnyProblem load_first_system(const std::string& path, const std::string& rhs)
{
    std::error_code unknown;
    if (!std::filesystem::is_directory(path, unknown)) return load_any_problem(path, rhs == "auto" ? "A1" : rhs);
    const WallClock clock;
    AnySequence     series = load_any_sequence({path}, rhs);
    const auto      first_of = [&]<Scalar S>(SequenceInput<S>& input) -> AnyProblem {
        input.read(0);
        Problem<S> problem;
        problem.name = path;
        problem.about = "the first system: " + input.label(0);
        problem.take(CsrMatrix<S>(input.A()));
        problem.rhs = input.rhs();
        problem.b.assign(input.b().begin(), input.b().end());
        if (problem.rhs == "A1") problem.exact.assign(problem.b.size(), 1.0);
        problem.seconds_read = clock.seconds();
        return problem;
    };
    return std::visit(first_of, series);
}

template <Scalar S>
void judge(Json& row, const Problem<S>& problem, const std::vector<NotDeduced<S>>& x, double rtol)
{
    const Accuracy errors = measure<S>(problem.A, x, problem.b);
    row["relative_residual"] = errors.finite ? json_number(errors.relative_residual) : Json(nullptr);
    row["backward_error"] = errors.finite ? json_number(errors.backward_error) : Json(nullptr);
    const bool holds = errors.finite && errors.relative_residual <= rtol;
    if (holds) row["outcome"] = name(Outcome::converged);
    else if (row["outcome"] == name(Outcome::converged)) {
        row["outcome"] = name(errors.finite ? Outcome::stagnated : Outcome::not_finite);
        row["detail"] = fmt::format("it called itself converged, but ‖b − A x‖₂ is not ≤ {:g}·‖b‖₂", rtol);
    }
}

#define ILUX_INSTANTIATE(S) template void judge(Json&, const Problem<S>&, const std::vector<S>&, double);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

Json row_head(const std::string& matrix, const ProblemFacts& problem, const Strategy& strategy)
{
    Json row{{"matrix", matrix},
             {"n", problem.n()},
             {"nnz", problem.nnz},
             {"complex", problem.complex},
             {"symmetric", problem.symmetric},
             {"hermitian", problem.hermitian},
             {"rhs", problem.rhs},
             {"strategy", strategy.name},
             {"method", strategy.name == "cusp"     ? Json("gmres")
                        : strategy.name == "direct" ? Json("lu")
                                                    : Json(nullptr)},
             {"precond", strategy.name == "direct"  ? Json("none")
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

void conclude(Json& row, const std::string& why, bool killed)
{
    if (row["outcome"].is_string()) return;
    row["outcome"] = killed ? "killed" : "failed";
    const auto error = row.find("error");
    if (error != row.end()) row["detail"] = *error;
    else row["detail"] = why.empty() ? "it ended without an answer" : why;
    row.erase("error");
}

void run_for(Json& row, const std::string& program, const std::vector<std::string>& arguments, double seconds)
{
    const auto add = [&](std::string_view line) {
        const Json finding = Json::parse(line, nullptr, false);
        if (finding.is_object()) add_finding(row, finding);
    };
    const Ending ended = run_program(program, arguments, seconds, add, TimeLimit::after_first_line);
    conclude(row, ended.words, ended.killed);
}

}  // namespace ilux::app
