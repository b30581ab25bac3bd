#pragma once
// The direct strategy for systems of one pattern: analysed once, factored, refactored while the pivots serve.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/gpu_lu_judge.hpp"
#include "ilux/engine/lu_batches.hpp"
#include "ilux/engine/lu_judge.hpp"
#include "ilux/engine/stored_plan.hpp"
#include "ilux/engine/system_vectors.hpp"
#include "ilux/engine/matrix_or_adjoint.hpp"

namespace ilux {

/// A series by LU: the pivots of one system serve the next ones while the monitors agree.
template <Scalar S = double>
class DirectSolver {
public:
    /// @param systems  that are to come in all; with more than one a GPU may take part
    /// @param values   the systems', which others look at, too
    DirectSolver(Machine machine, const SolverOptions& options, double systems,
                 std::shared_ptr<SystemValues<S>> values = nullptr);
    DirectSolver(DirectSolver&&) = delete;

    /// By lu, which may differ from the options; or an analysis that was made with them.
    /// @param stop  ends the analysis
    /// @throws OutOfMemory with the prediction when L and U would pass the limit
    void analyse(const CsrView<S>& A, const LuOptions& lu, const StopToken& stop = {});
    void take(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& lu);
    /// What options.plan holds: the first values are tried with its pivots, if there are any.
    void take(const LuPlan& stored, const LuOptions& lu);
    bool analysed() const { return symbolic_ != nullptr; }
    /// Takes another pivot_tol for later factorizations, and drops the factors; the analysis stays.
    void choose_pivots_by(const LuOptions& lu);
    bool chooses_pivots_by(const LuOptions& lu) const { return given_.pivot_tol == lu.pivot_tol; }

    /// Pivots for these numbers, once analysed; the former ones, where they hold and `anew` is not set. Singularity,
    /// lack of time and cancellation are outcomes.
    /// @param stop  gives a factorization under way up
    /// @return whether A x = b can be solved now; where not, `tried` says why
    bool factor(const CsrView<S>& A, bool anew, const StopToken& stop, Attempt& tried);
    /// Solves, refines and judges; may choose other pivots. Where the factors and the arrays are on one GPU, all of it
    /// is done there, as long as x is good at once: tried.x becomes empty then, as x was delivered.
    /// @param host_matrix  makes the matrix for the host  @param tried  .x becomes the solution
    /// @param stop  lets no other pivots be chosen  @param patient  other pivots may take long; else they are left,
    /// which tried.pivots_left says
    void solve(const CsrView<S>& A, Transpose transpose, const std::function<MatrixOrAdjoint<S>()>& host_matrix,
               SystemVectors<S>& given, double rtol, const StopToken& stop, bool patient, Attempt& tried);
    /// z ← A⁻¹ r or A⁻ᴴ r by the factors, of which there must be some; on a GPU refined, as all solves are there.
    /// @param given  r is its b, z its x
    void apply(const CsrView<S>& A, SystemVectors<S>& given, Transpose transpose);
    /// factor() and solve(): on a GPU one launch where the pivots hold.
    /// @param factors  out, where there are factors: the try as it was before x was judged
    void step(const CsrView<S>& A, std::span<const S> b, double rtol, const StopToken& stop, Attempt& tried,
              Attempt& factors);

    LuBatches<S>& batches() { return batches_; }
    /// Without solving any longer: memory and GPU's factors are given back; the analysis stays.
    void release();

    bool           factored() const { return factored_; }
    const Lu<S>&   lu() const { return *lu_; }  ///< where there are, or were, factors
    const auto&    symbolic() const { return symbolic_; }
    const Machine& machine() const { return machine_; }

private:
    /// What a series has brought so far.
    struct Series {
        double      systems;                  // to come in all
        bool        device_chosen = false;    // whether a GPU takes part
        bool        plan_due = false;         // options.plan is to be written
        bool        condition_known = false;  // of the pivots chosen last
        Index       repivots = 0;             // of factors since given back
        std::string storage = {};             // as told last
    };
    struct StoredPivots {
        std::shared_ptr<const LuPattern> pattern;
        double                           growth;
    };
    void           drop_factors();
    void           begin(const StopToken& stop, Attempt& tried);
    LuReport       reordered(const CsrView<S>& A, const LuReport& filled, const StopToken& stop, Attempt& tried);
    bool           took(const LuReport& done, Attempt& tried);
    void           note(const CsrView<S>& A, Attempt& tried);
    void           judge(const MatrixOrAdjoint<S>& A, std::span<const S> b, double rtol, const LuSolveReport& solved,
                         Attempt& tried);
    void           note_condition(const CsrView<S>& A, Attempt& tried);
    GpuLuJudge<S>* judge_there(const CsrView<S>& A, const SystemVectors<S>& given);

    Machine                           machine_;
    SolverOptions                     options_;
    Series                            series_;
    std::shared_ptr<SystemValues<S>>  values_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    LuOptions                         given_;   // of analysis and factors, as they were asked for
    std::optional<StoredPivots>       stored_;  // until the first factors are made
    std::optional<Lu<S>>              lu_;
    std::optional<LuFacts>            facts_;
    bool                              factored_ = false;  // the last numbers
    std::optional<LuJudge<S>>         judge_;
    std::optional<GpuLuJudge<S>>      judge_there_;  // once arrays of the GPU came
    LuBatches<S>                      batches_;
    WallClock                         clock_;  // since the call under way began
};

}  // namespace ilux
