#pragma once
// What units of work take on a machine: what forecasts are made of.

#include <string>

#include "ilux/base/fields.hpp"

namespace ilux {

/// Seconds of one thread for a unit of work, unless said otherwise. The built-in ones are of a server's core of 2020 to
/// 2024 and of an H200; docs/design/solver.md says what they were measured on. Values are real; the flops of complex
/// ones count four times.
struct Rates {
    // An LU on the host.
    double order_arc = 8e-7;  ///< arc of the compressed graph, by nested dissection, symbolic factorization included
    double analysis_entry = 1.5e-7;   ///< of A: what an analysis takes whatever the order
    double entry_flop = 3e-10;        ///< by entries, pivots chosen
    double entry_number = 1.2e-8;     ///< of L + U, by entries
    double entry_check = 4e-8;        ///< the same: levels and condition, for new pivots
    double entry_refactor = 1.2e-10;  ///< flop by entries with given pivots
    double front_flop = 2.3e-11;      ///< by fronts
    double front_number = 9e-9;       ///< of L + U by fronts
    double front_check = 7e-9;        ///< the same: condition and witness
    double solve_number = 4e-9;       ///< of L + U by entries: a solution with one step of refinement
    double front_solve = 2.5e-9;      ///< the same by fronts
    double team_start = 5e-3;         ///< of each thread, once: pools of OpenMP and BLAS
    // An iteration on the host.
    double crout_entry = 8e-7;      ///< of A: multilevel ILU by Crout's sweep, of fill 4
    double rounds_entry = 9e-7;     ///< of A: in rounds
    double iteration_entry = 3e-7;  ///< of A: all steps of a solve, and its verification
    double step_number = 3.5e-9;    ///< of A and M: a step
    // A GPU.
    double gpu_start = 0.15;        ///< of its driver, once
    double gpu_front_start = 0.13;  ///< first factors by fronts: code and plan
    double gpu_front_entry = 5e-8;  ///< of A: plan and transfer
    double gpu_front_flop = 3e-13;
    double gpu_front_check = 1e-9;   ///< of L + U: condition and witness
    double gpu_rounds_start = 0.01;  ///< setup in rounds
    double gpu_rounds_entry = 8e-9;  ///< of A: there, transfer included
    double gpu_step = 1e-4;          ///< launches and waits of a step
    double gpu_byte = 5e-13;         ///< of its memory
    double host_byte = 2e-10;        ///< of the host's, all threads

    std::string origin = "built in";  ///< where these are from
};

template <class Visit>
void fields(Rates& r, Visit&& visit)
{
    const auto rate = [&](std::string_view name, double& value, std::string_view help) {
        visit(name, value, within(1e-16, 1e3), help);
    };
    rate("order_arc", r.order_arc, "an arc of the compressed graph, nested dissection");
    rate("analysis_entry", r.analysis_entry, "an entry of A, analysis of an LU");
    rate("entry_flop", r.entry_flop, "a flop of an LU by entries");
    rate("entry_number", r.entry_number, "an entry of L + U, by entries");
    rate("entry_check", r.entry_check, "the same, levels and condition");
    rate("entry_refactor", r.entry_refactor, "a flop of a refactorization by entries");
    rate("front_flop", r.front_flop, "a flop of an LU by fronts");
    rate("front_number", r.front_number, "an entry of L + U, by fronts");
    rate("front_check", r.front_check, "the same, condition and witness");
    rate("solve_number", r.solve_number, "an entry of L + U, a solve by entries");
    rate("front_solve", r.front_solve, "an entry of L + U, a solve by fronts");
    rate("team_start", r.team_start, "start of a thread");
    rate("crout_entry", r.crout_entry, "an entry of A, Crout's sweep");
    rate("rounds_entry", r.rounds_entry, "an entry of A, rounds");
    rate("iteration_entry", r.iteration_entry, "an entry of A, all steps of a solve");
    rate("step_number", r.step_number, "an entry of A and M, a step");
    rate("gpu_start", r.gpu_start, "the driver of a GPU");
    rate("gpu_front_start", r.gpu_front_start, "first factors by fronts on a GPU");
    rate("gpu_front_entry", r.gpu_front_entry, "an entry of A, fronts on a GPU");
    rate("gpu_front_flop", r.gpu_front_flop, "a flop of fronts on a GPU");
    rate("gpu_front_check", r.gpu_front_check, "an entry of L + U, condition and witness on a GPU");
    rate("gpu_rounds_start", r.gpu_rounds_start, "rounds on a GPU");
    rate("gpu_rounds_entry", r.gpu_rounds_entry, "an entry of A, rounds on a GPU");
    rate("gpu_step", r.gpu_step, "launches of a step on a GPU");
    rate("gpu_byte", r.gpu_byte, "a byte of a GPU's memory");
    rate("host_byte", r.host_byte, "a byte of the host's memory");
}

/// Work whose serial share is so much of it, on several threads.
inline double on_threads(double seconds, double serial, int threads)
{
    return seconds * (serial + (1 - serial) / threads);
}

}  // namespace ilux
