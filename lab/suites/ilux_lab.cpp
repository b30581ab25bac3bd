// ilux-lab: measures tables of papers, and our own, on this machine. Each suite parses its own arguments.

#include <array>

#include "ilux/apps/manual/program.hpp"
#include "ilux/lab/suites/suites.hpp"

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

}  // namespace
}  // namespace ilux::app

int main(int argc, char** argv)
{
    using namespace ilux::app;
    return main_of({.name = "ilux-lab",
                    .purpose = "ilux-lab measures one table of a paper, or one of our own, on this machine.",
                    .commands = suites},
                   argc, argv);
}
