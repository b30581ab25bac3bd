#pragma once
// One system of the suite `setup`: its multilevel ILU set up in several ways, and what each is worth to GMRES.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ilux/apps/compare/timings.hpp"
#include "ilux/apps/input/options.hpp"

namespace ilux::app {

/// One way to a preconditioner: rounds:4 on four threads of the host, rounds:gpu, or a rival by its name.
struct SetupWay {
    std::string setup;        ///< of precond.setup, or a rival's name
    bool        gpu = false;  ///< as --device gpu
    int         threads = 0;  ///< of the host; of rivals and on a GPU all, and 0

    bool        rival() const { return !gpu && threads == 0; }
    std::string text() const;
};
/// @throws InvalidOption
SetupWay parse_setup_way(const std::string& text);

/// What `--setups`, `--threads`, a GPU and `--rival` ask for: of each setup 1, 2, 4, ... and all threads, of crout 1
/// and all; then the GPU; rivals last.
std::vector<SetupWay> setup_ways(const std::vector<std::string>& setups, int threads, bool gpu,
                                 const std::vector<std::string>& rivals);

/// What is not for the user to choose here: GMRES, the multilevel ILU, one attempt; and b is random where nothing else
/// is said.
SolveOptions setup_defaults();

/// Measures one system, way by way, and hands out {"matrix": {n, nnz, symmetric, rhs}} and the steps as run_steps does;
/// {"error":
/// "..."} before the first step. A step's result is {way, setup, device, threads, runs, fill, levels, rounds, bytes,
/// steps, outcome, detail, relative_residual, backward_error, decisions, seconds{analyse, factor, sets, eliminate,
/// assemble, tail, transfer, setup, solve, total, setup_least, setup_most}}, with null for what a way has not.
void measure_setup(const SolveOptions& options, Index runs, const std::string& path,
                   const std::vector<std::string>& steps, const TakeJson& take);

}  // namespace ilux::app
