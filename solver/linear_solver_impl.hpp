#pragma once
// What a LinearSolver holds. Of solver/ alone.

#include <future>
#include <memory>

#include "ilux/engine/strategies.hpp"
#include "ilux/solver/asked_null_space.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/solver/policy/planner.hpp"
#include "ilux/solver/policy/series_record.hpp"
#include "ilux/solver/policy/attempt_loop.hpp"
#include "ilux/solver/system_matrix.hpp"

namespace ilux {

/// What the public calls do; the rules are elsewhere: which calls are allowed and what state they leave
/// (solver_state.hpp), what is tried (planner.hpp), the order of tries (attempt_loop.hpp), their time
/// (attempt_limits.hpp), and what a series keeps (series_policy.hpp).
template <Scalar S>
class LinearSolver<S>::Impl {
public:
    explicit Impl(const SolverOptions& options);
    /// By the same options, with the same null space and listeners, before an analysis.
    std::unique_ptr<Impl> anew() const;

    void         analyse(const CsrView<S>& A, const Ahead& ahead);
    void         take_values(const Array<const S>& values);
    FactorReport factor();
    FactorReport refactor();  ///< for values that take_values() took
    /// @param b  finite  @param further  a column after others, whose time is that of their call
    SolverReport solve(const Array<const S>& b, const Array<S>& x, Transpose transpose, Guess guess,
                       bool further = false);
    SolverReport refactor_and_solve(const Array<const S>& values, const Array<const S>& b, const Array<S>& x);
    void         precondition(SystemVectors<S>& given, Transpose transpose);

    SolverOptions                options;
    AttemptListener              listener;
    StopToken                    stop;  // the caller's
    AttemptLoop                  loop;
    AskedNullSpace<S>            null_space;
    SystemMatrix<S>              system;
    Planner<S>                   planner;
    SeriesRecord                 series;
    std::optional<Strategies<S>> strategies;  // none before an analysis

private:
    CallState           call() const;
    void                take_strategy(bool of_direct);
    Plan                first_plan(bool again = false);
    std::optional<Plan> next_plan(std::span<const Attempt> tried, std::string& why_not);
    bool                factor_by(Attempt& tried, bool anew = true);

    bool begin_values();
    void begin_system();
    void renew();

    SolverReport solve_as_given(SystemVectors<S>& given, Transpose transpose, bool further);
    void         solve_by(SystemVectors<S>& given, Attempt& tried);
    void         solve_iteratively(SystemVectors<S>& given, Attempt& tried);
    void         solve_by_kept_lu(SystemVectors<S>& given, Attempt& tried);
    void         solve_with_current(SystemVectors<S>& given, Attempt& tried);
    void         solve_anew(SystemVectors<S>& given, Attempt& tried);
    bool         step_on_gpu(std::span<const S> b);
    SolverReport report(AttemptLoop::Call& call, SystemVectors<S>& given);

    const LuOrderFor                 asked_order_for_ = options.lu.order_for;  // before an analysis decided
    std::vector<S>                   guess_;                                   // n, or none: 0
    std::unique_ptr<ComingMatrix<S>> coming_;                     // A on its way to a GPU, while a plan is made
    Transpose                        transpose_ = Transpose::no;  // of the last call of solve()
    std::future<void>                gpu_start_;                  // beside the choice
};

}  // namespace ilux
