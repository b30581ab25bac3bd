// ilux bench: a table of suites, each of which parses its own arguments.

#include <fmt/core.h>

#include <array>

#include "ilux/apps/bench/bench.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::app {
namespace {

constexpr std::array<Command, 5> suites{{
    {"ilupack-gmres", "GMRES with the multilevel ILU: CPU, cuSPARSE baseline, sync-free proposal, ours (Tables 3-5)",
     bench_ilupack_gmres},
    {"lu",
     "LU with given pivots: four published GPU methods, ours, host threads, other solvers; levels and dependencies",
     bench_lu},
    {"lu-model", "predicted against measured times of those methods, by warps and by method (Figs. 11 and C.8)",
     bench_lu_model},
    {"setup", "how long the multilevel ILU takes to be set up, by phase, and what it is worth; beside Eigen and AMGCL",
     bench_setup},
    {"accuracy", "how far every method's x is from the truth, beside what it says of its error", bench_accuracy},
}};

std::string help()
{
    std::string text =
        "Measures one table of a paper, or one of our own, on this machine.\n\n"
        "usage: ilux bench SUITE [options]\n\nSuites:\n";
    for (const Command& suite : suites) text += fmt::format("  {:<16}{}\n", suite.name, suite.summary);
    return text + "\n  ilux bench SUITE --help   the options of one suite\n";
}

}  // namespace

std::span<const Command> bench_suites() { return suites; }

int bench(Arguments arguments)
{
    if (arguments.empty()) throw InvalidOption("bench: SUITE is missing; see ilux bench --help");
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h") return write_out(help()), success;
    std::vector<std::string> known;
    for (const Command& suite : suites) {
        if (suite.name == first) return suite.run(arguments.subspan(1));
        known.emplace_back(suite.name);
    }
    const std::string nearest = nearest_name(first, known);
    throw InvalidOption(
        fmt::format("bench: there is no suite '{}'; {}", first,
                    nearest.empty() ? "see ilux bench --help" : fmt::format("did you mean '{}'?", nearest)));
}

}  // namespace ilux::app
