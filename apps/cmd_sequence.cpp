// ilux sequence: many systems of one pattern, a line each as they are solved, and a summary.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "ilux/apps/command.hpp"
#include "ilux/apps/html_report.hpp"
#include "ilux/apps/option_arguments.hpp"
#include "ilux/apps/output_files.hpp"
#include "ilux/apps/sequence_report.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/matrix_market.hpp"
#include "ilux/base/text_file.hpp"
#include "ilux/solver/lu_device.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;

struct SequenceArguments {
    std::vector<std::string> paths;
    std::string              out, report;
    bool                     json = false, quiet = false;
    SolveOptions             options;
};

constexpr const char* sequence_help =
    "\nPATHS is one folder, or Matrix Market files in the order in which they are to be solved. A folder holds pattern.mtx,\n"
    "values.f64, rhs.f64 and meta.json, or A_000.mtx, A_001.mtx and so on; b_000.mtx beside A_000.mtx, or any b of its\n"
    "number, is its right-hand side. --rhs is auto here (what the series brings along, else A·1); random:SEED counts on from\n"
    "system to system, and a file has one column for all systems or one for each. --method auto goes directly or\n"
    "iterates, by cost, and changes its way where it fails or proves slow; another method is kept to, without retries. --rtol is of\n"
    "iterations: a direct solution counts as converged when its componentwise backward error is at most 1e-12. --time-limit is\n"
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
    app->add_flag("--json", given.json, "one JSON object a line for each system, and a last one")->group("Output");
    app->add_option(
           "--out", given.out,
           "x_000.mtx and so on, as Matrix Market arrays; none where a system has no x. Such files of a former run go first")
        ->group("Output")
        ->type_name("FOLDER");
    app->add_option("--report", given.report, "a page with curves and pictures, for a browser")
        ->group("Output")
        ->type_name("FILE.html");
    app->add_flag("--quiet", given.quiet, "one line for all")->group("Output");
    app->footer(nested_help() + sequence_help + precedence_help + sequence_exit_help);
    if (!parse(*app, arguments)) return false;

    if (given.paths.empty()) throw InvalidOption("sequence: a folder or files are missing; see ilux sequence --help");
    options.apply(given.options);
    require_consistent(given.options);
    return true;
}

std::string solution_name(Index k) { return fmt::format("x_{:03}.mtx", k); }

bool is_solution_name(const std::string& name)
{
    Index k = -1;
    if (name.size() > 2) std::from_chars(name.data() + 2, name.data() + name.size(), k);
    return k >= 0 && name == solution_name(k);
}

/// @throws InvalidOption where an input is one of the files that --out removes
void require_apart(const SequenceArguments& given)
{
    std::vector<std::string> inputs = given.paths;
    inputs.push_back(given.options.rhs);
    for (const std::string& input : inputs) {
        std::error_code unknown;
        const fs::path  file = fs::weakly_canonical(input, unknown);
        if (is_solution_name(file.filename().string()) && fs::equivalent(file.parent_path(), given.out, unknown))
            throw InvalidOption(fmt::format("{} would be removed by --out {}", input, given.out));
    }
}

/// All that a page must not replace: the files named, and what folders among them hold.
std::vector<std::string> input_files(const SequenceArguments& given)
{
    std::vector<std::string> files = given.paths;
    files.push_back(given.options.rhs);
    for (const std::string& path : given.paths) {
        std::error_code no_folder;
        for (const auto& entry : fs::directory_iterator(path, no_folder))
            if (entry.path().extension() != ".html") files.push_back(entry.path().string());
    }
    return files;
}

/// @throws InvalidInput when the folder cannot be made or written to
void make_folder(const std::string& folder)
{
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw InvalidInput(fmt::format("{}: {}", folder, failed.message()));
    AtomicFile probe((fs::path(folder) / solution_name(0)).string());
}

/// No file of a former run is to be taken for a solution of this one. @return how many there were
Index remove_former(const std::string& folder)
{
    std::vector<std::string> former;
    std::error_code          failed;
    for (const auto& entry : fs::directory_iterator(folder, failed))
        if (is_solution_name(entry.path().filename().string())) former.push_back(entry.path().string());
    if (failed) throw InvalidInput(fmt::format("{}: {}", folder, failed.message()));
    return static_cast<Index>(std::ranges::count_if(former, remove_file));
}

/// A system without an x leaves no file.
void write_x(const std::string& folder, const SystemReport& one, std::span<const double> x)
{
    if (one.has_x)
        write_vector((fs::path(folder) / solution_name(one.index)).string(), x,
                     {.comment = fmt::format("x of {}, {}", one.name, one.result())});
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
    const OutputFile outputs[] = {{"--report", given.report}};
    require_outputs(input_files(given), outputs);
    if (!given.out.empty()) {
        require_apart(given);
        make_folder(given.out);
    }

    SequenceInput            input(given.paths, given.options.rhs, given.options.time_limit);
    std::vector<std::string> decisions;
    if (const Index former = given.out.empty() ? 0 : remove_former(given.out); former > 0)
        decisions.push_back(fmt::format("--out: {} solutions of a former run removed from {}", former, given.out));
    const bool table = !given.json && !given.quiet;
    if (table) print(sequence_head(input, given.options, likely_device(given.options, input.A())));
    const bool                page = !given.report.empty();
    std::vector<SystemReport> systems;  // for the page
    const auto                each = [&](const SystemReport& one, std::span<const double> x) {
        if (!given.out.empty()) write_x(given.out, one, x);
        if (given.json) print(system_json(one) + "\n");
        if (table) print(system_line(one));
        if (page) systems.push_back(one);
    };
    const auto all = run_sequence(input, given.options, decisions, each, page);
    if (page) write_page(given.report, html_report(all, systems, input));
    if (given.json) print(sequence_json(all, input) + "\n");
    else print(given.quiet ? sequence_line(all) + "\n" : sequence_summary(all));
    return all.code;
}

}  // namespace ilux::app
