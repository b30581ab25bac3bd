#include "ilux/apps/compare/compare.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/apps/program/progress.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

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

Json row_head(const std::string& matrix, const ProblemFacts& problem, const Strategy& strategy)
{
    Json row{{"matrix", matrix},
             {"n", problem.n()},
             {"nnz", problem.nnz},
             {"complex", problem.complex},
             {"symmetric", problem.symmetric},
             {"hermitian", problem.hermitian},
             {"rhs", problem.rhs}};
    row.update(strategy_row(strategy));
    if (strategy.name == "cusp") row["method"] = "gmres";
    return row;
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
