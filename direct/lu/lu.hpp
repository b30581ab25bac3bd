#pragma once
// Direct solution of a series of systems of one pattern: analyse once, factor, refactor while the pivots hold, solve.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ilux/direct/lu/lu_factored.hpp"
#include "ilux/direct/lu/pivot_choice.hpp"

namespace ilux {

/// What became of a solution.
struct [[nodiscard]] LuSolveReport {
    /// converged: backward error ≤ the tolerance asked for. stagnated: it stayed above. not_finite: x, or the residual,
    /// overflowed. As LuReport where the values could not be factored; then x is as it was, or
    /// after refactor_and_solve of no use.
    Outcome      outcome = Outcome::converged;
    RefineReport refine = {};  ///< the worst right-hand side's
    bool repivoted = false;    ///< the backward error was too large, so new pivots were chosen and it was solved again
    std::string reason = {};   ///< why it repivoted or failed; or ""
};
/// The outcome and reason that follow from report.refine.
void conclude(LuSolveReport& report, double tolerance);

/// A system with the matrix that is refactored: on a GPU one launch can do both.
template <Scalar S>
struct SystemToSolve {
    std::span<const S> b;  ///< n
    std::span<S>       x;  ///< n
};

/// What refactor_and_solve did.
struct [[nodiscard]] LuStepReport {
    LuReport      factors = {};
    LuSolveReport solution = {};  ///< its outcome is that of the factors where those failed
    double        seconds = 0;    ///< in all
};

/// One sequence of pivots, for those who renew numbers by it beside Lu.
struct LuPivots {
    std::shared_ptr<const LuPattern> pattern;
    double                           growth = 1;    ///< of the factors that they were chosen for
    LuOptions                        options = {};  ///< by which they were chosen, and are judged
    std::shared_ptr<const FrontPlan> fronts = {};   ///< null: numbers are by entries
    PivotMonitor                     monitor = {};  ///< of the last numbers by them
};
/// What the monitor of other values by these pivots says of them, by Lu's own rules. action refactor: they hold; or
/// they fail, and so says the outcome. repivot: they are stale, and the reason says why.
LuReport judge_pivots(const LuPivots& pivots, const PivotMonitor& seen);

/// How a Lu stands.
struct LuStatus {
    /// How numbers are renewed: cpu, supernodes, or a method of a GPU; "none" where nothing is known of it yet.
    std::string_view method;
    std::string_view storage;  ///< whether numbers are by entries or by supernodes, and why; "": nothing was factored
    Index            repivots = 0;  ///< those that succeeded, by new pivots or earlier ones
    std::size_t      bytes = 0, device_bytes = 0;
};

/// Factors of one matrix after another, all of the analysed pattern. Repivoting is automatic, counted and explained.
/// Values are as many as the analysed matrix has, in the caller's order, on the host or on a GPU; they are kept for
/// refinement. NaN or Inf among them, singularity and lack of memory are outcomes, after which the next good values
/// work again. S is double or std::complex<double>.
/// @throws InvalidInput when the number of values is another
template <Scalar S = double>
class Lu {
public:
    /// @param options  only pivot_tol, growth_limit and scaling (as gilbert_peierls has it) are used. They may differ
    /// from the analysis's, which are taken where this is left out
    /// @param values  that others look at, too; null: its own
    Lu(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic, const std::optional<LuOptions>& options = {},
       std::shared_ptr<SystemValues<S>> values = nullptr);

    /// From the next call on: asked before each factorization or refactorization, and between columns of
    /// gilbert_peierls. A call that it stops ends as time_limit or cancelled, and the former pivots serve the next one.
    void stop_by(StopToken stop) { stop_ = std::move(stop); }

    /// From the next factorization on numbers are computed on a GPU, which must outlive this, and solutions, too.
    /// Pivots within supernodes are chosen there; others still on the host, and what is made for them is then made at
    /// once. Lack of the GPU's memory is an outcome.
    /// @throws InvalidOption when options.refactor is cpu; InvalidInput while another is in use; OutOfMemory;
    /// DeviceError
    void use_gpu(Gpu& gpu) { place_.use_gpu(gpu); }
    bool on_gpu() const { return place_.device != nullptr; }

    /// The next call, where it chooses pivots before all else, ends as out_of_memory where its pivots among all rows
    /// fill L + U with more than so many times the entries that the analysis predicted: another order may serve better.
    /// The report's pivot is the first that was left.
    void limit_fill(double times) { most_fill_ = times; }

    /// Pivots of an earlier run, or of another process (LuPlan), become the current ones: refactor_or_factor takes them
    /// as long as they hold, and others where not. There are no factors before its first call.
    /// @throws InvalidInput when they are of another order or number of entries
    void take_pivots(std::shared_ptr<const LuPattern> pattern, double growth);

