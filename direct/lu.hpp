#pragma once
// Direct solution of a series of systems of one pattern: analyse once, factor, refactor while the pivots hold, solve.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/direct/gilbert_peierls.hpp"
#include "ilux/direct/lu_solve.hpp"
#include "ilux/direct/refactor.hpp"

namespace ilux {

/// What was done with new values.
enum class LuAction {
    factor,    ///< pivots chosen for them
    refactor,  ///< the former pivots held
    repivot,   ///< the former pivots were found stale, so others were taken
};
std::string_view name(LuAction action);

struct LuReport {
    Outcome     outcome = Outcome::converged;  ///< converged: usable factors; singular; not_finite; out_of_memory
    LuAction    action = LuAction::factor;
    PivotState  state = PivotState::good;  ///< what the monitors said of the former pivots; good where there were none
    std::string reason = {};  ///< why it repivoted or failed, with figures and the caller's row and column; or ""
    Index       row = -1, column = -1;  ///< of the caller, where one is to blame; −1: none
    Index       pivot = -1;             ///< number of the failing pivot in the order of elimination
    double      seconds = 0;
};

struct LuSolveReport {
    /// converged: backward error ≤ the tolerance asked for. stagnated: it stayed above. not_finite: x, or the residual,
    /// overflowed. As LuReport where the values could not be factored; then x is as it was.
    Outcome      outcome = Outcome::converged;
    RefineReport refine = {};  ///< the worst right-hand side's
    bool repivoted = false;    ///< the backward error was too large, so new pivots were chosen and it was solved again
    std::string reason = {};   ///< why it repivoted or failed; or ""
};

/// Factors of one matrix after another, all of the analysed pattern. Repivoting is automatic, counted and explained.
/// `values` are as many as the analysed matrix has, in the caller's order; they are kept for refinement. A MatrixView is
/// compared with the analysed pattern first, which costs a pass over it. NaN or Inf among the values, singularity and
/// lack of memory are outcomes, after which the next good values work again.
/// @throws InvalidInput when the number of values, or the pattern, is another
class Lu {
public:
    Lu(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic);

    /// Chooses pivots for one system. What a series of refactorizations needs is made by the first of them.
    LuReport factor(std::span<const double> values);
    LuReport factor(const MatrixView& A);

    /// Refactors where pivots exist; the monitors decide by the table of docs/design/direct.md whether they still hold,
    /// and where not, takes those of an earlier system if they hold (a few are kept), else factors anew. The call for
    /// every system of a sequence; after the first it allocates only to repivot.
    LuReport refactor_or_factor(std::span<const double> values);
    LuReport refactor_or_factor(const MatrixView& A);

    /// The former pivots whatever their growth; a zero or overflowing one is an outcome.
    /// @throws InvalidInput before the first factorization that succeeded
    LuReport refactor(std::span<const double> values);
    LuReport refactor(const MatrixView& A);

    /// x ← A⁻¹ b or A⁻ᵀ b, refined, for as many systems as b holds, vector after vector. A componentwise backward error
    /// above `tolerance` leads to repivoting, unless the pivots were chosen for these values, and if it stays, to an
    /// outcome that is no success. Allocates only to repivot, and when b first holds several systems.
    /// @throws InvalidInput before any factorization, when lengths disagree, or when b and x overlap
    LuSolveReport solve(std::span<const double> b, std::span<double> x, Transpose transpose = Transpose::no,
                        double tolerance = 1e-12);
    /// The same with the pivots as they are. Serves several threads at once, each with its own backend and workspace.
    LuSolveReport solve(Cpu& be, std::span<const double> b, std::span<double> x, LuWorkspace& ws,
                        Transpose transpose = Transpose::no, double tolerance = 1e-12) const;

    /// Of the last values, where they could be factored; valid until the next factorization or repivoting.
    /// @throws InvalidInput where there are none
    const LuFactors& factors() const;
    MatrixView       matrix() const;                         ///< the caller's pattern with the last values
    Index            repivots() const { return repivots_; }  ///< those that succeeded, by new pivots or earlier ones
    std::size_t      bytes() const;

private:
    struct Pivots {
        LuFactors                  factors;
        double                     growth;         ///< when they were chosen
        std::optional<CpuRefactor> refactor = {};  ///< made when first needed
    };

    LuReport run(LuAction utmost, std::span<const double> values);
    void     work(LuAction utmost, LuReport& report);
    bool     finite_values(LuReport& report) const;
    void     plan(Pivots& pivots);
    bool     refactor_with(Pivots& pivots, LuReport& report);
    bool     holds(const Pivots& pivots, LuReport& report) const;
    bool     earlier_pivots_hold();
    void     choose_pivots(LuReport& report);
    void     keep(Pivots pivots);

    Cpu                               be_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    std::vector<double>               values_;
    std::vector<Pivots>               pivots_;   ///< the current ones first, then those of earlier systems
    std::optional<Outcome>            outcome_;  ///< of the last factorization
    LuAction                          action_ = LuAction::factor;
    LuWorkspace                       ws_;
    Index                             repivots_ = 0;
};

}  // namespace ilux
