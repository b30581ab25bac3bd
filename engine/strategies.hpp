#pragma once
// The two strategies of a LinearSolver, of which one is taken at a time.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ilux/engine/direct_solver.hpp"
#include "ilux/engine/iterative_solver.hpp"

namespace ilux {

/// A direct and an iterative solver, each made when it is taken first. The one not taken holds no factors, so that a
/// memory limit holds for both together; an analysis for LU stays.
template <Scalar S = double>
class Strategies {
public:
    /// @param A  the systems' matrix, whose values may change; must outlive this
    /// @param systems  that are to come  @param values  where A's values are, once others were given  @param symbolic
    /// an analysis that was made already, or null
    /// @param stored    what options.plan holds, the analysis included
    Strategies(const SolverOptions& options, const CsrView<S>& A, double systems,
               std::shared_ptr<const LuSymbolic> symbolic, std::optional<LuPlan> stored = {},
               std::shared_ptr<SystemValues<S>> values = nullptr);

    /// An analysis that was made meanwhile, or null, before a direct solver is taken.
    void know(std::shared_ptr<const LuSymbolic> symbolic) { symbolic_ = std::move(symbolic); }
    /// From now on this one. @return what was decided about its device
    std::vector<std::string> take(bool direct);
    bool                     takes_direct() const { return takes_direct_; }

    DirectSolver<S>&          direct() { return *direct_; }        ///< once taken
    IterativeSolver<S>&       iterative() { return *iterative_; }  ///< once taken
    const IterativeSolver<S>& iterative() const { return *iterative_; }

    bool has_preconditioner() const { return iterative_ && iterative_->factored(); }
    void release_preconditioner();
    /// IterativeSolver's, where there is one.
    void bring_values();
    void forget_values();
    bool lu_analysed() const { return direct_ && direct_->analysed(); }
    /// Whether there is an analysis for LU that serves these options. Needs a direct solver.
    bool analysed_for(const LuOptions& lu) const;
    /// The analysis for LU of tried.plan, where it is not there yet.
    /// @return whether values can be factored; where A has no LU, `tried` says so. @throws Cancelled, OutOfTime
    bool analyse_lu(const StopToken& stop, Attempt& tried);

    Device device() const;
    /// What there is of the strategy taken, or null.
    const Lu<S>*             lu() const;
    const PrecondFactors<S>* preconditioner() const;

private:
    SolverOptions                       options_;
    const CsrView<S>&                   A_;
    double                              systems_;
    std::shared_ptr<SystemValues<S>>    values_;
    std::shared_ptr<const LuSymbolic>   symbolic_;
    std::optional<LuPlan>               stored_;
    bool                                takes_direct_ = true;
    std::unique_ptr<DirectSolver<S>>    direct_;
    std::unique_ptr<IterativeSolver<S>> iterative_;
};

}  // namespace ilux
