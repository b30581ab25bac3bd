#pragma once
// What a LinearSolver holds. Of solver/ alone.

#include <algorithm>

#include "ilux/solver/choice.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/solver/lu_preconditioner.hpp"
#include "ilux/solver/retry.hpp"
#include "ilux/solver/way_history.hpp"

namespace ilux {

/// The seconds that one system may take, over several calls: time between them does not count.
class TimeBudget {
public:
    void   restart() { spent_ = 0; }
    void   enter() { clock_ = WallClock(); }
    void   leave() { spent_ += clock_.seconds(); }
    void   at_least(double seconds) { spent_ = std::max(spent_, seconds); }
    double elapsed() const { return spent_ + clock_.seconds(); }

private:
    double    spent_ = 0;
    WallClock clock_;
};

/// Whether an LU of earlier numbers is worth trying as preconditioner: it is not for a while after it was of no use.
struct StaleLu {
    double refactor = 0, solve = 0;  ///< seconds, as last measured
    Pause  pause;

    Index steps(Index restart) const;  ///< that cost half of a refactorization
};

class LinearSolver::Impl {
public:
    explicit Impl(const SolverOptions& options);

    void         analyse(const CsrMatrix<double>& A, double systems);
    FactorReport factor();
    FactorReport refactor();
    SolverReport solve(std::span<const double> b, std::span<double> x);
    SolverReport refactor_and_solve(std::span<const double> b, std::span<double> x);
    void         take(std::span<const double> values);
    void         check_vectors(std::span<const double> b, std::span<const double> x) const;
    void         take_guess(std::span<const double> x);
    bool         factored_once() const { return analysed && !first_; }

    const SolverOptions& options() const { return options_; }

    TryListener                         listener;
    std::function<void(const Attempt&)> after;
    CsrMatrix<double>                   A;
    bool                                analysed = false;
    bool                                direct = true;  // the way taken last
    std::unique_ptr<DirectSolver>       lu_way;
    std::unique_ptr<IterativeSolver>    iterative_way;

private:
    using Work = std::function<void(Attempt&)>;

    enum class Brings { numbers, b };  // a call: of factor() or refactor(), or of solve()

    /// A call of the user's. What it tried is forgotten where an exception breaks it off.
    class Call {
    public:
        Call(Impl& solver, Brings brings) : solver_(solver), brings_(brings), tries_(solver.tries_.size())
        {
            solver_.budget_.enter();
        }
        Call(const Call&) = delete;
        ~Call()
        {
            if (!done_) solver_.broke_off(brings_, tries_);
        }
        void done()
        {
            solver_.budget_.leave();
            done_ = true;
        }

    private:
        Impl&       solver_;
        Brings      brings_;
        std::size_t tries_;  // that there were
        bool        done_ = false;
    };

    Attempt             begun(const Plan& plan) const;
    void                guarded(Attempt& tried, const Work& work) const;
    void                note(const std::vector<std::string>& decisions);
    void                end(Attempt tried);
    bool                automatic() const { return options_.way() == SolverMode::automatic; }
    void                note_given_up(Attempt& tried) const;
    double              seconds_left() const;
    bool                other_way_open(bool for_direct) const;
    double              share_of_time(bool for_direct) const;
    double              seconds_for(bool for_direct) const;
    Index               most_steps(const Attempt& tried) const;
    void                make_way(bool for_direct);
    void                take_way(bool for_direct);
    Plan                plan_of(bool for_direct);
    std::optional<Plan> next();
    Plan                first_plan_again();
    bool                establish(std::optional<Plan> plan);
    void                factor_by(Attempt& tried);
    bool                analysed_for(const Plan& plan) const;
    bool                analyse_for(double seconds, Attempt& tried);
    bool                put_off(Attempt& tried);
    bool                begin_numbers();
    void                begin_system();
    void                renew();
    void                renew_direct();
    void                renew_iterative();
    void                change_way();
    WayRecord&          record_of(bool for_direct) { return for_direct ? direct_record_ : iterative_record_; }
    bool                stale_may_help();
    void                solve_by(std::span<const double> b, Attempt& tried);
    void                solve_lagged(std::span<const double> b, Attempt& tried);
    void                solve_stale(std::span<const double> b, Attempt& tried);
    void                forget_seconds();
    void                keep_plan();
    bool                solve_anew(std::span<const double> b, Attempt& tried);
    void                judge_preconditioner(const Attempt& tried);
    bool                solve_with_current(std::span<const double> b);
    void                solve_until_it_is(std::span<const double> b);
    Index               most_lagged_steps() const;
    bool                step_on_gpu(std::span<const double> b);
    void                remember();
    void                accept_what_can_be_known();
    SolverReport        report(Call& call, std::span<double> x);
    FactorReport        factor_report() const;
    void                broke_off(Brings brings, std::size_t tries_before) noexcept;

    SolverOptions            options_;
    double                   systems_ = 1, begun_ = 0;  // to come in all; whose numbers came
    double                   norm_ = 0;                 // ‖A‖_F, within the positive numbers
    Choice                   choice_;
    Attempt                  current_;         // as far as its factors; what solve() starts from
    bool                     ready_ = false;   // they are there, and of the last numbers
    bool                     served_ = false;  // some were, and a b was solved for with them
    std::vector<double>      guess_;           // n, or none: 0
    std::vector<Attempt>     tries_;           // since the last report
    std::vector<std::string> decisions_;
    std::string              stopped_;
    TimeBudget               budget_;
    double                   analysing_ = 0;    // seconds spent in analyse()
    bool                     first_ = true;     // nothing was factored since the analysis
    bool                     solved_ = false;   // something was, since the last new numbers
    bool                     failed_ = false;   // the last system was not solved
    Index                    first_steps_ = 0;  // of the system that M was made for
    std::string              stale_M_;          // why the next system needs another M, or ""
    WayRecord                direct_record_, iterative_record_;
    StaleLu                  stale_;
};

}  // namespace ilux
