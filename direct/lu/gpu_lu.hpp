#pragma once
// Systems of one pattern on a GPU: their values and vectors there, factors by given pivots, refined solutions.
// What Lu uses where there is a GPU; the policy is Lu's.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/direct/lu/gpu_lu_factors.hpp"
#include "ilux/direct/solve/gpu_lu_refine.hpp"

namespace ilux {

/// Values of two systems have room, so that those of the next can travel while the former are worked on. Serves one
/// host thread at a time.
template <Scalar S = double>
class GpuLu {
public:
    GpuLu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic);

    Gpu& gpu() { return gpu_; }

    /// Where the next system's values are to be written, page-locked.
    std::span<S> next() { return values_[1 - slot_].host.span(); }
    /// Begins to upload next(), which must not change until the call after use_next.
    void upload_next();
    /// next() becomes current(), and current() next(). Uploads unless upload_next, bring_next or copy_next did.
    void use_next();
    /// next() ← values that are on the device already, and not for the host.
    void bring_next(DeviceSpan<const S> values);
    /// The same for the host, too.
    void                copy_next(DeviceSpan<const S> values);
    std::span<const S>  current() const { return values_[slot_].host.span(); }
    DeviceSpan<const S> current_on_device() const { return values_[slot_].device; }

    /// Refactors current(); waits.
    PivotMonitor refactor(GpuLuFactors<S>& factors);

    struct Step {
        PivotMonitor monitor;
        RefineReport refine;  ///< meaningless where the monitor has a bad column
    };
    /// Refactors current(), solves and measures in one launch of a graph, and refines further where that is needed.
    Step refactor_and_solve(GpuLuFactors<S>& factors, std::span<const S> b, std::span<S> x);

    /// x ← A⁻¹ b, A⁻ᵀ b or A⁻ᴴ b for as many right-hand sides as b holds, vector after vector, refined as lu_refine
    /// does. All of them together, up to most_together and to what half of the free memory holds; each has the bits it
    /// has alone. Allocates when more come together than before.
    /// @param reports  of each right-hand side. finite = false also where scaling would be needed to measure the
    /// backward error,
    ///                 as the host does it.
    void solve(GpuLuFactors<S>& factors, std::span<const S> b, std::span<S> x, Transpose transpose,
               std::span<RefineReport> reports);
    /// The same of one system whose vectors are on the device, with the bits that it has there. Its x is complete
    /// when the stream is there.
    RefineReport solve(GpuLuFactors<S>& factors, DeviceSpan<const S> b, DeviceSpan<S> x, Transpose transpose);
    static constexpr std::size_t most_together = 64;  ///< bounds the memory, the host's that is page-locked above all

    std::size_t bytes() const;

private:
    struct Values {
        HostBuffer<S>   host;
        DeviceBuffer<S> device;
        bool            uploaded = false;
    };
    /// Right-hand sides, their solutions, and what refinement needs.
    struct Vectors {
        Vectors() = default;
        explicit Vectors(std::size_t size) : host_b(size), host_x(size), b(size), x(size), r(size), d(size) {}

        HostBuffer<S>   host_b, host_x;
        DeviceBuffer<S> b, x, r, d;
    };
    GpuResidual<S>& residual(Transpose transpose);
    std::size_t     make_room(GpuLuSubstitution<S>& solve, GpuResidual<S>& residual, std::size_t count);
    void            refine(GpuLuSubstitution<S>& solve, GpuResidual<S>& residual, Vectors& v, bool measured,
                           std::span<RefineReport> reports);
    /// @param finish  as gpu_refine has it
    template <class Finish>
    void refine(GpuLuSubstitution<S>& solve, GpuResidual<S>& residual, Vectors& v, bool measured, std::size_t count,
                Finish&& finish);

    Gpu&                                           gpu_;
    Gpu                                            copier_;  // a stream for what travels meanwhile
    std::shared_ptr<const LuSymbolic>              symbolic_;
    std::array<Values, 2>                          values_;
    int                                            slot_ = 0;
    Vectors                                        one_, several_;  // graphs know those of one: they stay in place
    std::array<std::unique_ptr<GpuResidual<S>>, 2> residual_;       // of A and Aᵀ
    std::vector<GpuRefined>                        going_;
};

/// Both are made and deleted by functions, so that what owns them compiles without CUDA.
struct GpuLuDeleter {
    template <Scalar S>
    void operator()(GpuLu<S>* lu) const noexcept;
    template <Scalar S>
    void operator()(GpuLuFactors<S>* factors) const noexcept;
};
template <Scalar S = double>
using GpuLuPtr = std::unique_ptr<GpuLu<S>, GpuLuDeleter>;
template <Scalar S = double>
using GpuLuFactorsPtr = std::unique_ptr<GpuLuFactors<S>, GpuLuDeleter>;
template <Scalar S = double>
GpuLuPtr<S> make_gpu_lu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic);
/// @param fronts  null: by entries
/// @param host    whose threads make what the host makes: by fronts all plans, by entries where the values go
template <Scalar S = double>
GpuLuFactorsPtr<S> make_gpu_lu_factors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern,
                                       std::shared_ptr<const FrontPlan> fronts, const LuOptions& options,
                                       Cpu host = Cpu());

#define ILUX_GPU_LU_FUNCTIONS(S)                                                            \
    template void GpuLuDeleter::operator()(GpuLu<S>*) const noexcept;                       \
    template void GpuLuDeleter::operator()(GpuLuFactors<S>*) const noexcept;                \
    template GpuLuPtr<S>        make_gpu_lu(Gpu&, std::shared_ptr<const LuSymbolic>);       \
    template GpuLuFactorsPtr<S> make_gpu_lu_factors(Gpu&, std::shared_ptr<const LuPattern>, \
                                                    std::shared_ptr<const FrontPlan>, const LuOptions&, Cpu);

}  // namespace ilux
