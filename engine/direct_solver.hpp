#pragma once
// The direct strategy for systems of one pattern: analysed once, factored, refactored while the pivots serve.

#include <memory>
#include <optional>
#include <span>

#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/report/attempt.hpp"
#include "ilux/engine/direct_batch.hpp"
#include "ilux/engine/report/gpu_accuracy.hpp"
#include "ilux/engine/gpu_direct_side.hpp"
#include "ilux/engine/stored_plan.hpp"
#include "ilux/engine/system_vectors.hpp"
#include "ilux/engine/turned_matrix.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

/// A series by LU: the pivots of one system serve the next ones while the monitors agree.
template <Scalar S = double>
class DirectSolver {
public:
    /// @param systems  that are to come in all; with more than one a GPU may take part
    DirectSolver(Machine machine, const SolverOptions& options, double systems);

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
    /// The values that factor() gets are on a GPU, too: they are not brought to it again. An empty array ends that.
    void values_are(const Array<const S>& given) { values_ = given; }
    /// Solves A x = b or Aᴴ x = b where the factors and the arrays are on one GPU, as long as x is good at once;
    /// tried.x becomes empty, as x was delivered. @return false, and all is as it was, where the host has to do it:
    /// solve()
    bool solve_on_gpu(const CsrView<S>& A, Transpose turn, SystemVectors<S>& given, double rtol, Attempt& tried);
    /// Solves, refines and judges; may choose other pivots. @param tried  .x becomes the solution
    /// @param stop  lets no other pivots be chosen  @param patient  other pivots may take long; else they are left,
    /// which tried.pivots_left says
    void solve(const TurnedMatrix<S>& A, SystemVectors<S>& given, double rtol, const StopToken& stop, bool patient,
               Attempt& tried);
    /// z ← A⁻¹ r or A⁻ᴴ r by the factors, of which there must be some; on a GPU refined, as all solves are there.
    /// @param given  r is its b, z its x
    void apply(const CsrView<S>& A, SystemVectors<S>& given, Transpose turn);
    /// factor() and solve(): on a GPU one launch where the pivots hold.
    /// @param factors  out, where there are factors: the try as it was before x was judged
    void step(const CsrView<S>& A, std::span<const S> b, double rtol, const StopToken& stop, Attempt& tried,
              Attempt& factors);

    /// Whether systems can be solved together by the pivots of the last factorization, of which there must be one.
    /// @param members  that are to come  @param decisions  why not, or how many at a time where that is not all of them
    bool  prepare_batch(Index members, std::vector<std::string>& decisions);
    Index batch_room() const { return batch_->room(); }  ///< once prepared
    /// Systems of A's pattern together, at most batch_room(), each held to what solve() holds x to. What there is of A
    /// stays.
    /// @param plan  of the tries  @return a try each, without x, which is in systems.x; it is a success unless it is
    /// apart
    std::vector<BatchAttempt> solve_batch(const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                                          const Plan& plan);
    /// The next batch is by the pivots of the last factorization.
    void release_batch() { batch_.reset(); }
    /// There is no batch by the pivots of the last factorization.
    void refuse_batch();

    /// Without solving any longer: memory and GPU's factors are given back; the analysis stays.
    void release();

    bool              factored() const { return factored_; }
    const Lu<S>&      lu() const { return *lu_; }  ///< where there are, or were, factors
    const LuSymbolic& symbolic() const { return *symbolic_; }
    const Machine&    machine() const { return machine_; }
    Machine&          machine() { return machine_; }

private:
    void              substitute(std::span<const S> r, std::span<S> z, Transpose turn);
    bool              apply_on_gpu(const CsrView<S>& A, SystemVectors<S>& given, Transpose turn);
    void              drop_factors();
    std::size_t       batch_bytes() const;
    std::string       why_no_batch(Index members);
    void              begin(const StopToken& stop, Attempt& tried);
    void              keep_plan(Attempt& tried);
    LuReport          refactored(const CsrView<S>& A);
    LuReport          reordered(const CsrView<S>& A, const LuReport& filled, const StopToken& stop, Attempt& tried);
    bool              took(const LuReport& done, Attempt& tried);
    void              judge(const TurnedMatrix<S>& A, std::span<const S> b, double rtol, const LuSolveReport& solved,
                            Attempt& tried);
    GpuDirectSide<S>* gpu_side_for(const CsrView<S>& A, const SystemVectors<S>& given);
    std::optional<DeviceRows<S>> rows_on_gpu(GpuDirectSide<S>& side, const CsrView<S>& A, Transpose turn);
    bool find_known_answer_there(GpuDirectSide<S>& side, GpuAccuracy<S>& measured, Transpose turn);
    void note(const CsrView<S>& A, Attempt& tried);
    void note_refinement(const LuSolveReport& solved, Attempt& tried);
    void estimate_error(const TurnedMatrix<S>& A, Attempt& tried);
    void improve(const TurnedMatrix<S>& A, std::span<const S> b, Attempt& tried);
    void estimate_condition(const CsrView<S>& A, Attempt& tried);
    void warn_of_open_unknowns(const TurnedMatrix<S>& A, Attempt& tried);

    Machine                           machine_;
    SolverOptions                     options_;
    double                            systems_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    bool                              plan_due_ = false;  // options.plan is to be written
    std::shared_ptr<const LuPattern>  stored_pivots_;     // until the first factors are made
    double                            stored_growth_ = 1;
    std::optional<Lu<S>>              lu_;
    std::optional<LuFacts>            facts_;
    Index                             earlier_repivots_ = 0;     // of factors since given back
    LuOptions                         given_;                    // of analysis and factors, as they were asked for
    bool                              factored_ = false;         // the last numbers
    bool                              chosen_ = false;           // whether a GPU takes part
    std::string                       storage_told_;             // as Lu::storage has it
    std::optional<LuWorkspace<S>>     workspace_;                // of condition and error estimates
    Residual<S>                       residual_;                 // of the x judged last
    std::vector<S>                    error_, better_;           // n each: its estimated error; a corrected x
    std::vector<S>                    known_;                    // 4 n: of a known answer
    bool                              condition_known_ = false;  // of the pivots chosen last
    Array<const S>                    values_;                   // of the system under way, where they are on a GPU
    std::optional<GpuDirectSide<S>>   gpu_side_;                 // once arrays of the GPU came
    std::optional<DirectBatch<S>>     batch_;
    std::shared_ptr<const LuPattern>  no_batch_for_;  // pivots by which there is none
    WallClock                         clock_;         // since the call under way began
};

}  // namespace ilux
