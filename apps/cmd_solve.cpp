// ilux solve: one system, from its names on the command line to a report and an exit code.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <future>

#include "ilux/apps/input/option_arguments.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/interrupt.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/apps/report/html_report.hpp"
#include "ilux/apps/report/report_json.hpp"
#include "ilux/apps/report/report_text.hpp"
#include "ilux/apps/run/columns.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/engine/machine/lu_device.hpp"

namespace ilux::app {
namespace {

/// What the command line says beside the option tree.
struct SolveArguments {
    std::string  matrix;
    Output       out, history, report;
    bool         json = false, quiet = false;
    SolveOptions options;
};

constexpr const char* matrix_help =
    "MATRIX is a file (- for standard input) or gallery:NAME[:key=value,...]. A file is of Matrix Market, SciPy (.npz), NumPy\n"
    "(.npy), PETSc (binary), Harwell-Boeing or Rutherford-Boeing, or MATLAB, as its first bytes say; it may be packed by gzip.\n"
    "--rhs takes the same kinds; several columns are several right-hand sides, and the report tells the worst first.\n";
constexpr const char* exit_help =
    "Exit codes: 0 converged, true residual verified; 1 usage; 2 input; 3 not converged;\n"
    "4 breakdown or singular; 5 out of memory; 6 device missing; 7 our own fault.";

/// false: only help was asked for.
bool parse_solve(Arguments arguments, SolveArguments& given)
{
    auto app = parser("solve", "Solves A x = b for one matrix and reports what happened.");
    app->add_option("MATRIX", given.matrix, "the system's matrix; see below")->type_name("FILE|gallery");

    const OptionArguments options(*app, given.options);
    app->add_flag("--json", given.json, "one JSON object instead of the report")->group("Output");
    app->add_output("--history", given.history,
                    "step, relative residual, exact (0|1), seconds; as JSON where the name ends in .json",
                    "FILE.csv|.json");
    app->add_output(
        "--out", given.out,
        "x, as a Matrix Market array or for NumPy, a column for each right-hand side; no file where there is no x",
        "FILE.mtx|.npy");
    app->add_output("--report", given.report, "a page with curves and pictures, for a browser", "FILE.html");
    app->add_flag("--quiet", given.quiet, "no progress line, and a report of one line")->group("Output");
    app->nested = nested_options({"sequence."});
    app->footer(std::string(matrix_help) + precedence_help + exit_help);
    return parse(*app, arguments, [&]() -> std::vector<std::string> {
        if (given.matrix.empty()) throw InvalidOption("solve: MATRIX is missing; see ilux solve --help");
        options.apply(given.options);
        require_consistent(given.options);
        if (given.out) require_solution_name(given.out.name);
        return files_read(given.options);
    });
}

void note_without_effect(const SolveArguments& given, Run& run)
{
    StrategiesTaken taken;
    for (const Attempt& tried : run.attempts) taken.add(tried);
    for (std::string& remark : options_without_effect(given.options, taken, false))
        run.decisions.push_back(std::move(remark));
    if (run.result().plan.direct() && given.history)
        run.decisions.emplace_back("--history: a direct solution has no steps, so the file holds its head alone");
    else if (!run.columns.empty() && given.history)
        run.decisions.push_back(
            fmt::format("--history: of column {} (counted from 1), the worst", run.columns.front().column + 1));
}

/// The structure of the run's result, among those of the tries of all columns in their order; nothing where some tries
/// have left none.
std::optional<Structure> structure_of_result(const Run& run, const std::vector<std::optional<Structure>>& of_tries)
{
    if (run.columns.empty()) return of_tries.at(run.best);
    std::size_t before = 0, all = 0;
    for (const ColumnReport& one : run.columns) {
        all += one.report.attempts.size();
        if (one.column < run.columns.front().column) before += one.report.attempts.size();
    }
    return all == of_tries.size() ? of_tries[before + run.best] : std::nullopt;
}

/// Says how many right-hand sides a file holds: it may have been meant for something else, a matrix for example.
void announce_columns(const ProblemFacts& problem, ProgressLine& progress)
{
    constexpr Index many = 64;
    if (problem.columns > many)
        progress.say(fmt::format("{} right-hand sides, the columns of {}", problem.columns, printable(problem.rhs)));
}

/// Everything but reading and telling. @param x  out, for as many columns as b
template <Scalar S>
Run run(const SolveArguments& given, const Problem<S>& problem, const StopToken& stop, ProgressLine& progress,
        std::vector<S>& x)
{
    Run run;
    run.options = given.options;
    LinearSolver<S>                       solver(given.options);
    std::vector<std::optional<Structure>> structures;  // of each attempt
    solver.listen({.on_progress = [&](const Progress& now) { progress.show(now); },
                   .keep_history = given.history || given.report},
                  [&](const Attempt&) {
                      progress.clear();
                      structures.push_back(given.report ? structure_of(solver) : std::nullopt);
                  });
    solver.stop_by(stop);
    announce_columns(problem, progress);
    solver.analyse(problem.A, {1, double(problem.columns)});
    solver.factor();  // what became of it is told by solve
    x.resize(problem.b.size());
    if (problem.columns == 1) static_cast<SolverReport&>(run) = solver.solve(problem.b, x);
    else take_columns(solver.solve_columns(problem.b, x), run);
    progress.clear();
    if (problem.rhs_is_noise)
        run.decisions.insert(run.decisions.begin(), "b = A·1, although A·1 is zero up to rounding");
    if (!problem.rhs_remark.empty()) run.decisions.insert(run.decisions.begin(), problem.rhs_remark);
    note_without_effect(given, run);
    run.structure = structure_of_result(run, structures);
    run.forward_error = forward_error(problem, run.result().x.of<S>());
    return run;
}

/// Without a last iterate there is no file.
template <Scalar S>
void write_x(const Output& out, const Problem<S>& problem, std::vector<S>& x, Run& run)
{
    const bool there = run.columns.empty() ? run.result().has_x() : mark_missing_columns<S>(run, problem.n(), x);
    if (there)
        return write_solution<S>(waiting_at_most(run.options.time_limit, out.file()), problem.n(), x,
                                 fmt::format("x of {}, {}", printable(problem.name), outcome_line(run)));
    run.decisions.push_back(fmt::format("--out: there is no x, so {} was {}", out.name,
                                        out.file().former ? "removed, being of a former run" : "not written"));
}

void print(const Run& run, const ProblemFacts& problem, const SolveArguments& given)
{
    const bool colour = isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
    if (given.json) write_out(json_report(run, problem) + "\n");
    else if (given.quiet) write_out(printable(outcome_line(run)) + "\n");
    else write_out(text_report(run, problem, colour));
}

template <Scalar S>
int solve(SolveArguments& given, const Problem<S>& problem, const StopToken& stop)
{
    load_near_null(given.options, problem.n(), {given.options.time_limit, stop});
    ProgressLine   progress(!given.quiet && isatty(STDERR_FILENO));
    std::vector<S> x;
    Run            finished = run(given, problem, stop, progress, x);
    if (given.out) write_x(given.out, problem, x, finished);
    const auto at_most = [&](const Output& file) { return waiting_at_most(given.options.time_limit, file.file()); };
    if (given.history) write_history(at_most(given.history), finished.result().history);
    if (given.report) write_file(at_most(given.report), html_report(finished, problem, picture_of(problem.A)));
    print(finished, problem, given);
    return exit_code(finished.outcome());
}

}  // namespace

int solve(Arguments arguments)
{
    SolveArguments given;
    if (!parse_solve(arguments, given)) return success;
    require_device(given.options.device);  // a missing device is said before a long read

    const StopToken   stop = stop_on_signals();
    std::future<void> gpu;  // its driver starts while A is read
    const auto        on_size = [&](Offset nnz) {
        if (!gpu.valid()) gpu = start_gpu(given.options, nnz);
    };
    const AnyProblem problem =
        load_any_problem(given.matrix, given.options.rhs, {given.options.time_limit, stop}, RhsColumns::any, on_size);
    return std::visit([&](const auto& one) { return solve(given, one, stop); }, problem);
}

}  // namespace ilux::app
