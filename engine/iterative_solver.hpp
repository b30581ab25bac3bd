#pragma once
// The iterative strategy for systems of one pattern: M is factored for one of them and may be kept for others.

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "ilux/engine/gpu_system.hpp"
#include "ilux/engine/host_system.hpp"
#include "ilux/engine/precond_maker.hpp"
#include "ilux/engine/matrix_or_adjoint.hpp"
#include "ilux/engine/witness/current_witness.hpp"

namespace ilux {

/// A series by a Krylov method: the preconditioner of one system serves the next ones while steps stay few.
template <Scalar S = double>
class IterativeSolver {
public:
    /// @param machine  loses its GPU where that was our choice and the host suits M better
    IterativeSolver(Machine machine, const SolverOptions& options);

    /// M for A, as tried.plan has it, and the vectors of its method. Where the M at hand was made in rounds by the same
    /// options, those serve again. A zero pivot, lack of time and cancellation are outcomes.
    /// @param A  must stand, with these numbers, until the last solve() with it
    /// @param stop  gives a multilevel factorization in progress up
    /// @return whether A x = b can be solved now; where not, `tried` says why
    /// @throws OutOfMemory; DeviceError, naming the device, when that failed
    bool factor(const CsrView<S>& A, const AttemptListener& listener, const StopToken& stop, Attempt& tried,
                std::unique_ptr<ComingMatrix<S>> coming = nullptr);
    /// M as it is, for another A of the same pattern. Needs an M.
    void keep(const CsrView<S>& A, Attempt& tried);
    bool factored() const { return factored_; }

    /// Values on a GPU take the place of A's in the system there, which is then factored, or M kept. The host's stay as
    /// they were until bring_values().
    /// @param caller  whose stream they are read in the order of  @param host  A's values there
    /// @return ‖A‖_F; or nothing, and nothing is done, unless there is a system on that GPU that can take them
    std::optional<double> take_values(Gpu& caller, DeviceSpan<const S> values, std::span<S> host);
    /// The host's values of A ← those taken from a GPU, where they are not there yet.
    void bring_values();
    /// The host has got others.
    void forget_values() { awaited_ = {}; }

    /// Solves A x = b, or Aᴴ x = b by the M of A in double, and measures once more in twice the precision where it
    /// converged.
    /// @param A  its adjoint must stand as A must
    /// @param given  a success that is on the GPU of its arrays is delivered at once
    /// @param tried  .x is the guess and becomes the solution, or nothing where that was delivered
    /// @param krylov  with ‖A‖_F
    void solve(const MatrixOrAdjoint<S>& A, SystemVectors<S>& given, KrylovOptions krylov,
               const AttemptListener& listener, const StopToken& stop, Attempt& tried);
    /// z ← M⁻¹ r or M⁻ᴴ r, where M is applied, in double precision there. @param given  r is its b, z its x
    void apply(const MatrixOrAdjoint<S>& A, const Plan& plan, SystemVectors<S>& given);

    /// What M is kept clear of from the next M on; another one than before takes M away. @param space  or null
    void set_null_space(std::shared_ptr<const NullSpace<S>> space);
    /// The next factor() makes M without a look at the rounds of the one at hand.
    void forget_rounds() { maker_.forget_rounds(); }
    /// Without solving any longer: memory and GPU are given back.
    void release();

    const PrecondFactors<S>& factors() const { return maker_.factors(); }
    const Machine&           machine() const { return machine_; }

private:
    /// Aᴴ by the M of A.
    struct Adjoint {
        std::unique_ptr<KrylovPlace<S>> place = nullptr;
        std::optional<Witness<S>>       witness = {};
    };
    bool             make_and_place(const AttemptListener& listener, const StopToken& stop, Attempt& tried);
    bool             place(Attempt& tried);
    void             place_on_host(Attempt& tried);
    void             begin_there(const Plan& plan, std::unique_ptr<ComingMatrix<S>> coming = nullptr);
    GpuSystemOptions options_there(const Plan& plan) const;
    void             give_up_gpu(const std::string& why, Attempt& tried);
    KrylovPlace<S>&  place_of(const MatrixOrAdjoint<S>& A, const Plan& plan);
    Witness<S>&      witness_of(const MatrixOrAdjoint<S>& A);
    void             drop_place();
    bool             mixed() const { return options_.krylov.precision == KrylovPrecision::mixed && !needs_double_; }
    bool             go_on_in_double(std::span<const S> b, const Iterate<S>& single, const AttemptListener& listener,
                                     Attempt& tried);

    Machine                        machine_;
    SolverOptions                  options_;
    const CsrView<S>*              A_ = nullptr;
    PrecondMaker<S>                maker_;
    bool                           factored_ = false;
    std::unique_ptr<HostSystem<S>> here_;  // one of the two
    std::unique_ptr<GpuSystem<S>>  there_;
    std::span<S>                   awaited_;  // values of A on the host that there_ has newer ones of
    std::optional<Adjoint>         adjoint_;  // once asked for
    CurrentWitness<S>              witness_;
    bool                           needs_double_ = false;  // single precision did not do for these numbers
};

/// Its name among the Krylov methods. @param choice  neither automatic nor lu
Method method_of(MethodChoice choice);

/// With no more vectors than the order n or the steps allow.
KrylovOptions fitted(const KrylovOptions& krylov, Index n);

/// The history of a try, as its solve goes.
ProgressListener history_of(Attempt& tried, const AttemptListener& listener, const KrylovOptions& krylov);

}  // namespace ilux
