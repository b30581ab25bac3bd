#pragma once
// One try at a system: a preconditioner is built, a method runs, and what both did is kept.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ilux/apps/device.hpp"
#include "ilux/apps/lu_facts.hpp"
#include "ilux/apps/options.hpp"
#include "ilux/apps/problem.hpp"
#include "ilux/apps/progress.hpp"
#include "ilux/apps/structure.hpp"
#include "ilux/base/types.hpp"

namespace ilux::app {

/// What the next try is to do, and in which words it differs from the one before ("" for the first).
struct Plan {
    MethodChoice   method = MethodChoice::gmres;  ///< never automatic
    PrecondOptions precond;
    std::string    change;
    LuOptions      lu = {};
};

struct Attempt {
    Plan                       plan;
    Device                     device;
    SolveReport                report;  ///< relative_residual 1 and no steps when the preconditioner could not be built
    std::string                failure;      ///< why there was no solve at all, or ""
    std::string                explanation;  ///< what report.detail has no room for, or ""
    std::string                warning;      ///< of a success: that x may be one of many, or ""
    std::optional<MlIluReport> mlilu;
    std::optional<LuFacts>     lu;                      ///< of a direct solution, as far as it came
    std::optional<GpuReport>   gpu;                     ///< of a solve there
    bool                       device_is_full = false;  ///< out_of_memory means the GPU's
    std::vector<std::string>   decisions;               ///< about device and precision
    double                     fill = 0;                ///< stored values of M over nnz(A)
    Index                      zero_pivot = -1;         ///< row at which ILU(0) stopped
    std::size_t                factor_bytes = 0, workspace_bytes = 0;
    double                     seconds_analyse = 0, seconds_factor = 0;
    double                     seconds = 0;  ///< of the whole try
    std::vector<double>        x;            ///< n; the last iterate, zeros without a solve
    std::vector<HistoryPoint>  history;      ///< the first two million points
    std::optional<Structure>   structure;    ///< of the factors, kept with the history

    /// Whether x is a last iterate: there was a solve, and x is finite.
    bool has_x() const;
    /// Why it did not succeed, in the words of whoever knew; or "".
    std::string why() const { return !failure.empty() ? failure : explanation.empty() ? report.detail : explanation; }
};

/// What one try of a series hands on to the next.
struct Carried {
    HostFactors                        factors;
    bool                               usable = false;  ///< the next try takes the factors as they are
    std::optional<std::vector<double>> x = {};          ///< first guess; nothing: 0
};

/// Tries once. Running out of memory or time and a preconditioner that does not exist are outcomes here, not exceptions.
/// @param machine  loses its GPU where that was our choice and the host suits M better
/// @param matrix_norm  ‖A‖_F, for the backward error
/// @param keep_history and the structure of the factors, which costs a pass or two over these
/// @throws DeviceError, naming the device, when that failed
/// @param time_left    seconds after which a multilevel or LU factorization under way is given up; a solve is not
/// @param carried      in and out, if any; an exception leaves its factors unusable. Not for lu
Attempt run_attempt(Machine& machine, const Problem& problem, const Plan& plan, KrylovOptions krylov,
                    double matrix_norm, ProgressLine& progress, bool keep_history,
                    double time_left = std::numeric_limits<double>::infinity(), Carried* carried = nullptr);

}  // namespace ilux::app
