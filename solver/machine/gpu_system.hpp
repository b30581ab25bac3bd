#pragma once
// A x = b put on a GPU: A, the factors of M, the vectors of the method, and what all that takes.

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/krylov/null_space.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/jacobi.hpp"
#include "ilux/solver/machine/gpu_mixed.hpp"
#include "ilux/solver/machine/options.hpp"

namespace ilux {

/// M as it was factored, `rounds` on the device and the others on the host; at most one is there, and M = I without any.
template <Scalar S = double>
struct PrecondFactors {
    std::optional<GpuRounds<S>> rounds = {};
    std::optional<MlIlu<S>>     mlilu = {};
    std::unique_ptr<Ilu0<S>>    ilu0 = {};
    std::unique_ptr<Jacobi<S>>  jacobi = {};

    std::shared_ptr<const NullSpace<S>> null_space = {};  ///< that M is kept clear of; null: none
};

/// Bytes of device memory: an estimate, made before anything is allocated.
struct DeviceNeed {
    std::size_t matrix = 0, factors = 0, workspace = 0;
    std::size_t total() const { return matrix + factors + workspace; }
};
template <Scalar S>
DeviceNeed device_need(const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
                       const KrylovOptions& krylov, Precision precision,
                       KrylovPrecision arithmetic = KrylovPrecision::in_double);

/// How A, M and the vectors are put on a GPU.
struct GpuSystemOptions {
    Precision       precision = Precision::in_double;  ///< mixed: in_single, whatever it says
    KrylovPrecision arithmetic = KrylovPrecision::in_double;
    GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic;
    Bytes           memory_limit = {};  ///< 0: what is free
    bool            turned = false;     ///< the system is with Aᴴ, and the factors are of A: M⁻ᴴ is applied
};

/// What was put on the device, and what that took.
struct GpuReport {
    std::vector<GpuFactorReport::System> systems;    ///< triangular, of M⁻¹ in their order, then of M⁻ᵀ
    Index                                dense = 0;  ///< order of the dense level
    Precision                            precision = Precision::in_double;  ///< as stored, not as asked for
    std::string                          remark;                            ///< why that differs, or ""
    std::size_t                          matrix_bytes = 0, factor_bytes = 0, workspace_bytes = 0;
    std::size_t                          peak_bytes = 0;  ///< of all that ilux held on devices since this was made
    /// What was waited for: factors to systems, and all that crossed to or fro, but for what went on while M was
    /// factored.
    double seconds_transfer = 0;
};

/// One system, to be solved for any b, one at a time. Refers to `gpu`, which it alone uses from the first constructor
/// on until put_factors() returns.
template <Scalar S = double>
class GpuSystem {
public:
    /// A and the vectors, by a thread of its own: M may be factored meanwhile. What fails there is thrown by
    /// put_factors().
    /// @param A  must stand until put_factors() or the destructor
    GpuSystem(Gpu& gpu, const CsrView<S>& A, Method method, const KrylovOptions& krylov,
              const GpuSystemOptions& options);
    /// The same and put_factors().
    GpuSystem(Cpu& cpu, Gpu& gpu, const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
              const KrylovOptions& krylov, const GpuSystemOptions& options);
    GpuSystem(GpuSystem&&) = delete;  // the thread knows where it is

    /// Whether other values of A's pattern may take the place of those that are there, for this method, put there in this way. Not
    /// those of mixed precision, which scales by them.
    bool serves(Method method, const GpuSystemOptions& options) const;
    /// Other values of A, by a thread of its own as in the constructor: put_factors() or await_values() waits. M stays.
    /// @param A  of the same pattern
    void renew(const CsrView<S>& A);
    /// The same for values that are on this device, in the order of the caller's stream. Waits for nothing.
    /// @throws InvalidInput for a method that needs Aᴴ
    void renew(Gpu& caller, DeviceSpan<const S> values);
    bool takes_device_values() const { return !is_mixed_ && !needs_transpose(method_); }
    void await_values();
    /// M goes, before its factors do.
    void drop_factors();

