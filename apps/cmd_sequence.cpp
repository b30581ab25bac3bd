// ilux sequence: many systems of one pattern, a line each as they are solved, and a summary.

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

#include "ilux/apps/command.hpp"
#include "ilux/apps/lu_device.hpp"
#include "ilux/apps/option_arguments.hpp"
#include "ilux/apps/sequence_report.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/matrix_market.hpp"
#include "ilux/base/text_file.hpp"

namespace ilux::app {
namespace {

struct SequenceArguments {
    std::vector<std::string> paths;
    std::string              out;
    bool                     json = false, quiet = false;
    SolveOptions             options;
};

constexpr const char* sequence_help =
    "\nPATHS is one folder, or Matrix Market files in the order in which they are to be solved. A folder holds pattern.mtx,\n"
    "values.f64, rhs.f64 and meta.json, or A_000.mtx, A_001.mtx and so on; b_000.mtx beside A_000.mtx is its right-hand\n"
    "side. --rhs is auto here (what the series brings along, else A·1); random:SEED counts on from system to system, and a\n"
    "file has one column for all systems or one for each. --method auto is lu. --rtol is of iterations: a direct solution\n"
    "counts as converged when its componentwise backward error is at most 1e-12. --time-limit is of each system.\n";
constexpr const char* exit_help =
    "A system that fails does not stop the others. Exit code: the largest of all systems; 0 all converged; 2 data refused;\n"
    "3 not converged; 4 breakdown or singular; 5 out of memory. Of the command: 1 usage; 2 input; 6 device missing.";

bool parse_sequence(Arguments arguments, SequenceArguments& given)
{
    given.options.rhs = "auto";
    given.options.method = MethodChoice::lu;
    auto app = parser("sequence", "Solves many systems of one pattern: analyses once, refactors, solves.");
    app->add_option("PATHS", given.paths, "a folder, or matrix files; see below")->expected(-1);
    const OptionArguments options(*app, given.options, {"retry"});
    app->add_flag("--json", given.json, "one JSON object a line for each system, and a last one")->group("Output");
    app->add_option("--out", given.out, "x_000.mtx and so on, as Matrix Market arrays; none where a system has no x")
        ->group("Output")
        ->type_name("FOLDER");
    app->add_flag("--quiet", given.quiet, "one line for all")->group("Output");
    app->footer(nested_help() + sequence_help + precedence_help + exit_help);
    if (!parse(*app, arguments)) return false;

    if (given.paths.empty()) throw InvalidOption("sequence: a folder or files are missing; see ilux sequence --help");
    options.apply(given.options);
    if (given.options.method == MethodChoice::automatic) given.options.method = MethodChoice::lu;
    require_consistent(given.options);
    return true;
}

/// @throws InvalidInput when the folder cannot be made or written to
void make_folder(const std::string& folder)
{
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw InvalidInput(fmt::format("{}: {}", folder, failed.message()));
    AtomicFile probe((std::filesystem::path(folder) / "x_000.mtx").string());
}

/// A system without an x leaves no file, not even that of a former run.
void write_x(const std::string& folder, const SystemReport& one, std::span<const double> x)
{
    const std::string file = (std::filesystem::path(folder) / fmt::format("x_{:03}.mtx", one.index)).string();
    if (!one.has_x) {
        std::error_code failed;
        std::filesystem::remove(file, failed);
        if (failed) throw InvalidInput(fmt::format("{}: {}", file, failed.message()));
        return;
    }
    write_vector(file, x, {.comment = fmt::format("x of {}, {}", one.name, one.result())});
}

void print(const std::string& text)
{
    fmt::print("{}", text);
    if (std::fflush(stdout) != 0) throw InvalidInput("standard output cannot be written");  // a line is news at once
}

}  // namespace

int sequence(Arguments arguments)
{
    SequenceArguments given;
    if (!parse_sequence(arguments, given)) return success;
    require_device(given.options.device);
    if (!given.out.empty()) make_folder(given.out);

    SequenceInput            input(given.paths, given.options.rhs);
    std::vector<std::string> decisions;
    Machine                  machine = machine_for(given.options, input.A(), true, decisions);
    const bool               table = !given.json && !given.quiet;
    if (table) print(sequence_head(input, given.options, machine.device()));
    const auto all =
        run_sequence(input, given.options, machine, decisions, [&](const SystemReport& one, std::span<const double> x) {
            if (!given.out.empty()) write_x(given.out, one, x);
            if (given.json) print(system_json(one) + "\n");
            if (table) print(system_line(one, given.options.method == MethodChoice::lu));
        });
    if (given.json) print(sequence_json(all, input) + "\n");
    else print(given.quiet ? sequence_line(all) + "\n" : sequence_summary(all));
    return all.code;
}

}  // namespace ilux::app
