#pragma once
// What either strategy is expected to cost before it is tried.

#include "ilux/base/csr.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux {

/// Means over real matrices on one thread, and for rounds and a GPU figures of gallery problems; docs/design/solver.md says of which, and how
/// wide they scatter.
namespace forecast_rule {
constexpr double analysis_per_entry = 3e-6;  // s; of A: one that tries METIS, too
constexpr double factor_per_flop = 1.2e-9;   // s
constexpr double factor_per_entry = 5e-8;    // s; of L + U
constexpr double checks_per_entry = 1.5e-7;  // s; of L + U: levels and condition, for new pivots
constexpr double refactor_per_flop = 5e-10;  // s
constexpr double solve_per_entry = 1.5e-8;   // s; of L + U: with one step of refinement
constexpr double setup_per_entry = 1.7e-6;   // s; of A: multilevel ILU by Crout's sweep
constexpr double rounds_per_entry = 1.5e-6;  // s; of A: in rounds
constexpr double serial_share = 0.2;         // of rounds, and of an iteration with them: the rest is shared by threads
constexpr double replay_share = 0.7;         // of rounds, where those of an earlier system serve again
constexpr double gpu_rounds_seconds = 0.01;  // in rounds on a GPU, and
constexpr double gpu_rounds_per_entry = 8e-9;  // s; of A: there, transfer included
constexpr double iteration_per_entry = 4e-7;   // s; of A: all steps of a solve, and its verification
constexpr double step_per_entry = 4.5e-9;      // s; of A and M: a step
constexpr double pivoting_adds = 1.5;  // flops of an LU over those predicted, where a matching chose the diagonal
constexpr double ordering_gains = 5;   // flops by AMD over those by the best other ordering, at most
constexpr double systems_a_preconditioner = 5;  // of a series, served by one M
}  // namespace forecast_rule

/// How much is to come with one pattern.
struct Ahead {
    Ahead(double of_systems, double of_columns = 1) : systems(of_systems), columns(of_columns) {}

    double systems;
    double columns;  ///< right-hand sides of each
};

/// Seconds of one strategy.
struct Forecast {
    double analyse = 0, factor = 0;  ///< of the first system; factor: of a preconditioner, too
    double renew = 0;                ///< new numbers for another one
    double solve = 0;                ///< a right-hand side

    double of(const Ahead& ahead) const
    {
        return analyse + factor + (ahead.systems - 1) * renew + ahead.systems * ahead.columns * solve;
    }
    double each() const { return renew + solve; }  ///< of one among many
};

/// By an analysis, whose own seconds are those that it took.
Forecast forecast_direct(const LuSymbolic& symbolic);
/// What an iteration's seconds depend on.
struct IterationFacts {
    double entries = 0;     ///< of A, n counted with them
    bool   rounds = false;  ///< the preconditioner is made in rounds; else by Crout's sweep on one thread of the host
    int    threads = 1;     ///< of the host
    bool   gpu = false;     ///< solves there
    bool   gpu_rounds = false;  ///< sets M up there, too
};
Forecast forecast_iterative(const IterationFacts& facts);

}  // namespace ilux
