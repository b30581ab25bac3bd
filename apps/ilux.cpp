// The program: a table of subcommands.

#include <array>

#include "ilux/apps/manual/program.hpp"
#include "ilux/apps/subcommands.hpp"

namespace ilux::app {
namespace {

constexpr std::array<Command, 6> commands{{
    {"solve", "solve A x = b for one matrix", solve},
    {"sequence", "solve many systems of one pattern: analyse once, refactor, solve", sequence},
    {"info", "size, symmetry, diagonal, matching, dependency depth, memory estimates", info},
    {"gallery", "list the model problems, or write one as a Matrix Market file", gallery_command},
    {"compare", "solve a system directly, by an iteration, as mode auto chooses and by CUSP's GMRES, side by side",
     compare},
    {"doctor", "what this machine offers, and a self-test", doctor},
}};

constexpr std::array<ExitMeaning, 9> exits{{
    {success, "converged, true residual verified"},
    {usage, "usage"},
    {bad_input, "input, or an output that cannot be written"},
    {not_converged, "not converged"},
    {broke_down, "breakdown or singular"},
    {no_memory, "out of memory"},
    {no_device, "device missing"},
    {our_fault, "our own fault"},
    {interrupted, "stopped by Ctrl-C or SIGTERM, with the best x so far"},
}};

}  // namespace
}  // namespace ilux::app

int main(int argc, char** argv)
{
    using namespace ilux::app;
    return main_of({.name = "ilux",
                    .purpose = "ilux solves large sparse linear systems A x = b.",
                    .commands = commands,
                    .exits = exits},
                   argc, argv);
}
