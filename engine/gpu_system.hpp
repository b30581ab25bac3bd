#pragma once
// An iteration on a GPU: A, the factors of M, the vectors of the method, and what all that takes.

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/engine/gpu_maker.hpp"
#include "ilux/engine/gpu_standard.hpp"
#include "ilux/engine/krylov_place.hpp"
#include "ilux/engine/krylov_system.hpp"
#include "ilux/engine/machine/coming_matrix.hpp"
#include "ilux/engine/machine/device_need.hpp"
#include "ilux/engine/machine/gpu_report.hpp"
#include "ilux/precond/coarse/found_vectors.hpp"

namespace ilux {

/// How A, M and the vectors are put on a GPU.
struct GpuSystemOptions {
    Precision       precision = Precision::in_double;  ///< mixed: in_single, whatever it says
    KrylovPrecision arithmetic = KrylovPrecision::in_double;
    GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic;
    Bytes           memory_limit = {};  ///< 0: what is free
    bool            adjoint = false;    ///< the system is with Aᴴ, and the factors are of A: M⁻ᴴ is applied
};

/// One system, to be solved for any b, one at a time. Refers to `gpu`, which it alone uses from the constructor on
/// until put() returns.
template <Scalar S = double>
class GpuSystem final : public KrylovPlace<S> {
public:
    /// A and the vectors, by a thread of its own: M may be factored meanwhile. What fails there is thrown by put().
    /// @param cpu  turns factors into the systems that apply M, and judges x where the GPU cannot; must outlive this,
    /// as gpu must
    /// @param A  must stand until put() or the destructor
    /// @param coming  A on its way there already, or null
    GpuSystem(Cpu& cpu, Gpu& gpu, const CsrView<S>& A, Method method, const KrylovOptions& krylov,
              const GpuSystemOptions& options, std::unique_ptr<ComingMatrix<S>> coming = nullptr);
    GpuSystem(GpuSystem&&) = delete;  // the thread knows where it is

    /// Whether other values of A's pattern may take the place of those that are there, for this method, put there in
    /// this way. Not those of mixed precision, which scales by them.
    bool serves(const CsrView<S>& A, Method method, const GpuSystemOptions& options) const;
    /// By a thread of its own, as in the constructor: put() or await_values() waits.
    void renew(const CsrView<S>& A) override;
    /// Takes values that are on this device, in the order of the caller's stream. Waits for nothing.
    /// @throws InvalidInput for a method that needs Aᴴ
    void renew(Gpu& caller, DeviceSpan<const S> values);
    bool takes_device_values() const { return !is_mixed() && !needs_transpose(method_); }
    void await_values();

    /// M in rounds, set up on the device, once A is there. What it lacks is told by the result, and by OutOfMemory.
    /// @param former  rounds of an earlier matrix, to be tried first; or null
    /// @param mean  what M is to be of in place of A, or null
    GpuRounds<S> set_up_rounds(const MlIluOptions& options, const GpuRoundsPlan* former = nullptr,
                               const ProgressListener& on_progress = {}, const StopToken& stop = {},
                               const DeviceCsr<S>* mean = nullptr);
    /// A coarse space beside M, once A is there. @param factors  M, on the host or there
    /// @param former  vectors of one for earlier numbers  @param mean  likewise
    FoundSpace<Gpu, S> find_coarse(const PrecondFactors<S>& factors, const CoarseOptions& options,
                                   const StopToken& stop, FoundVectors<Gpu, S> former = {},
                                   const DeviceCsr<S>* mean = nullptr);
    /// M; once, or again after drop_factors(), before any solve.
    /// @throws OutOfMemory, with the estimate and what is free: of A and the vectors before anything is allocated, of
    /// the factors before anything is for them; DeviceError
    void put(const PrecondFactors<S>& factors) override;
    void drop_factors() override;
    void note(Attempt& tried) const override;

    /// Iterates as ilux::solve() does. @param x  n on the host, guess in, solution out
    IterationReport solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                          const ProgressListener& on_progress = {}, const StopToken& stop = {});
    void            iterate(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried) override;
    void            judge(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried) override;
    void            fetch(Attempt& tried) override;
    void            apply(SystemVectors<S>& given) override;

    Gpu&                gpu() { return gpu_; }
    const DeviceCsr<S>& matrix() const { return A_->matrix(); }
    const GpuReport&    report() const { return report_; }

private:
    bool                  is_mixed() const { return options_.arithmetic == KrylovPrecision::mixed; }
    void                  put_matrix_and_vectors(const KrylovOptions& krylov, ComingMatrix<S>* coming);
    void                  report_matrix_and_vectors();
    GpuMaker<S>           maker();
    void                  put_preconditioner(const PrecondFactors<S>& factors);
    GpuJudgeWorkspace<S>& room();

    Cpu&                                cpu_;
    Gpu&                                gpu_;
    const CsrView<S>*                   host_A_;
    Method                              method_;
    GpuSystemOptions                    options_;
    bool                                adjoinable_;  // M is
    DeviceNeed                          need_;
    GpuReport                           report_;
    std::size_t                         single_bytes_ = 0;  // of R A C
    std::optional<GpuMatrixOperator<S>> A_;
    std::optional<KrylovSystem<Gpu, S>> system_;  // refers to A_
    DeviceBuffer<S>                     b_, x_;
    std::optional<GpuJudgeWorkspace<S>> room_;
    std::future<void>                   matrix_and_vectors_;  // last: waits for its thread before the rest goes
};

}  // namespace ilux
