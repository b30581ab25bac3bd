#pragma once
// A series of systems of one pattern solved one after another: directly, or by a method whose preconditioner is kept as
// long as it serves.

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/draw/structure.hpp"
#include "ilux/apps/draw/transfer_curve.hpp"
#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/apps/input/sweep_input.hpp"
#include "ilux/apps/program/exit_code.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux::app {

struct SystemReport {
    Index       index = 0;  ///< from 0
    std::string name;
    /// factor, refactor, repivot or failed_repivot (direct: the former pivots were stale, and there are no others);
    /// batch (direct: by the pivots of an earlier system, together with others); stale (an LU of an earlier system as
    /// preconditioner); refresh or lagged (preconditioner made for this system, or for an earlier one); none (no
    /// preconditioner, or the time limit was reached while the system was read); refused (the data could not be used)
    std::string               action = "refused";
    std::string               reason;                         ///< why pivots or preconditioner were renewed, or ""
    Outcome                   outcome = Outcome::not_finite;  ///< means nothing where refused
    std::string               detail;                         ///< why it is no success, or ""
    std::string               warning;                        ///< of a success: that x may be one of many, or ""
    bool                      direct = false;                 ///< its solution, as far as there is one
    bool                      has_x = false;                  ///< there is a last iterate, and it is finite
    Index                     steps = 0;                      ///< of the method, or of refinement
    double                    relative_residual = unknown;    ///< ‖b − A x‖₂ / ‖b‖₂, recomputed
    double                    backward_error = unknown;  ///< ‖b − A x‖₂ / (‖A‖_F ‖x‖₂ + ‖b‖₂)
    Accuracy                  accuracy;                  ///< of x, where there is one
    double                    forward_error = unknown;   ///< where b = A·1
    double                    growth = unknown, rcond = unknown;  ///< as in LuFacts
    double                    seconds_read = 0, seconds_factor = 0, seconds_solve = 0;
    std::optional<CurvePoint> curve = {};  ///< of a frequency sweep

    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    bool                    refused() const { return action == "refused"; }
    bool                    converged() const { return !refused() && outcome == Outcome::converged; }
    ExitCode                code() const { return refused() ? bad_input : exit_code(outcome); }
    std::string_view        result() const { return refused() ? action : ilux::name(outcome); }
};

/// A series as a whole.
struct SequenceReport {
    struct Action {
        std::string name;
        Index       count = 0;
        double      seconds = 0;  ///< of factoring
    };
    struct Worst {
        double value = 0;
        Index  system = -1;  ///< −1: none was measured
    };
    /// Systems of one kind.
    struct Noted {
        Index       count = 0, first = -1;  ///< −1: none
        std::string name, text;             ///< of the first
    };
    SolveOptions             options;                           ///< as given, right-hand side settled
    MethodChoice             method = MethodChoice::automatic;  ///< of the last system that was tried
    bool                     made_up_rhs = false;               ///< for want of another
    Noted                    failed, warned;
    Device                   device;  ///< of the last system
    Index                    systems = 0, converged = 0;
    std::vector<Action>      actions;                            ///< in the order of their first use
    ExitCode                 code = success;                     ///< the largest of all systems
    std::string              outcome = "converged";              ///< of the first system with that code
    Worst                    residual, backward, componentwise;  ///< over the systems with an x
    Worst                    error;                              ///< Accuracy::worst_error over them
    Offset                   steps = 0;
    std::optional<LuFacts>   lu;        ///< of the last system that could be factored
    double                   fill = 0;  ///< of the last factors, over nnz(A)
    std::vector<std::string> decisions;
    bool                     direct() const { return method == MethodChoice::lu; }
    double                   seconds_read = 0, seconds_analyse = 0, seconds_factor = 0, seconds_solve = 0, seconds = 0;

    std::optional<MlIluReport> mlilu;      ///< of the first preconditioner, if it is one
    std::optional<Structure>   structure;  ///< of the first factors, where it was asked for
    std::vector<Index>         probes;     ///< of a frequency sweep: unknowns counted from 1
};

/// What the systems of a frequency sweep have in their `curve`.
TransferCurve transfer_curve(const SequenceReport& all, std::span<const SystemReport> systems);

/// Hears of every system as soon as it is done. @param x  n, or empty without one
template <Scalar S>
using SystemListener = std::function<void(const SystemReport&, std::span<const S> x)>;

/// How a series is run, beside the options of its solutions.
struct SequencePlan {
    bool  keep_structure = false;  ///< of the first factors, which takes a few passes over them
    Index batch = 1;               ///< systems that are solved together, as LinearSolver::solve_batch has it
};

/// By the method of the options. A system whose data cannot be used, or that has no solution, does not stop the
/// others; with method auto a system that fails is tried again as `ilux solve` would.
/// @tparam Input     SequenceInput of real or complex values, or SweepInput
/// @param decisions  made before
template <class Input>
SequenceReport run_sequence(Input& input, const SolveOptions& options, const StopToken& stop,
                            std::vector<std::string> decisions, const SystemListener<typename Input::Value>& each,
                            const SequencePlan& plan = {});

}  // namespace ilux::app
