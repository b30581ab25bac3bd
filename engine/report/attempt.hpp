#pragma once
// One try at a system: what it was to do, and what came of it.

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/base/types.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/engine/machine/gpu_report.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/report/accuracy.hpp"
#include "ilux/engine/report/lu_facts.hpp"
#include "ilux/engine/report/solution.hpp"

namespace ilux {

/// For what kind of A a coarse space was chosen for the user.
enum class CoarseChosen { none, positive_diagonal, saddle_point, dominant };

/// What the next try is to do, and in which words it differs from the one before ("" for the first).
struct Plan {
    MethodChoice             method = MethodChoice::gmres;  ///< never automatic
    PrecondOptions           precond;
    std::string              change;
    LuOptions                lu = {};
    bool                     rounded_symmetry = false;  ///< the method needs A symmetric, and A is but for rounding
    std::optional<Asymmetry> of_adjoint = {};           ///< A against Aᴴ, where it is known
    CoarseChosen             coarse_chosen = CoarseChosen::none;  ///< its coarse space, for the user: M may do without
    double                   quick =
        0;  ///< of a try that ends where it does not promise to be faster: seconds of what was chosen; else 0

    bool direct() const { return method == MethodChoice::lu; }
    void leave_coarse()
    {
        precond.coarse = CoarseChoice::off;
        coarse_chosen = CoarseChosen::none;
    }
};

/// A point of the convergence curve.
struct HistoryPoint {
    Index  step;
    double relative_residual;
    bool   exact;    ///< recomputed from A, b and x
    double seconds;  ///< since the solve of this attempt began
};

/// What was done with the numbers of a system.
enum class SolverAction {
    none,            ///< there is no preconditioner to be made
    factor,          ///< direct: analysed, or pivots chosen, for it
    refactor,        ///< direct: the former pivots held
    repivot,         ///< direct: they did not, others did
    failed_repivot,  ///< direct: they did not, and there are no others
    stale,           ///< the LU of an earlier system served as preconditioner
    refresh,         ///< iterative: M was made for it
    lagged,          ///< iterative: M of an earlier system served
    batch,           ///< direct: the pivots of an earlier system held, and it was solved together with others
};
constexpr auto names(SolverAction)
{
    return words("none", "factor", "refactor", "repivot", "failed_repivot", "stale", "refresh", "lagged", "batch");
}

/// What was tried, and what came of it.
struct Attempt {
    Plan            plan;
    Device          device;
    IterationReport report;  ///< relative_residual 1 and no steps when there are no factors
    SolverAction    action = SolverAction::none;
    std::string     reason;       ///< why pivots or preconditioner were renewed, or ""
    std::string     failure;      ///< why there was no solve at all, or ""
    std::string     explanation;  ///< what report.detail has no room for, or ""
    std::string     remark;   ///< of a success: why ‖b − A x‖₂ stays above rtol·‖b‖₂ all the same, or ""
    std::string     warning;  ///< of a success: that x may be one of many, or ""
    std::optional<MlIluReport> mlilu;
    std::optional<LuFacts>     lu;                      ///< of a direct solution, as far as it came
    std::optional<GpuReport>   gpu;                     ///< of a solve there
    bool                       device_is_full = false;  ///< out_of_memory means the GPU's
    bool                       inaccurate = false;      ///< the residual converged, x did not
    bool                       no_solution = false;     ///< no x solves A x = b, whatever is tried
    bool pivots_left = false;                  ///< others than an LU's, which would take long, wait for an iteration
    bool given_up = false;                     ///< time_limit means that the other strategy was to be tried
    std::vector<std::string> decisions;        ///< about device and precision
    double                   fill = 0;         ///< stored values of M, or L + U, over nnz(A)
    Index                    zero_pivot = -1;  ///< row at which ILU(0) stopped
    std::size_t              factor_bytes = 0, workspace_bytes = 0;
    double                   seconds_analyse = 0, seconds_factor = 0;
    double                   seconds = 0;  ///< of the whole try
    Accuracy                 accuracy;     ///< of x, as measured by the host once the solve is over
    Solution x;  ///< n; the last iterate, the guess without a solve; empty where it was delivered at once
    std::vector<HistoryPoint> history;  ///< the first two million points, where asked for

    bool converged() const { return report.outcome == Outcome::converged; }
    /// Whether there was a solve. One by LU that ended before its x was measured does not count.
    bool solved() const
    {
        return failure.empty() && (!plan.direct() || action == SolverAction::stale || !std::isnan(accuracy.rowwise));
    }
    /// Whether x is a last iterate: there was a solve, and x is finite.
    bool has_x() const;
    /// Why it did not succeed, in the words of whoever knew; or "".
    std::string why() const { return !failure.empty() ? failure : explanation.empty() ? report.detail : explanation; }

    /// Adds a warning to a success.
    void warn(const std::string& what)
    {
        if (!what.empty()) warning += (warning.empty() ? "" : "; ") + what;
    }

    /// Back to before the solve, x to 0, with nothing left to be explained; what there is about the factors stays.
    void forget_solution();

    /// Seconds of factors are told once, with the first b.
    void forget_seconds() { seconds = seconds_factor = seconds_analyse = 0; }

    /// There is no solve, for that reason.
    void fail(Outcome outcome, std::string why)
    {
        report.outcome = outcome;
        failure = std::move(why);
    }
};

/// Those after a quick try, which comes first and says nothing of the strategies.
inline std::span<const Attempt> beyond_quick(std::span<const Attempt> tried)
{
    return tried.subspan(!tried.empty() && tried[0].plan.quick > 0 ? 1 : 0);
}

}  // namespace ilux
