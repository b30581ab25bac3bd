#pragma once
// The iterative strategy for systems of one pattern: M is factored for one of them and may be kept for others.

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "ilux/base/spmv.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"
#include "ilux/solver/machine/gpu_system.hpp"
#include "ilux/solver/report/attempt.hpp"
#include "ilux/solver/strategy/adjoint_side.hpp"
#include "ilux/solver/strategy/mixed_host.hpp"
#include "ilux/solver/strategy/standard.hpp"
#include "ilux/solver/strategy/system_vectors.hpp"
#include "ilux/solver/witness/current_witness.hpp"

namespace ilux {

/// Who listens to a try, and whether its residuals are kept.
struct TryListener {
    ProgressListener on_progress = {};
    bool             keep_history = false;
};

/// A series by a Krylov method: the preconditioner of one system serves the next ones while steps stay few.
template <Scalar S = double>
class IterativeSolver {
public:
    /// @param machine  loses its GPU where that was our choice and the host suits M better
    IterativeSolver(Machine machine, const SolverOptions& options);

    /// M for A, as tried.plan has it, and the vectors of its method. Where the M at hand was made in rounds by the same options, those
    /// serve again. A zero pivot, lack of time and cancellation are outcomes.
    /// @param A  must stand, with these numbers, until the last solve() with it
    /// @param stop  gives a multilevel factorization in progress up
    /// @return whether A x = b can be solved now; where not, `tried` says why
    /// @throws OutOfMemory; DeviceError, naming the device, when that failed
    bool factor(const CsrView<S>& A, const TryListener& listener, const StopToken& stop, Attempt& tried);
    /// M as it is, for another A of the same pattern. Needs an M.
    void keep(const CsrView<S>& A, Attempt& tried);
    bool factored() const { return factored_; }

    /// Values on a GPU take the place of A's in the system there, which is then factored, or M kept. The host's stay as they were until
    /// bring_values().
    /// @param caller  whose stream they are read in the order of  @param host  A's values there
    /// @return ‖A‖_F; or nothing, and nothing is done, unless there is a system on that GPU that can take them
    std::optional<double> take_values(Gpu& caller, DeviceSpan<const S> values, std::span<S> host);
    /// The host's values of A ← those taken from a GPU, where they are not there yet.
    void bring_values();
    /// The host has got others.
    void forget_values() { awaited_ = {}; }

    /// Solves, and measures once more in twice the precision where it converged.
    /// @param given  a success that is on the GPU of its arrays is delivered at once
    /// @param tried  .x is the guess and becomes the solution, or nothing where that was delivered
    /// @param krylov  with ‖A‖_F
    void solve(SystemVectors<S>& given, KrylovOptions krylov, const TryListener& listener, const StopToken& stop,
               Attempt& tried);

    /// The same for Aᴴ x = b, by the M of A, in double precision.
    /// @param adjoint  Aᴴ, with the numbers of A; must stand as A must
    void solve_adjoint(const CsrView<S>& adjoint, SystemVectors<S>& given, KrylovOptions krylov,
                       const TryListener& listener, const StopToken& stop, Attempt& tried);

    /// z ← M⁻¹ r, where M is applied, in double precision there.
    void precondition(std::span<const S> r, std::span<S> z);
    /// z ← M⁻ᴴ r. @param adjoint  as above
    void precondition_adjoint(const CsrView<S>& adjoint, const Plan& plan, std::span<const S> r, std::span<S> z);
    /// z ← M⁻¹ r, or M⁻ᴴ r where there is an adjoint, for vectors on a GPU. @return false, and nothing is done, unless M is applied there
    bool precondition_on_gpu(SystemVectors<S>& given, const CsrView<S>* adjoint, const Plan& plan);

    /// What M is kept clear of from the next M on; another one than before takes M away. @param space  or null
    void set_null_space(std::shared_ptr<const NullSpace<S>> space);

    /// The next factor() makes M without a look at the rounds of the one at hand.
    void forget_rounds() { options_made_by_.reset(); }

    /// Without solving any longer: memory and GPU are given back.
    void release();

