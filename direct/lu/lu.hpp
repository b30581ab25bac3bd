#pragma once
// Direct solution of a series of systems of one pattern: analyse once, factor, refactor while the pivots hold, solve.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/lu/lu_numbers.hpp"
#include "ilux/direct/supernodal/front_choice.hpp"

namespace ilux {

/// What was done with new values.
enum class LuAction {
    factor,    ///< pivots chosen for them
    refactor,  ///< the former pivots held
    repivot,   ///< the former pivots were found stale, so others were taken
};
inline std::span<const std::string_view> names(LuAction)
{
    static constexpr std::array<std::string_view, 3> all{"factor", "refactor", "repivot"};
    return all;
}

/// What became of new values.
struct [[nodiscard]] LuReport {
    /// converged: usable factors; singular; not_finite; out_of_memory; time_limit; cancelled
    Outcome    outcome = Outcome::converged;
    LuAction   action = LuAction::factor;
    PivotState state = PivotState::good;  ///< what the monitors said of the former pivots; good where there were none
    /// Why it repivoted or failed, with figures and the caller's row and column (counted from 1, as in every message);
    /// or ""
    std::string reason = {};
    Index       row = -1, column = -1;  ///< of the caller, where one is to blame; −1: none
    Index       pivot = -1;             ///< number of the failing pivot in the order of elimination
    bool        overfilled = false;     ///< it was ended by limit_fill; the outcome is out_of_memory
    double      seconds = 0;
};

/// What became of a solution.
struct [[nodiscard]] LuSolveReport {
    /// converged: backward error ≤ the tolerance asked for. stagnated: it stayed above. not_finite: x, or the residual,
    /// overflowed. As LuReport where the values could not be factored; then x is as it was.
    Outcome      outcome = Outcome::converged;
    RefineReport refine = {};  ///< the worst right-hand side's
    bool repivoted = false;    ///< the backward error was too large, so new pivots were chosen and it was solved again
    std::string reason = {};   ///< why it repivoted or failed; or ""
};
/// The outcome and reason that follow from report.refine.
void conclude(LuSolveReport& report, double tolerance);

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
};
/// What the monitor of other values by these pivots says of them, by Lu's own rules. action refactor: they hold; or
/// they fail, and so says the outcome. repivot: they are stale, and the reason says why.
LuReport judge_pivots(const LuPivots& pivots, const PivotMonitor& seen);

/// Factors of one matrix after another, all of the analysed pattern. Repivoting is automatic, counted and explained.
/// `values` are as many as the analysed matrix has, in the caller's order; they are kept for refinement. A MatrixView
/// is compared with the analysed pattern first, which costs a pass over it. NaN or Inf among the values, singularity
/// and lack of memory are outcomes, after which the next good values work again. S is double or std::complex<double>.
/// @throws InvalidInput when the number of values, or the pattern, is another
template <Scalar S = double>
class Lu {
public:
    /// @param options  only pivot_tol, growth_limit and scaling (as gilbert_peierls has it) are used. They may differ
    /// from the
    ///                 analysis's, which are taken where this is left out
    Lu(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options);
    Lu(Cpu& be, const std::shared_ptr<const LuSymbolic>& symbolic) : Lu(be, symbolic, symbolic->options) {}

    /// From the next call on: asked before each factorization or refactorization, and between columns of
    /// gilbert_peierls. A call that it stops ends as time_limit or cancelled, and the former pivots serve the next one.
    void heed(StopToken stop) { stop_ = std::move(stop); }

    /// From the next factorization on numbers are computed on a GPU, which must outlive this, and solutions, too.
    /// Pivots within supernodes are chosen there; others still on the host, and what is made for them is then made at
    /// once. Lack of the GPU's memory is an outcome.
    /// @throws InvalidOption when options.refactor is cpu; OutOfMemory; DeviceError
    void use_gpu(Gpu& gpu) { numbers_.use_gpu(gpu); }
    bool on_gpu() const { return numbers_.on_gpu(); }
    /// How numbers are renewed: cpu, or a method of a GPU, of which nothing is known before the first factorization.
    std::string_view refactor_method() const;
    /// Whether numbers are by entries or by supernodes, and why; empty before the first factorization.
    const std::string& storage() const { return fronts_.why; }

    /// Where the next system's values may be written, which saves a copy of them; until they are factored, former
    /// systems may no longer be solved.
    std::span<S> next_values() { return numbers_.next_values(); }
    /// Begins to bring next_values() to the GPU, if there is one, beside what the host does until it factors them.
    void upload_next() { numbers_.upload_next(); }

    /// The next call, where it is a first factorization, ends as out_of_memory where its pivots among all rows fill L +
    /// U with more than so many times the entries that the analysis predicted: another order may serve better. The
    /// report's pivot is the first that was left.
    void limit_fill(double times) { most_fill_ = times; }

    /// Pivots of an earlier run, or of another process (LuPlan), become the current ones: refactor_or_factor takes them
    /// as long as they hold, and others where not. There are no factors before its first call.
    /// @throws InvalidInput when they are of another order or number of entries
    void take_pivots(std::shared_ptr<const LuPattern> pattern, double growth);

    /// Chooses pivots for one system: within supernodes where storage() says so, else, and where those do not do, among
    /// all rows. What a series of refactorizations needs is made by the first of them.
    LuReport factor(std::span<const S> values);
    LuReport factor(const MatrixView<S>& A);

    /// Refactors where pivots exist; the monitors decide by the table of docs/design/direct.md whether they still hold,
    /// and where not, takes those of an earlier system if they hold (a few are kept), else factors anew. The call for
    /// every system of a sequence; after the first it allocates only to repivot.
    LuReport refactor_or_factor(std::span<const S> values);
    LuReport refactor_or_factor(const MatrixView<S>& A);