    /// Chooses pivots for one system: within supernodes where status().storage says so, else, and where those do not
    /// do, among all rows. What a series of refactorizations needs is made by the first of them.
    LuReport factor(const Array<const S>& values) { return run(Call::factor, values).report; }
    /// Refactors where pivots exist; the monitors decide by the table of docs/design/direct.md whether they still hold,
    /// and where not, takes those of an earlier system if they hold (a few are kept), else factors anew. The call for
    /// every system of a sequence; after the first it allocates only to repivot.
    LuReport refactor_or_factor(const Array<const S>& values) { return run(Call::refactor_or_factor, values).report; }
    /// The former pivots whatever their growth; a zero or overflowing one is an outcome.
    /// @throws InvalidInput before the first factorization that succeeded
    LuReport refactor(const Array<const S>& values);
    /// refactor_or_factor, then solve; on a GPU all of it is one launch where the pivots hold.
    LuStepReport refactor_and_solve(const Array<const S>& values, std::span<const S> b, std::span<S> x,
                                    double tolerance = 1e-12);

    /// x ← A⁻¹ b, A⁻ᵀ b or A⁻ᴴ b, refined, for as many systems as b holds, vector after vector. A componentwise
    /// backward error above `tolerance` leads to repivoting, unless the pivots were chosen for these values, and if it
    /// stays, to an outcome that is no success. Allocates only to repivot, and when b holds several systems for the
    /// first time, on a GPU more of them than before.
    /// @throws InvalidInput before any factorization, when lengths disagree, or when b and x overlap
    LuSolveReport solve(std::span<const S> b, std::span<S> x, Transpose transpose = Transpose::no,
                        double tolerance = 1e-12);
    /// Solves and refines with the pivots as they are, for a caller who has other means than new ones.
    /// @param b, x  those of a GPU are read and written in the order of its stream; they pass through the host where
    /// they are of several systems, or the factors are elsewhere
    LuSolveReport solve_as_factored(const Array<const S>& b, const Array<S>& x, Transpose transpose = Transpose::no,
                                    double tolerance = 1e-12);
    /// Whether solve() would choose other pivots where these do not do.
    bool may_choose_pivots() const;
    /// On the host, with the pivots as they are. Serves several threads at once, each with its own backend and
    /// workspace.
    LuSolveReport solve(Cpu& be, std::span<const S> b, std::span<S> x, LuWorkspace<S>& ws,
                        Transpose transpose = Transpose::no, double tolerance = 1e-12) const;

    /// Factors of the last values, if they could be factored; valid until the next factorization or repivoting. Those
    /// of a GPU are brought to the host by the first call, which no other thread's may meet.
    /// @throws InvalidInput where there are none
    const LuFactors<S>& factors() const;
    /// The current ones; nothing is brought from a GPU. @throws InvalidInput as factors()
    LuPivots         pivots() const;
    SystemValues<S>& values() { return *place_.values; }  ///< the last ones, and where the next may be written
    /// The caller's pattern with the last values.
    MatrixView<S> matrix() const { return matrix_of(*symbolic_, *place_.values); }
    LuStatus      status() const;

private:
    /// Which of the calls above.
    enum class Call { factor, refactor, refactor_or_factor };
    /// What became of new values, and of the system that came with them where one launch solved it, too.
    struct Renewed {
        LuReport                    report = {};
        std::optional<RefineReport> solved = {};
    };

    Renewed        run(Call call, const Array<const S>& values, const SystemToSolve<S>* system = nullptr);
    void           work(Call call, const SystemToSolve<S>* system, double most_fill, Renewed& renewed);
    bool           refactor_with(ChosenPivots<S>& pivots, const SystemToSolve<S>* system, Renewed& renewed);
    bool           earlier_pivots_hold(const SystemToSolve<S>* system, Renewed& renewed);
    bool           choose_among_all_rows(LuReport& report, double most_fill = 0);
    LuFactored<S>& now() const { return *pivots_.front().factored; }

    Cpu                               be_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    LuOptions                         options_;
    LuPlace<S>                        place_;
    PivotChoice<S>                    choice_;
    std::vector<ChosenPivots<S>>      pivots_;  // the current ones first, then those of earlier systems
    double                            most_fill_ = 0;
    StopToken                         stop_;
    std::optional<Outcome>            outcome_;  // of the last factorization
    LuAction                          action_ = LuAction::factor;
    LuWorkspace<S>                    ws_;
    Index                             repivots_ = 0;
};

}  // namespace ilux