    const PrecondFactors<S>& factors() const { return factors_; }
    const Machine&           machine() const { return machine_; }
    KrylovOptions            krylov(Index n) const;  ///< as asked for, with no more vectors than n or the steps allow

private:
    /// What a later M may be made by.
    struct FormerRounds {
        std::optional<RoundsPlan>    on_host = {};  // one of the two
        std::optional<GpuRoundsPlan> on_gpu = {};
        MlIluOptions                 options;
    };
    std::optional<FormerRounds> rounds_at_hand() const;
    std::optional<GpuRounds<S>> build_on_gpu(const ProgressListener& on_progress, const StopToken& stop,
                                             Attempt& tried);
    MlIlu<S>                    make_mlilu(const ProgressListener& on_progress, const StopToken& stop, Attempt& tried);

    GpuSystem<S>* system_for(const CsrView<S>* adjoint, const Plan& plan);
    void          solve_on_gpu(GpuSystem<S>& system, const CsrView<S>& A, Witness<S>* witness, SystemVectors<S>& given,
                               const KrylovOptions& krylov, const TryListener& listener, const StopToken& stop, Attempt& tried);
    bool solve_mixed_on_gpu(SystemVectors<S>& given, const KrylovOptions& krylov, const ProgressListener& on_progress,
                            const StopToken& stop, Attempt& tried);
    bool build(const TryListener& listener, const StopToken& stop, Attempt& tried);
    void place(Attempt& tried);
    void give_up_gpu(const std::string& why, Attempt& tried);
    void begin_on_gpu(const Plan& plan);
    GpuSystemOptions gpu_options(const Plan& plan) const;
    AdjointSide<S>&  adjoint_side(const CsrView<S>& adjoint, const Plan& plan);
    void             with_device_named(const Attempt& tried, const std::function<void()>& work) const;
    void             note_rank(Attempt& tried) const;
    bool is_without_solution(const Witness<S>& witness, SystemVectors<S>& given, const KrylovOptions& krylov,
                             Attempt& tried) const;
    void put_on_gpu(Attempt& tried);
    bool system_serves(const CsrView<S>& A, const Plan& plan) const;
    void renew_on_gpu(const CsrView<S>& A);
    void keep_on_gpu(const CsrView<S>& A, Attempt& tried);
    void note_gpu(Attempt& tried) const;
    void drop_system();
    void drop_factors();
    void prepare_host(Attempt& tried);
    bool prepare_mixed(Method method, Attempt& tried);
    bool mixed() const { return options_.krylov.precision == KrylovPrecision::mixed && !needs_double_; }
    bool needs_double(const Attempt& tried, const StopToken& stop) const;
    bool go_on_in_double(std::span<const S> b, const KrylovOptions& krylov, const ProgressListener& on_progress,
                         const TryListener& listener, const StopToken& stop, Attempt& tried);
    IterationReport   iterate(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                              const ProgressListener& on_progress, const StopToken& stop, Method method);
    IterationCalls<S> calls(const StopToken& stop);
    Witness<S>&       witness();

    Machine                                machine_;
    SolverOptions                          options_;
    const CsrView<S>*                      A_ = nullptr;
    std::shared_ptr<const NullSpace<S>>    null_space_;
    PrecondFactors<S>                      factors_;
    std::optional<MlIluOptions>            options_made_by_;  // of factors_.mlilu or .rounds
    std::optional<FormerRounds>            former_;           // of the M before, while another is made
    bool                                   factored_ = false;
    std::unique_ptr<GpuSystem<S>>          system_;   // before what it refers to goes
    std::span<S>                           awaited_;  // values of A on the host that system_ has newer ones of
    std::optional<MatrixOperator<S>>       op_;
    std::optional<HostPreconditioner<S>>   host_M_;
    std::optional<KrylovWorkspace<Cpu, S>> workspace_;
    std::unique_ptr<MixedHost<S>>          mixed_;    // in place of op_, host_M_ and workspace_
    std::unique_ptr<AdjointSide<S>>        adjoint_;  // once asked for
    CurrentWitness<S>                      witness_;
    bool                                   needs_double_ = false;  // single precision did not do for these numbers
};

/// Its name among the Krylov methods. @param choice  neither automatic nor lu
Method method_of(MethodChoice choice);

/// The history of a try, as its solve goes.
ProgressListener history_of(Attempt& tried, const TryListener& listener, const KrylovOptions& krylov);

}  // namespace ilux
