#pragma once
// What a LinearSolver holds. Of solver/ alone.

#include <algorithm>
#include <functional>
#include <future>
#include <limits>

#include "ilux/solver/asked_null_space.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/engine/machine/machine_rates.hpp"
#include "ilux/solver/policy/choice.hpp"
#include "ilux/solver/policy/quick_try.hpp"
#include "ilux/solver/policy/series_policy.hpp"
#include "ilux/solver/policy/try_limits.hpp"
#include "ilux/solver/policy/try_loop.hpp"
#include "ilux/engine/analysis_limits.hpp"
#include "ilux/engine/strategies.hpp"
#include "ilux/engine/system_vectors.hpp"
#include "ilux/engine/turned_matrix.hpp"

namespace ilux {

/// ‖A‖_F as krylov.stop=backward_error takes it: a number above 0, also of zeros and where it overflows.
inline double usable_norm(double norm)
{
    using Limits = std::numeric_limits<double>;
    return std::clamp(norm, Limits::denorm_min(), Limits::max());
}

/// What a series has measured so far.
struct SeriesRecord {
    double                 promised = 1;  ///< systems to come in all
    double                 begun = 0;     ///< systems whose values came
    StrategyRecord         direct, iterative;
    FormerLu               former_lu;
    Pause                  former_lu_pause;  ///< while it was of no use as preconditioner
    Index                  first_steps = 0;  ///< of the system that M, or its rounds, were made for
    std::string            why_refresh;      ///< why the next system needs another M, or ""
    std::optional<Outcome> last;             ///< of the last b since the last values

    StrategyRecord& of(bool of_direct) { return of_direct ? direct : iterative; }
};

/// What the public calls do; the rules are elsewhere: which calls are allowed and what state they leave
/// (solver_state.hpp), the order of tries (try_loop.hpp, retry.hpp), their time (try_limits.hpp), and what a series
/// keeps (series_policy.hpp).
template <Scalar S>
class LinearSolver<S>::Impl {
public:
    explicit Impl(const SolverOptions& options);
    /// By the same options, with the same null space and listeners, before an analysis.
    std::unique_ptr<Impl> anew() const;

    void         analyse(const CsrView<S>& A, const Ahead& ahead);
    void         analyse(CsrMatrix<S>&& A, const Ahead& ahead);
    void         take_values(const Array<const S>& values);
    FactorReport factor();
    FactorReport refactor();
    /// @param b  finite
    SolverReport              solve(const Array<const S>& b, const Array<S>& x, Transpose transpose);
    std::vector<SolverReport> solve_columns(std::size_t count, const std::function<SolverReport(std::size_t)>& one);
    SolverReport refactor_and_solve(const Array<const S>& values, const Array<const S>& b, const Array<S>& x);
    void         precondition(SystemVectors<S>& given, Transpose transpose);
    BatchReport  solve_batch(const BatchSystems<S>& all);

    /// @throws InvalidInput where the state does not allow it
    void                 require_allowed(SolverCall call) const { ilux::require_allowed(loop.state(), call); }
    const SolverOptions& options() const { return options_; }
    const CsrView<S>&    matrix() const { return A_; }
    /// A's values may be on a GPU alone: before the host reads them.
    void bring_values()
    {
        if (strategies) strategies->bring_values();
    }

    /// In place of krylov.null_space, before an analysis.
    void give_null_space(std::span<const S> columns, Index count);

    TryListener                  listener;
    StopToken                    stop;  // the caller's
    TryLoop                      loop;
    AskedNullSpace<S>            null_space;
    std::optional<Strategies<S>> strategies;  // none before an analysis

private:
    bool             take_on_gpu(const Array<const S>& values);
    void             take_on_host(std::span<const S> values);
    SystemVectors<S> vectors(const Array<const S>& b, const Array<S>& x, bool conjugated = false) const
    {
        return {b, x, options_.sequence.reuse_x && is_finite(x), conjugated};
    }
    bool   automatic() const { return options_.strategy() == SolverMode::automatic; }
    Cpu    cpu() const { return Cpu(options_.threads); }
    double seconds_left() const;
    /// The caller's token, and so many seconds from now.
    StopToken within(double seconds) const { return analysis_within(stop, seconds); }
    TryFacts  facts() const { return {options_, machine_rates(), choice_, beyond_quick(loop.tried()), seconds_left()}; }
    bool      direct() const { return strategies->takes_direct(); }
    void      take_strategy(bool of_direct);
    /// The system of the call under way. Makes Aᴴ where that is needed.
    TurnedMatrix<S> turned();

    TrySteps            steps();
    Plan                plan_of(bool of_direct, std::vector<std::string>& decisions) const;
    Plan                first_plan();
    Plan                first_plan_again();
    std::optional<Plan> next_plan(std::span<const Attempt> tried, std::string& why_not);
    void                choose(std::shared_ptr<const LuSymbolic> stored, const ChoiceFacts* estimated);
    std::optional<Plan> plan_after_quick_try(const Attempt& quick, std::string& why_not);
    bool                factor_by(Attempt& tried);
    bool                factor_lu(Attempt& tried);

    bool          begin_values();
    SolverReport  solve_clear_of_null_space(SystemVectors<S>& given, Transpose transpose);
    SolverReport  solve_as_given(SystemVectors<S>& given, Transpose transpose);
    void          begin_system();
    void          switch_strategy();
    void          leave_symmetric_plan();
    ValuesStep    step_for_values();
    void          renew();
    RefreshLimits refresh_limits() const;

    void solve_by(SystemVectors<S>& given, Attempt& tried);
    void solve_iteratively(SystemVectors<S>& given, Attempt& tried);
    void solve_quickly(const std::function<void(const TryListener& heard, const StopToken& stop)>& iterate,
                       const StopToken& limited, Attempt& tried);
    void solve_by_kept_lu(SystemVectors<S>& given, Attempt& tried);
    void solve_with_current(SystemVectors<S>& given, Attempt& tried);
    void solve_anew(SystemVectors<S>& given, Attempt& tried);
    bool step_on_gpu(std::span<const S> b);

    void  solve_alone(const BatchSystems<S>& all, std::size_t m, BatchReport& report);
    Index solve_together(const BatchSystems<S>& all, Index first, BatchReport& report);
    void  note_together(const BatchSystems<S>& piece, Index first, std::vector<BatchAttempt>& tries,
                        BatchReport& report);

    FactorReport factor_report() const;
    void         tell_cost(SolverReport& report);
    SolverReport report(TryLoop::Call& call, SystemVectors<S>& given);

    SolverOptions               options_;
    const LuOrderFor            asked_order_for_ = options_.lu.order_for;
    CsrMatrix<S>                own_;      // what A_ looks at where the caller gave it away
    /// The last ones, where they are not those of the analysed A.
    std::shared_ptr<SystemValues<S>> values_;
    CsrView<S>                       A_;
    double                      norm_ = 0;  // ‖A‖_F, within the positive numbers
    Choice                      choice_;
    Ahead                       for_ahead_ = 1;
    std::optional<ChoiceFacts>  untold_choice_;              // until the first report
    double                      analysing_ = 0;              // seconds spent on a choice since the last try
    std::vector<S>              guess_;                      // n, or none: 0
    Transpose                   transpose_ = Transpose::no;  // of the last call of solve()
    std::optional<CsrMatrix<S>> adjoint_;                    // Aᴴ with the last values, once it was needed
    SeriesRecord                series_;
    std::future<void>           gpu_start_;               // beside the choice
    bool                        further_column_ = false;  // the time is that of the former column's call
};

}  // namespace ilux
