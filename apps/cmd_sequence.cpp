// ilux sequence: many systems of one pattern, a line each as they are solved, and a summary.

#include <fmt/core.h>

#include <algorithm>

#include "ilux/apps/input/option_arguments.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/interrupt.hpp"
#include "ilux/apps/report/html_report.hpp"
#include "ilux/apps/report/sequence_report.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/solver/machine/lu_device.hpp"

namespace ilux::app {
namespace {

struct SequenceArguments {
    std::vector<std::string> paths;
    Output                   out, report;
    bool                     json = false, quiet = false;
    Index                    batch = 1;
    SolveOptions             options;
};

constexpr const char* sequence_help =
    "\nPATHS is one folder, or Matrix Market files in the order in which they are to be solved. A folder holds pattern.mtx,\n"
    "values.f64, rhs.f64 and meta.json, or A_000.mtx, A_001.mtx and so on; b_000.mtx beside A_000.mtx, or any b of its\n"
    "number, is its right-hand side. --rhs is auto here (what the series brings along, else A·1); random:SEED counts on from\n"
    "system to system, and a file has one column for all systems or one for each. --method auto takes LU or an\n"
    "iteration, by cost, and changes the strategy where it fails or proves slow; another method is kept, without retries. --rtol is\n"
    "of iterations: a direct solution counts as converged when its componentwise backward error is at most 1e-12. --time-limit is\n"
    "of each system.\n";
constexpr const char* sequence_exit_help =
    "A system that fails does not stop the others. Exit code: the largest of all systems; 0 all converged; 2 data refused;\n"
    "3 not converged; 4 breakdown or singular; 5 out of memory. Of the command: 1 usage; 2 input; 6 device missing.";

bool parse_sequence(Arguments arguments, SequenceArguments& given)
{
    given.options.rhs = "auto";
    auto app = parser("sequence", "Solves many systems of one pattern: analyses once, refactors, solves.");
    app->add_option("PATHS", given.paths, "a folder, or matrix files; see below")->expected(-1);
    const OptionArguments options(*app, given.options, {"retry"});
    app->add_option(
           "--batch", given.batch,
           "solve K systems together by the pivots of one factorization: on a GPU in one launch, else a thread each; "
           "systems that these pivots do not serve are solved one by one, and all with an iteration (1)")
        ->group("Method")
        ->type_name("K");
    app->add_flag("--json", given.json, "one JSON object a line for each system, and a last one")->group("Output");
    app->add_output(
        "--out", given.out,
        "x_000.mtx and so on, as Matrix Market arrays; none where a system has no x. Such files of a former run go first",
        "FOLDER", OutputKind::solutions);
    app->add_output("--report", given.report, "a page with curves and pictures, for a browser", "FILE.html");
    app->add_flag("--quiet", given.quiet, "one line for all")->group("Output");
    app->footer(nested_help() + sequence_help + precedence_help + sequence_exit_help);
    return parse(*app, arguments, [&]() -> std::vector<std::string> {
        if (given.paths.empty())
            throw InvalidOption("sequence: a folder or files are missing; see ilux sequence --help");
        if (given.batch < 1)
            throw InvalidOption(fmt::format("--batch {}: expected a number of systems, 1 or more", given.batch));
        options.apply(given.options);
        require_consistent(given.options);
        return files_read(given.options);
    });
}

/// A system without an x leaves no file.
void write_x(const Output& folder, const SystemReport& one, std::span<const double> x)
{
    if (one.has_x)
        write_vector(solution_file(folder, one.index), x,
                     {.comment = fmt::format("x of {}, {}", printable(one.name), one.result())});
}

}  // namespace

int sequence(Arguments arguments)
{
    SequenceArguments given;
    if (!parse_sequence(arguments, given)) return success;
    require_device(given.options.device);
    if (given.out) make_folder(given.out);

    const StopToken stop = heed_signals();
    SequenceInput   input(given.paths, given.options.rhs, {given.options.time_limit, stop});
    load_near_null(given.options, input.A().rows(), {given.options.time_limit, stop});
    std::vector<std::string> decisions;
    if (!given.out.claimed.empty())
        decisions.push_back(fmt::format("--out: {} solutions of a former run removed from {}", given.out.claimed.size(),
                                        given.out.name));
    const bool table = !given.json && !given.quiet;
    if (table) write_out(sequence_head(input, given.options, likely_device(given.options, input.A())));
    const bool                page = bool(given.report);
    std::vector<SystemReport> systems;  // for the page
    const auto                each = [&](const SystemReport& one, std::span<const double> x) {
        if (given.out) write_x(given.out, one, x);
        if (given.json) write_out(system_json(one) + "\n");
        if (table) write_out(system_line(one));
        if (page) systems.push_back(one);
    };
    const auto all =
        run_sequence(input, given.options, stop, decisions, each, {.keep_structure = page, .batch = given.batch});
    if (page) write_file(given.report.file(), html_report(all, systems, input));
    if (given.json) write_out(sequence_json(all, input) + "\n");
    else write_out(given.quiet ? printable(sequence_line(all)) + "\n" : sequence_summary(all));
    return all.code;
}

}  // namespace ilux::app