    /// M in rounds, set up on the device, once A is there. What it lacks is told by the result, and by OutOfMemory.
    /// @param former  rounds of an earlier matrix, to be tried first; or null
    GpuRounds<S> set_up_rounds(Cpu& cpu, const MlIluOptions& options, const GpuRoundsPlan* former = nullptr,
                               const ProgressListener& on_progress = {}, const StopToken& stop = {});
    /// M; once, or again after drop_factors(), before any solve(). @param cpu  turns the factors into the systems that apply M
    /// @throws OutOfMemory, with the estimate and what is free: of A and the vectors before anything is allocated, of
    /// the factors before anything is for them; DeviceError
    void put_factors(Cpu& cpu, const PrecondFactors<S>& factors);

    /// Solves as ilux::solve does. @param x  n on the host, guess in, solution out
    IterationReport solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                          const ProgressListener& on_progress = {}, const StopToken& stop = {});
    /// b ← b and x ← x, which are then solved with where they are.
    void load(std::span<const S> b, std::span<const S> x);
    void unload(std::span<S> x);  ///< x ← x
    /// Solves A x = b with x() and b().
    IterationReport solve(const KrylovOptions& krylov, const ProgressListener& on_progress = {},
                          const StopToken& stop = {});

    /// The same for D A x = b, preconditioned by D M, with a diagonal D. Four vectors of the device besides.
    /// @throws OutOfMemory
    IterationReport solve_rows_scaled(std::span<const double> D, std::span<const S> b, std::span<S> x,
                                      const KrylovOptions& krylov, const ProgressListener& on_progress = {},
                                      const StopToken& stop = {});
    /// The same on the device; allocates nothing in double. @param inverse  of D
    IterationReport solve_rows_scaled(DeviceSpan<const S> D, DeviceSpan<const S> inverse, DeviceSpan<const S> b,
                                      DeviceSpan<S> x, const KrylovOptions& krylov,
                                      const ProgressListener& on_progress = {}, const StopToken& stop = {});
    /// z ← M⁻¹ r, both of the host.
    void precondition(std::span<const S> r, std::span<S> z);
    /// The same on the device; does not wait.
    void precondition(DeviceSpan<const S> r, DeviceSpan<S> z);

    Gpu&                gpu() { return gpu_; }
    const DeviceCsr<S>& matrix() const { return A_->matrix(); }
    DeviceSpan<S>       b() { return b_; }  ///< n, on the device
    DeviceSpan<S>       x() { return x_; }
    /// Room for what measures and corrects x, n of each: made by the first call. @throws OutOfMemory
    struct Room {
        Room(std::size_t n) : r(n), d(n), scaled(n), former(n), D(n), inverse(n), size(n), row_size(n), scale(n) {}

        DeviceBuffer<S>      r, d, scaled, former, D, inverse;
        DeviceBuffer<double> size, row_size, scale;
    };
    Room&            room();
    const GpuReport& report() const { return report_; }

private:
    /// @param solve  of b_ and x_
    template <class Solve>
    IterationReport iterate(std::span<const S> b, std::span<S> x, Solve&& solve);
    void            put_matrix_and_vectors(const KrylovOptions& krylov);
    void            report_matrix_and_vectors();
    void            put_preconditioner(Cpu& cpu, const PrecondFactors<S>& factors);
    template <class T, class Factors>
    void put_factors(Cpu& cpu, const Factors& factors, const GpuFactorOptions& options);
    void put_rounds(const GpuRounds<S>& rounds);
    void project(const NullSpace<S>& null_space);
    void turn();
    void await_matrix_and_vectors();
    void timed(const std::function<void()>& work);

    Gpu&                                    gpu_;
    const CsrView<S>*                       host_A_;
    Method                                  method_;
    GpuSystemOptions                        options_;
    bool                                    is_mixed_;
    bool                                    adjoinable_;  // M is
    DeviceNeed                              need_;
    GpuReport                               report_;
    std::optional<GpuMatrixOperator<S>>     A_;
    std::unique_ptr<Preconditioner<Gpu, S>> of_factors_, projected_, M_;  // M_ refers to the others where that is so
    std::optional<KrylovWorkspace<Gpu, S>>  ws_;
    std::optional<GpuMixed<S>>              mixed_;  // in place of M_ and ws_
    DeviceBuffer<S>                         b_, x_;
    std::optional<Room>                     room_;
    std::future<void>                       matrix_and_vectors_;  // last: waits for its thread before the rest goes
};

}  // namespace ilux
