#pragma once
// Frequency sweeps (AC analysis): (G + jωC) x = b over many frequencies.

#include <array>
#include <complex>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ilux/solver/ac_matrix.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux {

/// One frequency that is done. Spans and references hold during the call.
struct SweepPoint {
    Index                                 index;      ///< in the list of frequencies, from 0
    double                                frequency;  ///< in Hz
    std::span<const std::complex<double>> x;          ///< n; the best there is where the outcome is no success
    const SolverReport&                   report;
};
/// What it throws ends the sweep.
using SweepListener = std::function<void(const SweepPoint&)>;

/// What became of a sweep.
struct [[nodiscard]] SweepReport {
    Index frequencies = 0;  ///< that were tried: fewer than asked for only after a stop
    Index converged = 0;
    Index analyses = 0;  ///< of the pattern: 1 in the first sweep of an object, 0 in later ones
    std::array<Index, static_cast<std::size_t>(SolverAction::batch) + 1> actions{};  ///< as count() tells them

    Outcome     outcome = Outcome::converged;  ///< of the first frequency that failed
    Index       first_failed = -1;             ///< its index, or −1
    std::string detail;                        ///< why, or ""
    double      worst_residual = 0;            ///< ‖b − A x‖₂ / ‖b‖₂ over those that converged
    Offset      steps = 0;                     ///< of iterations, or of refinement
    double      seconds_analyse = 0, seconds_factor = 0, seconds_solve = 0, seconds = 0;

    /// By what was done with G + jωC at a frequency: `refactor` by the former pivots, `lagged` by the former
    /// preconditioner.
    Index count(SolverAction action) const { return actions[static_cast<std::size_t>(action)]; }
};

/// Solves (G + jωC) x = b, ω = 2πf, for one frequency after another by one LinearSolver: one analysis of the union of
/// both patterns, refactorizations while the pivots serve, or a preconditioner kept while it serves. A frequency that
/// fails does not stop the others.
///
/// One object serves one thread at a time.
class FrequencySweep {
public:
    using Complex = std::complex<double>;

    /// @param G, C  n×n, real, of any patterns; copied
    /// @throws InvalidInput unless both are square and of one order; InvalidOption for options that contradict one
    /// another
    FrequencySweep(const CsrView<double>& G, const CsrView<double>& C, const SolverOptions& options = {});

    /// @param frequencies  in Hz, in any order; 0 is G alone
    /// @param b     n, the same at every frequency
    /// @param each  hears of every frequency as soon as it is done
    /// @throws InvalidInput, before anything is solved, for a frequency that is negative or not finite, or at which G +
    /// jωC overflows,
    ///         for no frequency at all, for n = 0, and for a b of another length or that is not finite; DeviceError
    ///         where a GPU is asked for and there is none
    /// Cost: an analysis the first time; then for each frequency O(nnz(A)), a refactorization and a solve.
    SweepReport run(std::span<const double> frequencies, std::span<const Complex> b, const SweepListener& each = {});
    SweepReport run(std::span<const double> frequencies, std::span<const double> b, const SweepListener& each = {});

    /// The token is asked from the next run on, within a frequency and between two.
    void stop_by(StopToken stop);

    const AcMatrix&              matrix() const { return matrix_; }  ///< at the frequency tried last
    const LinearSolver<Complex>& solver() const { return solver_; }

private:
    void require_all(std::span<const double> frequencies, std::span<const Complex> b);

    SolverOptions         options_;
    AcMatrix              matrix_;
    LinearSolver<Complex> solver_;  // looks at the arrays of matrix_
    StopToken             stop_;
};

}  // namespace ilux
