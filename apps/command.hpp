#pragma once
// What a subcommand is, how its arguments are parsed, and what the program's exit code says.

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::app {

enum ExitCode {
    success = 0,        ///< for solve: converged, and the true residual was verified
    usage = 1,          ///< an option or a command that does not exist or makes no sense
    bad_input = 2,      ///< a file or its contents
    not_converged = 3,  ///< max_steps, stagnated, diverged, not_finite, time_limit
    broke_down = 4,     ///< breakdown, singular
    no_memory = 5,
    no_device = 6,
    our_fault = 7,
};

ExitCode exit_code(Outcome outcome);

using Arguments = std::span<const std::string>;

struct Command {
    std::string_view name, summary;
    int (*run)(Arguments arguments);
};

int solve(Arguments arguments);
int sequence(Arguments arguments);
int info(Arguments arguments);
int gallery_command(Arguments arguments);
int bench(Arguments arguments);
int compare(Arguments arguments);
int doctor(Arguments arguments);

/// Makes the parser of one subcommand; its --help lists options by section, one line each.
std::unique_ptr<CLI::App> parser(std::string_view name, std::string_view summary);

/// Parses, or prints the help that was asked for on stdout and returns false.
/// @throws InvalidOption for an unknown option (with the nearest name), a missing value or a superfluous argument
bool parse(CLI::App& app, Arguments arguments);

}  // namespace ilux::app