    /// The former pivots whatever their growth; a zero or overflowing one is an outcome.
    /// @throws InvalidInput before the first factorization that succeeded
    LuReport refactor(std::span<const S> values);
    LuReport refactor(const MatrixView<S>& A);

    /// The same for values that are on the GPU in use. @throws InvalidInput without one, or for another number of
    /// values
    LuReport refactor_or_factor(DeviceSpan<const S> values);
    /// The same for values that are there and on the host. @throws InvalidInput, too, where there are more of one than
    /// of the other
    LuReport refactor_or_factor(std::span<const S> values, DeviceSpan<const S> there);

    /// refactor_or_factor, then solve; on a GPU all of it is one launch where the pivots hold.
    LuStepReport refactor_and_solve(std::span<const S> values, std::span<const S> b, std::span<S> x,
                                    double tolerance = 1e-12);

    /// x ← A⁻¹ b, A⁻ᵀ b or A⁻ᴴ b, refined, for as many systems as b holds, vector after vector. A componentwise
    /// backward error above `tolerance` leads to repivoting, unless the pivots were chosen for these values, and if it
    /// stays, to an outcome that is no success. Allocates only to repivot, and when b holds several systems for the
    /// first time, on a GPU more of them than before.
    /// @throws InvalidInput before any factorization, when lengths disagree, or when b and x overlap
    LuSolveReport solve(std::span<const S> b, std::span<S> x, Transpose transpose = Transpose::no,
                        double tolerance = 1e-12);
    /// Solves and refines with the pivots as they are, for a caller who has other means than new ones.
    LuSolveReport solve_as_factored(std::span<const S> b, std::span<S> x, Transpose transpose = Transpose::no,
                                    double tolerance = 1e-12);
    /// Whether solve() would choose other pivots where these do not do.
    bool may_choose_pivots() const;
    /// The same for one system whose vectors are on the GPU in use, with the pivots as they are.
    /// @return nothing where the host has to solve it: the factors are not there, x is not finite, or not as good as
    /// `tolerance`
    /// @throws InvalidInput when lengths disagree
    std::optional<LuSolveReport> solve_on_gpu(DeviceSpan<const S> b, DeviceSpan<S> x,
                                              Transpose transpose = Transpose::no, double tolerance = 1e-12);
    /// The last values, on the GPU in use; none without one.
    DeviceSpan<const S> device_values() const { return numbers_.device_values(); }
    /// On the host, with the pivots as they are. Serves several threads at once, each with its own backend and
    /// workspace.
    LuSolveReport solve(Cpu& be, std::span<const S> b, std::span<S> x, LuWorkspace<S>& ws,
                        Transpose transpose = Transpose::no, double tolerance = 1e-12) const;

    /// Of the last values, where they could be factored; valid until the next factorization or repivoting. Those of a
    /// GPU are brought to the host by the first call, which no other thread's may meet.
    /// @throws InvalidInput where there are none
    const LuFactors<S>& factors() const;
    /// factors().monitor, and nothing is brought.
    const PivotMonitor& monitor() const;
    /// The current ones; nothing is brought from a GPU. @throws InvalidInput as factors()
    LuPivots      pivots() const;
    MatrixView<S> matrix() const { return numbers_.matrix(); }  ///< the caller's pattern with the last values
    Index         repivots() const { return repivots_; }        ///< those that succeeded, by new pivots or earlier ones
    std::size_t   bytes() const;
    std::size_t   device_bytes() const;

private:
    struct Pivots {
        typename LuNumbers<S>::Factors factors;
        double                         growth;  ///< when they were chosen
    };
    /// Which of the calls above.
    enum class Call { factor, refactor, refactor_or_factor };
    /// What became of new values, and of the system that came with them where one launch solved it, too.
    struct Renewed {
        LuReport                    report = {};
        std::optional<RefineReport> solved = {};
    };

    /// @param there  the values on the GPU in use; none: they are brought
    Renewed run(Call call, std::span<const S> values, const SystemToSolve<S>* system = nullptr,
                DeviceSpan<const S> there = {});
    void    work(Call call, const SystemToSolve<S>* system, double most_fill, Renewed& renewed);
    bool    finite_values(LuReport& report) const;
    bool    refactor_with(Pivots& pivots, const SystemToSolve<S>* system, Renewed& renewed);
    bool    holds(const Pivots& pivots, LuReport& report) const;
    bool    earlier_pivots_hold(const SystemToSolve<S>* system, Renewed& renewed);
    std::optional<typename LuNumbers<S>::Factors> made_by_fronts();
    bool                                          choose_within_fronts(LuReport& report);
    bool                                          fronts_fit(Pivots& pivots, LuReport& report);
    void                                          choose_pivots(LuReport& report, double most_fill = 0);
    void                                          keep(Pivots pivots);

    void          require_vectors(std::span<const S> b, std::span<S> x) const;
    LuSolveReport begin_solve(std::span<const S> b, std::span<S> x) const;

    static constexpr std::size_t most_pivots = 3;  ///< sets of them that are kept

    Cpu                               be_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    LuOptions                         options_;
    LuNumbers<S>                      numbers_;
    std::vector<Pivots>               pivots_;  ///< the current ones first, then those of earlier systems
    FrontChoice                       fronts_;
    double                            most_fill_ = 0;
    StopToken                         stop_;
    std::optional<Outcome>            outcome_;  ///< of the last factorization
    LuAction                          action_ = LuAction::factor;
    LuWorkspace<S>                    ws_;
    Index                             repivots_ = 0;
};

}  // namespace ilux
